//! Batches of frames that are not decoded: the same samples as those of pictures, and all that their pictures take.

use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;
use vidrec::jpeg::{Decoder, Encoder, RgbPicture};
use vidrec::order::{Last, Order};
use vidrec::{
    Batch, BatchData, Batching, Cameras, CamerasCrop, ClipInfo, ColorJitter, ColorMatrix, Crop, Dataset, ErrorKind,
    FrameData, Frames, Io, JpegBatch, JpegFrame, JsonObject, Layout, Loader, LoaderOptions, Missing, Mix, MixOptions,
    OnBadFrame, OpenOptions, Planes, Prefetch, ShortClips, Writer, WriterOptions,
};

use crate::common::{self, damage, jpeg, loader, names, options, set, write};

fn drawn(batch_size: u32) -> LoaderOptions {
    LoaderOptions {
        seed: 3,
        crop: Crop::random_resized((24, 20)),
        flip: 0.5,
        color: ColorJitter { brightness: 0.3, contrast: 0.2, saturation: 0.4, grayscale: 0.2 },
        order: Order::Shuffled,
        ..options(batch_size, (24, 20))
    }
}

/// Looks at all batches of some epochs: what is known of them is what is known of those of pictures, and the JPEGs are the
/// stored ones of their frames.
fn compare(set: &Dataset, loader: &Loader, epochs: std::ops::Range<u64>) {
    let mut count = 0;
    for batch in loader.iter_jpegs(epochs).unwrap() {
        let batch = batch.unwrap();
        let (epoch, k) = (batch.epoch(), batch.number());
        assert_eq!(batch.state(), loader.state(epoch, k + 1));
        same(set, &loader.batch(epoch, k).unwrap(), &batch);
        assert_eq!(*batch, loader.batch_jpegs(epoch, k).unwrap(), "made ahead or at once");
        count += 1;
    }
    assert!(count > 0);
}

fn without_data(batch: &Batch) -> Batch {
    let mut known = batch.clone();
    known.data = BatchData::default();
    known
}

/// Without cameras.
fn same(set: &Dataset, pictures: &Batch, batch: &JpegBatch) {
    assert_eq!(batch.facts, without_data(pictures));
    assert_eq!(batch.facts.shape(), pictures.shape());
    let length = pictures.frame_mask.len() / pictures.clips.len();
    let mut expected = Vec::new();
    for (b, (&clip, params)) in pictures.clips.iter().zip(&pictures.params).enumerate() {
        for (t, &frame) in params.frames.iter().enumerate() {
            let stored = set.clip(clip).unwrap().frame(frame).unwrap().jpeg().to_vec();
            expected.push((b * length + t, params.window, params.flip, params.color.matrix(), stored));
        }
    }
    assert_eq!(batch.frames.len(), expected.len());
    let mut end = 0;
    for ((frame, jpeg), (place, window, flip, color, stored)) in batch.frames.iter().zip(batch.jpegs()).zip(expected) {
        assert_eq!((frame.place, frame.flip), (place, flip));
        assert_eq!(frame.colors, color.unwrap_or(ColorMatrix::IDENTITY));
        assert!(window.is_none_or(|window| window == frame.window));
        assert!(jpeg == stored, "frame {place}");
        assert_eq!(std::mem::replace(&mut end, frame.bytes.end), frame.bytes.start, "there are no gaps");
    }
    assert_eq!(end, batch.data.len());
}

fn check(dir: &Path, options: LoaderOptions) {
    let set = Dataset::open(dir).unwrap();
    compare(&set, &Loader::new(&set, options).unwrap(), 0..2);
}

#[test]
fn batches_have_the_stored_jpegs_of_the_same_frames() {
    let (_folder, dir) = set(9, 4, (40, 30));
    for options in [
        options(4, (16, 12)),
        drawn(2),
        LoaderOptions { threads: Some(1), ..drawn(3) },
        LoaderOptions { frames: Frames::run(2), ..drawn(4) },
        LoaderOptions { frames: Frames::uniform(6), ..drawn(4) },
        LoaderOptions { frames: Frames::uniform(6).with_short(ShortClips::Pad), ..drawn(4) },
        LoaderOptions { last: Last::Wrap, rank: (1, 2), ..drawn(2) },
        LoaderOptions { crop: Crop::three((16, 12)), ..drawn(2) },
    ] {
        check(&dir, options);
    }
}

