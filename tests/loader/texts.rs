//! Clips without frames: alone, and in mixes with videos and pictures.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::json;
use tempfile::TempDir;
use vidrec::{
    Batch, Cameras, ClipInfo, Dataset, Field, FrameData, Frames, JsonObject, Loader, LoaderOptions, Missing, Mix,
    MixOptions, OwnOptions, ShortClips, Track, TrackTimes, TrackValues, TrackWindow, Writer, WriterOptions,
};

use crate::common::{jpeg, options};
use crate::loader::mix::packed;

/// A data set of texts: clip `i` has the label `i` and the text `i`.
fn texts(count: u32) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("set");
    let mut writer = Writer::create(&dir, WriterOptions::default()).unwrap();
    for i in 0..count {
        let attributes = JsonObject::of(json!({"text": i.to_string()})).unwrap();
        writer.append(&ClipInfo { label: Some(i), attributes, ..ClipInfo::default() }, &[]).unwrap();
    }
    writer.finish().unwrap();
    (folder, dir)
}

fn open(set: &(TempDir, PathBuf)) -> Dataset {
    Dataset::open(&set.1).unwrap()
}

/// Videos of 8 and 4 frames, pictures, and texts.
fn blend(own: OwnOptions) -> (Vec<(TempDir, PathBuf)>, Mix) {
    let sets = vec![packed(&[8, 4, 8, 4], (24, 16), &[], 0), packed(&[1; 5], (16, 24), &[], 1000), texts(7)];
    let named = [("videos", open(&sets[0]), 0.5), ("pictures", open(&sets[1]), 0.25), ("texts", open(&sets[2]), 0.25)];
    let pictures = OwnOptions { frames: Some(Frames::uniform(1)), ..OwnOptions::default() };
    let own = [("pictures".to_owned(), pictures), ("texts".to_owned(), own)].into();
    let options = MixOptions { samples_per_epoch: Some(40), window: 8, own, ..MixOptions::default() };
    (sets, Mix::new(named, options).unwrap())
}

fn of_blend() -> LoaderOptions {
    LoaderOptions { frames: Frames::run(4), fields: vec!["text".into()], seed: 3, ..options(4, (8, 8)) }
}

/// What is known of each sample: its source, clip and text, and the pixels of its frames.
fn samples(batch: &Batch) -> Vec<(u32, u64, Option<String>, Vec<u8>)> {
    let (count, frames) = (batch.labels.len(), batch.frame_mask.len() / batch.labels.len());
    let pixels = batch.u8().unwrap();
    let each = pixels.len() / batch.frame_mask.len().max(1);
    let Some(Field::Texts(texts)) = batch.field("text") else { panic!("no texts") };
    let sample = |i: usize| {
        let (mut real, mut padding) = (Vec::new(), Vec::new());
        for t in i * frames..(i + 1) * frames {
            let to = if batch.frame_mask[t] { &mut real } else { &mut padding };
            to.extend_from_slice(&pixels[t * each..][..each]);
        }
        assert!(padding.iter().all(|&value| value == 0));
        (batch.source_ids[i], batch.clips[i], texts[i].clone(), real)
    };
    (0..count).map(sample).collect()
}

/// The samples of an epoch.
fn epoch(loader: &Loader) -> Vec<(u32, u64, Option<String>, Vec<u8>)> {
    let batches = (0..loader.batches_in(0)).map(|k| loader.batch(0, k).unwrap());
    batches.flat_map(|batch| samples(&batch)).collect()
}

#[test]
fn a_mix_of_videos_pictures_and_texts_has_all_in_their_shares() {
    let (_sets, mix) = blend(OwnOptions::default());
    let loader = Loader::mix(&mix, of_blend()).unwrap();
    let all = epoch(&loader);
    for window in all.chunks(8) {
        let of = |source| window.iter().filter(|sample| sample.0 == source).count();
        assert_eq!([of(0), of(1), of(2)], [4, 2, 2]);
    }
    let frame = 8 * 8 * 3;
    for (source, clip, text, pixels) in &all {
        assert_eq!(pixels.len(), [4, 1, 0][*source as usize] * frame);
        assert_eq!(*text, (*source == 2).then(|| (clip - 9).to_string()));
    }
    // Batches of one sample are as long as that, and have the same pixels.
    let mut alone = epoch(&Loader::mix(&mix, LoaderOptions { batch_size: 1, ..of_blend() }).unwrap());
    let mut ranks: Vec<_> = (0..2)
        .flat_map(|rank| {
            epoch(&Loader::mix(&mix, LoaderOptions { rank: (rank, 2), batch_size: 2, ..of_blend() }).unwrap())
        })
        .collect();
    let mut all = all;
    [&mut all, &mut alone, &mut ranks].into_iter().for_each(|samples| samples.sort());
    assert!(all == alone && all == ranks);
}

