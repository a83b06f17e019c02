//! Batches of frames that are not decoded: the same samples as those of pictures, and all that their pictures take.

use std::path::Path;

use vidrec::jpeg::{Decoder, Encoder, RgbPicture};
use vidrec::order::{LastBatch, Order};
use vidrec::{
    Batch, BatchData, Batching, ColorJitter, ColorMatrix, Crop, Dataset, ErrorKind, Frames, JpegBatch, JpegFrame,
    Layout, Loader, LoaderOptions, OnBadFrame, Planes, ShortClips,
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
        LoaderOptions { last: LastBatch::Wrap, rank: (1, 2), ..drawn(2) },
        LoaderOptions { crop: Crop::three((16, 12)), ..drawn(2) },
    ] {
        check(&dir, options);
    }
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