#[test]
fn threads_and_memory_that_is_used_again_change_nothing() {
    let (_folder, dir) = set(12, 3, (40, 30));
    let run = |threads, prefetch| {
        let prefetch = Prefetch { batches: prefetch, ..Prefetch::default() };
        let loader = loader(&dir, LoaderOptions { threads: Some(threads), prefetch, ..drawn(2) });
        loader.iter_jpegs(0..3).unwrap().map(|batch| (*batch.unwrap()).clone()).collect::<Vec<_>>()
    };
    let batches = run(1, 1);
    assert_eq!(batches.len(), 18);
    assert!(batches == run(4, 3));
}

#[test]
fn a_few_buffers_serve_all_epochs_and_none_that_is_held() {
    let (_folder, dir) = set(12, 2, (64, 48));
    let loader = loader(&dir, LoaderOptions { prefetch: Prefetch { batches: 2, ..Prefetch::default() }, ..drawn(2) });
    let (mut memory, mut held) = (Vec::new(), Vec::new());
    for epoch in 0..6 {
        for batch in loader.iter_jpegs(epoch).unwrap() {
            let batch = batch.unwrap();
            memory.push(batch.data.as_ptr());
            if (batch.epoch(), batch.number()) == (2, 3) {
                held.push(batch);
            }
        }
    }
    assert_eq!(*held[0], loader.batch_jpegs(2, 3).unwrap());
    memory.sort_unstable();
    memory.dedup();
    // Memory grows with the first batches, which are not all of one size.
    assert!(memory.len() <= 10, "of 36 batches: {}", memory.len());
    let kept = held.pop().unwrap().into_batch();
    assert_eq!(kept, loader.batch_jpegs(2, 3).unwrap());
}

#[test]
fn a_run_resumes_from_the_state_of_pictures_and_the_other_way_round() {
    let (_folder, dir) = set(10, 2, (32, 24));
    let set = Dataset::open(&dir).unwrap();
    let whole = Loader::new(&set, drawn(2)).unwrap();
    let mut jpegs = whole.iter_jpegs(4).unwrap();
    let state = jpegs.by_ref().take(2).last().unwrap().unwrap().state();
    assert_eq!(state, whole.iter(4).unwrap().take(2).last().unwrap().unwrap().state());
    let resumed = Loader::resume(&set, drawn(2), &state).unwrap();
    for batch in jpegs {
        let batch = batch.unwrap();
        let again = resumed.batch_jpegs(4, batch.number() - 2).unwrap();
        assert_eq!((&again.facts.clips, &again.data), (&batch.facts.clips, &batch.data));
    }
}

/// Triangles in doubles over the decoded RGB, one pixel after another; unlike the kernel, which resamples luma and chroma
/// in integers.
fn picture(rgb: &RgbPicture, frame: &JpegFrame, (width, height): (u32, u32)) -> Vec<[f32; 3]> {
    let [left, top, right, bottom] = frame.bounds;
    let [x, y, w, h] = frame.window;
    let weights = |pixel: u32, start: f64, scale: f64, low: u32, high: u32| {
        let reach = scale.max(1.0);
        let center = (start + (f64::from(pixel) + 0.5) * scale).clamp(f64::from(low) + 0.5, f64::from(high) - 0.5);
        let weight = |s: u32| (s, (1.0 - (f64::from(s) + 0.5 - center).abs() / reach).max(0.0));
        let all: Vec<_> = (low..high).map(weight).filter(|(_, weight)| *weight > 0.0).collect();
        let sum: f64 = all.iter().map(|(_, weight)| weight).sum();
        all.into_iter().map(move |(s, weight)| (s, weight / sum)).collect::<Vec<_>>()
    };
    let mut made = Vec::new();
    for row in 0..height {
        let rows = weights(row, y, h / f64::from(height), top, bottom);
        for column in 0..width {
            let column = if frame.flip { width - 1 - column } else { column };
            let columns = weights(column, x, w / f64::from(width), left, right);
            let mut sum = [0.0; 3];
            for (r, by) in &rows {
                for (c, bx) in &columns {
                    let at = (r * rgb.width + c) as usize * 3;
                    (0..3).for_each(|i| sum[i] += by * bx * f64::from(rgb.pixels[at + i]));
                }
            }
            made.push(frame.colors.apply(sum.map(|level| level as f32)));
        }
    }
    made
}