#[test]
fn a_batch_of_texts_alone_has_no_frames() {
    let set = texts(5);
    for frames in [
        Frames::default(),
        Frames::uniform(4),
        Frames::all(),
        Frames::all().with_fps("2".parse().ok()),
        Frames::views(3, 2),
        Frames::windows(2),
        Frames::run(2).with_short(ShortClips::Skip),
    ] {
        let options = LoaderOptions { frames: frames.clone(), ..options(3, (8, 8)) };
        let loader = Loader::new(&open(&set), options.clone()).unwrap();
        assert_eq!((loader.shape(), loader.batch_bytes()), ([3, 0, 3, 8, 8], 0), "{frames:?}");
        let batches: Vec<Batch> = loader.iter(0).unwrap().map(|batch| batch.unwrap().into_batch()).collect();
        assert_eq!(batches.iter().map(Batch::shape).collect::<Vec<_>>(), [[3, 0, 3, 8, 8], [2, 0, 3, 8, 8]]);
        assert_eq!(batches.iter().flat_map(|batch| batch.labels.clone()).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert!(batches.iter().all(|batch| batch.u8().unwrap().is_empty() && batch.frame_mask.is_empty()));
        assert_eq!(loader.stats().frames, 0);
        let jpegs: Vec<_> = loader.iter_jpegs(0).unwrap().map(|batch| batch.unwrap().frames.len()).collect();
        assert_eq!(jpegs, [0, 0]);
        let mut nothing: [u8; 0] = [];
        assert_eq!(loader.batch_into(0, 1, &mut nothing).unwrap().labels, [3, 4]);
        let resumed = Loader::resume(&open(&set), options, &loader.state(0, 1)).unwrap();
        assert_eq!(resumed.batch(0, 0).unwrap().labels, [3, 4]);
    }
}

#[test]
fn clips_with_and_without_frames_may_be_in_one_data_set() {
    let (_folder, dir) = packed(&[0, 3, 0, 3, 3], (16, 16), &[], 0);
    for frames in [Frames::default(), Frames::uniform(2), Frames::run(3)] {
        let loader =
            Loader::new(&Dataset::open(&dir).unwrap(), LoaderOptions { frames, ..options(5, (8, 8)) }).unwrap();
        let batch = loader.batch(0, 0).unwrap();
        let frames = batch.shape()[1];
        let of = |i: usize| batch.frame_mask[i * frames..(i + 1) * frames].iter().all(|&there| there);
        assert_eq!((0..5).map(of).collect::<Vec<_>>(), [false, true, false, true, true]);
    }
}

#[test]
fn tracks_of_a_clip_without_frames_count_from_zero() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("set");
    let mut writer = Writer::create(&dir, WriterOptions::default()).unwrap();
    let track = |name: &str, values, times| Track { name: name.into(), values, times, ..Track::default() };
    let spans = TrackTimes::Spans { starts: vec![0, 5_000_000_000], ends: vec![1_000_000_000, 6_000_000_000] };
    let all = [
        track("a frame", TrackValues::F32(vec![]), TrackTimes::Frames),
        track("sound", TrackValues::I16((0..40).collect()), TrackTimes::Rate { first_ns: 0, rate: (10, 1) }),
        track("said", TrackValues::Texts(vec!["one".into(), "two".into()]), spans),
    ];
    writer.append_with_tracks(&ClipInfo::default(), &[], &all).unwrap();
    writer.append(&ClipInfo::default(), &[]).unwrap();
    writer.finish().unwrap();
    let mask = TrackWindow { missing: Missing::Mask, ..TrackWindow::default() };
    let tracks = BTreeMap::from([
        ("a frame".to_owned(), mask.clone()),
        ("sound".to_owned(), TrackWindow { steps: Some((1, 4)), ..mask.clone() }),
        ("said".to_owned(), mask),
    ]);
    let loader = Loader::new(&Dataset::open(&dir).unwrap(), LoaderOptions { tracks, ..options(2, (8, 8)) }).unwrap();
    let batch = loader.batch(0, 0).unwrap();
    assert_eq!(batch.track("a frame").unwrap().shape, [2, 0]);
    let sound = batch.track("sound").unwrap();
    assert_eq!(sound.numbers::<i16>(), Some(&[1, 2, 3, 0, 0, 0][..]));
    assert_eq!(sound.mask, [true, true, true, false, false, false]);
    let said = batch.track("said").unwrap();
    assert_eq!(said.texts, [vec!["one", "two"], vec![]]);
    assert_eq!(said.times[0], [(0.0, 1.0), (5.0, 6.0)]);
}

