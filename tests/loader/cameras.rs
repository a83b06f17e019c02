//! Several cameras of an episode as one sample.

use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;
use vidrec::order::Order;
use vidrec::{
    Batch, Cameras, CamerasCrop, ClipInfo, Crop, Dataset, FrameData, Frames, JsonObject, Loader, LoaderOptions,
    Missing, Writer, WriterOptions,
};

use crate::common::{jpeg, options};

/// A clip: its episode and camera, and its frames and their rate.
type Given = (u32, &'static str, u32, u32);

fn set(clips: &[Given]) -> (TempDir, PathBuf) {
    set_with(clips, json!({}))
}

/// With more attributes for each clip.
fn set_with(clips: &[Given], more: Value) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("set");
    let mut writer = Writer::create(&dir, WriterOptions::default()).unwrap();
    for (i, &(episode, camera, frames, rate)) in (0..).zip(clips) {
        let mut attributes = JsonObject::of(json!({"episode": episode, "camera": camera})).unwrap();
        attributes.0.extend(more.as_object().unwrap().clone());
        let (label, time_base) = (Some(episode), (1, rate));
        let info = ClipInfo { attributes, label, width: 24, height: 16, time_base, ..ClipInfo::default() };
        let jpegs: Vec<_> = (0..frames).map(|t| jpeg((24, 16), i * 100 + t)).collect();
        let frames: Vec<_> = (0..).zip(&jpegs).map(|(pts, jpeg)| FrameData { jpeg, pts, source_index: None }).collect();
        writer.append(&info, &frames).unwrap();
    }
    writer.finish().unwrap();
    (folder, dir)
}

fn with(names: &[&str]) -> LoaderOptions {
    let cameras = Some(Cameras::new(names.iter().copied()));
    LoaderOptions { cameras, frames: Frames::random(3), ..options(2, (8, 8)) }
}

fn load(dir: &PathBuf, options: LoaderOptions) -> vidrec::Result<Loader> {
    Loader::new(&Dataset::open(dir).unwrap(), options)
}

/// The pictures of a camera of a sample.
fn picture(batch: &Batch, sample: usize, camera: usize) -> &[u8] {
    let length = batch.u8().unwrap().len() / batch.shape()[0];
    let cameras = batch.shape()[0] / batch.labels.len();
    &batch.u8().unwrap()[length * (sample * cameras + camera)..][..length]
}

/// The pictures of these frames of a clip alone.
fn alone(dir: &PathBuf, clip: u64, frames: &[u32]) -> Vec<u8> {
    let set = Dataset::open(dir).unwrap().select([clip]).unwrap();
    let frame_count = set.clip(0).unwrap().frame_count();
    let options = LoaderOptions { frames: Frames::uniform(frame_count), ..options(1, (8, 8)) };
    let batch = Loader::new(&set, options).unwrap().batch(0, 0).unwrap();
    let all = batch.u8().unwrap();
    let length = all.len() / frame_count as usize;
    frames.iter().flat_map(|&t| all[length * t as usize..][..length].to_vec()).collect()
}

const MIXED: [Given; 7] = [
    (7, "wrist", 12, 10),
    (3, "front", 12, 10),
    (7, "front", 12, 10),
    (3, "side", 12, 10),
    (3, "wrist", 24, 20),
    (5, "front", 12, 10),
    (5, "wrist", 12, 10),
];

#[test]
fn cameras_of_an_episode_come_together_at_the_same_times() {
    let (_folder, dir) = set(&MIXED);
    let loader = load(&dir, LoaderOptions { order: Order::Shuffled, ..with(&["front", "wrist"]) }).unwrap();
    assert_eq!((loader.batches_per_epoch(), loader.shape()[0]), (2, 4));
    let mut seen = Vec::new();
    for (epoch, k) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let batch = loader.batch(epoch, k).unwrap();
        let samples = 2 - k as usize;
        assert_eq!((batch.clips.len(), &batch.camera_mask[..]), (samples, &[true; 4][..2 * samples]), "3 episodes");
        for sample in 0..samples {
            let (front, wrist, twice) = match batch.labels[sample] {
                7 => (2, 0, 1),
                3 => (1, 4, 2),
                _ => (5, 6, 1),
            };
            assert_eq!(batch.clips[sample], front);
            let frames = &batch.params[sample].frames;
            assert_eq!(picture(&batch, sample, 0), alone(&dir, front, frames));
            let frames: Vec<u32> = frames.iter().map(|t| t * twice).collect();
            assert_eq!(picture(&batch, sample, 1), alone(&dir, wrist, &frames));
            seen.extend(batch.mask[sample].then_some(batch.labels[sample]));
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, [3, 3, 5, 5, 7, 7]);
}

#[test]
fn a_missing_camera_is_an_error_or_zeros_and_shifts_nothing() {
    let (_folder, dir) = set(&MIXED);
    let e = load(&dir, with(&["front", "side"])).err().unwrap().to_string();
    assert!(e.contains("episode 7") && e.contains("\"side\""), "{e}");
    let mut masked = with(&["side", "front"]);
    masked.cameras.as_mut().unwrap().missing = Missing::Mask;
    let batch = load(&dir, masked).unwrap().batch(0, 0).unwrap();
    assert_eq!(batch.labels, [3, 7], "in the order of their first clips");
    assert_eq!(batch.camera_mask, [true, true, false, true]);
    assert_eq!(picture(&batch, 0, 0), alone(&dir, 3, &batch.params[0].frames));
    assert!(picture(&batch, 1, 0).iter().all(|&value| value == 0));
    assert_eq!(picture(&batch, 1, 1), alone(&dir, 2, &batch.params[1].frames));
}

#[test]
fn cameras_have_one_crop_or_their_own() {
    let (_folder, dir) = set(&[(0, "a", 3, 10), (0, "b", 3, 10)]);
    let crop = |crop| {
        let mut options = with(&["a", "b"]);
        options.cameras.as_mut().unwrap().crop = crop;
        options.batch_size = 1;
        options.crop = Crop::random((8, 8));
        let loader = load(&dir, options).unwrap();
        (0..8).map(|epoch| picture(&loader.batch(epoch, 0).unwrap(), 0, 1).to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(crop(CamerasCrop::Same), crop(CamerasCrop::Same));
    assert_ne!(crop(CamerasCrop::Same), crop(CamerasCrop::Own));
}

#[test]
fn what_does_not_go_together_is_refused_by_name() {
    let refused = |clips: &[Given], options: LoaderOptions| {
        let (_folder, dir) = set(clips);
        let loader = load(&dir, options);
        loader.and_then(|loader| loader.batch(0, 0)).err().unwrap().to_string()
    };
    let two = || with(&["a", "b"]);
    let e = refused(&[(1, "a", 3, 10), (1, "b", 3, 10), (1, "a", 3, 10)], two());
    assert!(e.contains("episode 1 has two clips of camera \"a\"") && e.contains("clip 2"), "{e}");
    let e = refused(&[(1, "a", 12, 10), (1, "b", 3, 10)], two());
    assert!(e.contains("no frame at the time of another") && e.contains("clip 1"), "{e}");
    assert!(refused(&[(1, "a", 3, 10)], with(&["a", "a"])).contains("given twice"));
    let e = refused(&[(1, "c", 3, 10)], two());
    assert!(e.contains("no clip is of these cameras") && e.contains("attribute \"camera\": a, b"), "{e}");
}