fn psnr(a: &[u8], b: &[[f32; 3]]) -> f64 {
    let differences = a.iter().zip(b.as_flattened()).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2));
    let mean = differences.sum::<f64>() / a.len() as f64;
    10.0 * (255.0 * 255.0 / mean.max(1e-9)).log10()
}

/// A picture whose colors are all within red, green and blue: beyond, a decode to RGB clamps before the resize, and the
/// kernel after it.
fn mild(size: (u32, u32), seed: u32) -> Vec<u8> {
    let mut picture = Planes::new(size.0, size.1).unwrap();
    let wave = |i: usize, row: u32, strength: f64| {
        let (x, y) = (f64::from(i as u32 % row), f64::from(i as u32 / row));
        (128.0 + strength * ((x / 5.0 + f64::from(seed)).sin() + (y / 3.0 - x / 11.0).cos())) as u8
    };
    let chroma = picture.chroma_width();
    picture.y.iter_mut().enumerate().for_each(|(i, v)| *v = wave(i, size.0, 30.0));
    picture.cb.iter_mut().enumerate().for_each(|(i, v)| *v = wave(i, chroma, -12.0));
    picture.cr.iter_mut().enumerate().for_each(|(i, v)| *v = wave(i, chroma, 9.0));
    let mut jpeg = Vec::new();
    Encoder::new(90).unwrap().encode(&picture, &mut jpeg).unwrap();
    jpeg
}

/// Decoded by libjpeg-turbo and made into pictures by what the batch says, frames are those of the other batches.
#[test]
fn what_a_batch_says_of_its_frames_makes_the_pictures_of_the_others() {
    let clips: Vec<Vec<Vec<u8>>> = (0..6).map(|c| vec![mild((90, 70), 2 * c), mild((90, 70), 2 * c + 1)]).collect();
    let (_folder, dir) = write(&clips, (90, 70));
    let colors = ColorJitter { brightness: 0.3, contrast: 0.3, saturation: 0.3, grayscale: 0.3 };
    let none = ColorJitter::default();
    for (crop, flip, color) in [
        (Crop::center((48, 32)), 0.0, none),
        (Crop::center((40, 32)).with_resize(Some((40, 40))), 0.0, none),
        (Crop::random((32, 32)).with_resize(Some((33, 60))), 0.0, none),
        (Crop::random_resized((48, 48)), 0.5, colors),
        (Crop::multi_scale((30, 50), true), 0.5, none),
        (Crop::cover((64, 24), true), 1.0, none),
        (Crop::three((100, 100)), 0.0, none),
    ] {
        let size = crop.size();
        let crop = crop.with_reducing_gap(f64::INFINITY);
        let options = LoaderOptions { crop: crop.clone(), flip, color, layout: Layout::Bthwc, ..options(3, size) };
        let loader = loader(&dir, options);
        let mut decoder = Decoder::new().unwrap();
        for k in 0..loader.batches_in(0) {
            let (expected, batch) = (loader.batch(0, k).unwrap(), loader.batch_jpegs(0, k).unwrap());
            let expected = expected.u8().unwrap().chunks((size.0 * size.1 * 3) as usize);
            for ((frame, jpeg), expected) in batch.frames.iter().zip(batch.jpegs()).zip(expected) {
                let rgb = decoder.decode_picture(jpeg).unwrap();
                assert_eq!((rgb.width, rgb.height), frame.size);
                let found = psnr(expected, &picture(&rgb, frame, size));
                assert!(found > 48.0, "{:?} {size:?}: {found} dB", crop);
            }
        }
    }
}