/// Clips without a camera, beside those of a robot. Nothing has to be said of them, and no camera may be missing from an episode.
#[test]
fn a_text_lacks_every_camera_and_a_picture_all_but_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("robot");
    let mut writer = Writer::create(&dir, WriterOptions::default()).unwrap();
    let picture = jpeg((16, 16), 1);
    for camera in ["front", "wrist"] {
        let attributes = JsonObject::of(json!({"episode": 0, "camera": camera})).unwrap();
        let info = ClipInfo { attributes, width: 16, height: 16, ..ClipInfo::default() };
        writer.append(&info, &[FrameData { jpeg: &picture, pts: 0, source_index: None }; 3]).unwrap();
    }
    writer.finish().unwrap();
    let (words, pictures) = (texts(3), packed(&[1; 5], (16, 24), &[], 0));
    let named = [
        ("robot", Dataset::open(&dir).unwrap(), 0.5),
        ("texts", open(&words), 0.25),
        ("pictures", open(&pictures), 0.25),
    ];
    let own = OwnOptions { frames: Some(Frames::uniform(1)), ..OwnOptions::default() };
    let own = [("pictures".to_owned(), own)].into();
    let mix = MixOptions { samples_per_epoch: Some(8), window: 4, own, ..MixOptions::default() };
    let mix = Mix::new(named, mix).unwrap();
    let cameras = Some(Cameras::new(["front", "wrist"]));
    let options = LoaderOptions { cameras, frames: Frames::uniform(2), ..options(8, (8, 8)) };
    let batch = Loader::mix(&mix, options.clone()).unwrap().batch(0, 0).unwrap();
    assert_eq!(batch.shape()[..2], [16, 2]);
    let each = batch.u8().unwrap().len() / 32;
    for i in 0..8 {
        let source = batch.source_ids[i] as usize;
        assert_eq!(batch.camera_mask[2 * i..2 * i + 2], [[true; 2], [false; 2], [true, false]][source]);
        let of_cameras = [[true; 4], [false; 4], [true, false, false, false]];
        assert_eq!(batch.frame_mask[4 * i..4 * i + 4], of_cameras[source]);
        assert!([0..2, 2..5, 5..10][source].contains(&batch.clips[i]));
        let is_black =
            |camera: usize| batch.u8().unwrap()[(4 * i + 2 * camera) * each..][..each].iter().all(|&n| n == 0);
        assert_eq!([is_black(0), is_black(1)], [[false; 2], [true; 2], [false, true]][source]);
    }
    assert_eq!([0, 1, 2].map(|source| batch.source_ids.iter().filter(|&&id| id == source).count()), [4, 2, 2]);
    // Where no clip is of the cameras, they are probably called otherwise.
    let named = [("a", open(&pictures), 0.5), ("b", open(&words), 0.5)];
    let mix = Mix::new(named, MixOptions::default()).unwrap();
    let e = Loader::mix(&mix, options.clone()).unwrap_err().to_string();
    assert!(e.contains("no clip is of these cameras"), "{e}");
    let named = [
        ("robot", Dataset::open(&dir).unwrap(), 0.5),
        ("side", Dataset::open(&dir).unwrap().select([1]).unwrap(), 0.5),
    ];
    let mix = Mix::new(named, MixOptions::default()).unwrap();
    let mut options = options;
    options.cameras.as_mut().unwrap().names = vec!["front".into()];
    let e = Loader::mix(&mix, options).unwrap_err().to_string();
    assert!(e.contains("no clip of source \"side\" is of these cameras") && e.contains("front"), "{e}");
}