#[test]
fn frames_of_different_sizes_have_a_window_each() {
    let sizes = [(40, 30), (30, 40), (64, 64)];
    let clip: Vec<Vec<u8>> = (0..).zip(sizes).map(|(seed, size)| jpeg(size, seed)).collect();
    // As the writer stores it: 0 says that they differ.
    let (_folder, dir) = write(&[clip.clone(), clip], (0, 0));
    let loader = loader(&dir, options(2, (16, 16)));
    let batch = loader.batch_jpegs(0, 0).unwrap();
    assert_eq!(batch.facts.params[0].window, None);
    assert!(batch.frames.iter().map(|frame| frame.size).eq(sizes.into_iter().chain(sizes)));
    let windows: Vec<_> = batch.frames.iter().take(3).map(|frame| frame.window).collect();
    assert_eq!(windows, [[12.0, 7.0, 16.0, 16.0], [7.0, 12.0, 16.0, 16.0], [24.0, 24.0, 16.0, 16.0]]);
    assert_eq!(batch.frames[2].bounds, [0, 0, 64, 64]);
    check(&dir, options(2, (16, 16)));
}

#[test]
fn lengths_buckets_and_sizes_are_those_of_pictures() {
    let clip = |n: u32, size: (u32, u32)| (0..n).map(|t| jpeg(size, n * 50 + t)).collect::<Vec<_>>();
    let lengths: Vec<_> = [3, 1, 5, 2, 4, 7, 1].map(|n| clip(n, (24, 16))).into();
    let (_folder, dir) = write(&lengths, (24, 16));
    let any = || LoaderOptions { frames: Frames::all(), ..drawn(2) };
    let buckets = Some(Batching::FrameBudget { frames: 8, buckets: vec![2, 4, 8] });
    let crop = Crop::cover_sizes([(16, 16), (24, 8)], true);
    check(&dir, any());
    check(&dir, LoaderOptions { batching: buckets, ..any() });
    check(&dir, LoaderOptions { crop, frames: Frames::uniform(2).with_short(ShortClips::Pad), ..drawn(2) });
    let batch = loader(&dir, LoaderOptions { order: Order::Sequential, ..any() }).batch_jpegs(0, 0).unwrap();
    assert_eq!(batch.frames.iter().map(|frame| frame.place).collect::<Vec<_>>(), [0, 1, 2, 3], "no JPEG pads a clip");
    assert_eq!(batch.facts.frame_mask.len(), 6);
}

fn with_cameras(clips: &[(u32, &str)]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("set");
    let mut writer = Writer::create(&dir, WriterOptions::default()).unwrap();
    for (i, &(episode, camera)) in (0..).zip(clips) {
        let attributes = JsonObject::of(json!({"episode": episode, "camera": camera})).unwrap();
        let info = ClipInfo {
            attributes,
            label: Some(episode),
            width: 24,
            height: 16,
            time_base: (1, 9),
            ..ClipInfo::default()
        };
        let jpegs: Vec<_> = (0..3).map(|t| jpeg((24, 16), i * 100 + t)).collect();
        let frames: Vec<_> = (0..).zip(&jpegs).map(|(pts, jpeg)| FrameData { jpeg, pts, source_index: None }).collect();
        writer.append(&info, &frames).unwrap();
    }
    writer.finish().unwrap();
    (folder, dir)
}

#[test]
fn cameras_lie_side_by_side_and_a_missing_one_has_no_jpegs() {
    let (_folder, dir) = with_cameras(&[(0, "b"), (0, "a"), (1, "a"), (2, "a"), (2, "b")]);
    let set = Dataset::open(&dir).unwrap();
    let cameras = Some(Cameras { missing: Missing::Mask, crop: CamerasCrop::Own, ..Cameras::new(["a", "b"]) });
    let loader = Loader::new(&set, LoaderOptions { cameras, order: Order::Sequential, ..drawn(3) }).unwrap();
    let (pictures, batch) = (loader.batch(0, 0).unwrap(), loader.batch_jpegs(0, 0).unwrap());
    assert_eq!(batch.facts, without_data(&pictures));
    assert_eq!(batch.facts.camera_mask, [true, true, true, false, true, true]);
    let clips = [Some(1), Some(0), Some(2), None, Some(3), Some(4)];
    let places: Vec<usize> = (0..18).filter(|place| clips[place / 3].is_some()).collect();
    assert_eq!(batch.frames.iter().map(|frame| frame.place).collect::<Vec<_>>(), places);
    for (frame, jpeg) in batch.frames.iter().zip(batch.jpegs()) {
        let clip = set.clip(clips[frame.place / 3].unwrap()).unwrap();
        assert!(jpeg == clip.frame((frame.place % 3) as u32).unwrap().jpeg());
    }
    assert_ne!(batch.frames[0].window, batch.frames[3].window, "each camera has its own crop");
}

#[test]
fn a_mix_is_one_data_set() {
    let (_first, a) = set(7, 2, (24, 16));
    let (_second, b) = set(4, 2, (16, 32));
    let named = [("a", Dataset::open(&a).unwrap(), 0.7), ("b", Dataset::open(&b).unwrap(), 0.3)];
    let mix = Mix::new(named, MixOptions { samples_per_epoch: Some(20), ..MixOptions::default() }).unwrap();
    let loader = Loader::mix(&mix, LoaderOptions { order: Order::Sequential, ..drawn(4) }).unwrap();
    compare(mix.dataset(), &loader, 0..2);
    assert!(!loader.batch_jpegs(0, 0).unwrap().facts.source_ids.is_empty());
}

const MODES: [Io; 3] = [Io::Map, Io::Read, Io::ReadUncached];

fn open(dir: &Path, io: Io) -> Dataset {
    let mut options = OpenOptions::default();
    options.io = io;
    Dataset::open_with(dir, options).unwrap()
}

#[test]
fn damage_is_the_same_error_as_in_pictures_however_files_are_read() {
    let (_folder, dir) = set(6, 3, (160, 120));
    damage(&dir, 3, 1);
    for io in MODES {
        let loader = Loader::new(&open(&dir, io), options(2, (32, 32))).unwrap();
        let batches: Vec<_> = loader.iter_jpegs(0).unwrap().collect();
        assert_eq!(batches.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
        let e = batches[1].as_ref().err().unwrap();
        assert_eq!((e.rule(), e.clip(), e.frame()), (Some("jpeg-crc"), Some(3), Some(1)), "{e}");
        assert_eq!(e.to_string(), loader.batch(0, 1).unwrap_err().to_string());
        assert_eq!(*batches[2].as_ref().unwrap().data, *loader.batch_jpegs(0, 2).unwrap().data);
    }
}

#[test]
fn a_bad_clip_is_replaced_by_the_same_one_as_in_pictures() {
    let (_folder, dir) = set(8, 3, (160, 120));
    // In the middle of a batch, at its end and at its start.
    [(1, 2), (3, 0), (4, 1)].iter().for_each(|&(clip, frame)| damage(&dir, clip, frame));
    let ordered = |batch_size| LoaderOptions {
        on_bad_frame: OnBadFrame::Substitute,
        order: Order::Sequential,
        ..LoaderOptions { threads: Some(3), ..drawn(batch_size) }
    };
    let set = Dataset::open(&dir).unwrap();
    for batch_size in [2, 4, 8] {
        let loader = Loader::new(&set, ordered(batch_size)).unwrap();
        compare(&set, &loader, 0..2);
        let params = |batch: JpegBatch| batch.facts.params.into_iter().filter_map(|params| params.instead_of);
        let replaced = (0..loader.batches_in(0)).flat_map(|k| params(loader.batch_jpegs(0, k).unwrap()));
        assert_eq!(replaced.collect::<Vec<_>>(), [1, 3, 4]);
    }
    let mut bad =
        common::loader(&dir, LoaderOptions { on_bad_frame: OnBadFrame::Error, ..ordered(8) }).iter_jpegs(0).unwrap();
    assert_eq!(bad.next().unwrap().err().unwrap().clip(), Some(1), "of several, the first");
}

/// Bytes that are no JPEG are found by their header alone.
#[test]
fn what_is_no_jpeg_is_in_no_batch() {
    let good = |seed| jpeg((32, 24), seed);
    let zeros = [&[0xFF, 0xD8][..], &[0; 500]].concat();
    for bad in [zeros, good(1)[..30].to_vec(), vec![0xFF, 0xD8, 0xFF, 0xD9]] {
        let (_folder, dir) = write(&[vec![good(2)], vec![bad]], (32, 24));
        let loader = loader(&dir, options(1, (16, 16)));
        let e = loader.batch_jpegs(0, 1).unwrap_err();
        assert_eq!((e.kind(), e.clip(), e.frame()), (ErrorKind::Decode, Some(1), Some(0)), "{e}");
        assert_eq!(e.to_string(), loader.batch(0, 1).unwrap_err().to_string());
        assert!(loader.batch_jpegs(0, 0).is_ok());
    }
}

/// An entry that says 4 GB takes no such memory, and other clips stand in for it.
#[test]
fn a_length_that_no_file_has_is_an_error_before_memory_is_taken() {
    let (_folder, dir) = set(4, 2, (32, 24));
    let index = names::file(&dir, "shard-00000.vidx");
    let mut bytes = std::fs::read(&index).unwrap();
    // Behind the header of the file and the entries of two clips: offset, time, length.
    let length = 64 + 4 * 32 + 16;
    bytes[length..length + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    common::hostile::seal(&mut bytes);
    std::fs::write(&index, bytes).unwrap();
    std::fs::remove_file(dir.join("dataset.json")).unwrap();
    let e = loader(&index, options(2, (16, 16))).batch_jpegs(0, 1).unwrap_err();
    assert_eq!((e.rule(), e.clip(), e.frame()), (Some("record-length"), Some(2), Some(0)), "{e}");
    assert!(e.to_string().contains("found 4294967295 bytes"), "{e}");
    let o = LoaderOptions { on_bad_frame: OnBadFrame::Substitute, ..options(2, (16, 16)) };
    let batch = loader(&index, o).batch_jpegs(0, 1).unwrap();
    assert_eq!(batch.facts.params[0].instead_of, Some(2));
    assert_eq!(batch.frames.len(), 4);
}

#[test]
fn the_counters_count_jpegs_and_no_tiles() {
    let (_folder, dir) = set(10, 3, (32, 24));
    let loader = loader(&dir, drawn(2));
    let bytes: u64 = loader.iter_jpegs(0).unwrap().map(|batch| batch.unwrap().data.len() as u64).sum();
    let stats = loader.stats();
    assert_eq!((stats.batches, stats.frames, stats.bytes, stats.tiles_decoded), (5, 30, bytes, 0));
}

#[cfg(target_os = "linux")]
#[test]
fn decoded_frames_are_not_kept_for_batches_of_jpegs() {
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        assert!(std::env::var_os("VIDREC_REQUIRE").is_none(), "no /dev/shm");
        return eprintln!("skipped: no /dev/shm");
    };
    let (_dir, path) = set(2, 1, (32, 32));
    let decoded_cache = Some(vidrec::DecodedCache { size: 1 << 24, dir: Some(memory.path().to_owned()) });
    let loader = loader(&path, LoaderOptions { decoded_cache, ..options(1, (16, 16)) });
    for e in [loader.iter_jpegs(0).err().unwrap(), loader.batch_jpegs(0, 0).unwrap_err()] {
        assert!(e.kind() == ErrorKind::Usage && e.to_string().contains("nothing is decoded"), "{e}");
    }
}
