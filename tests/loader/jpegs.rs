//! Batches of JPEGs, of which a device makes pictures: they have the samples of batches of pictures.

use std::path::Path;

use vidrec::order::{LastBatch, Order};
use vidrec::{
    Batch, BatchData, Batching, ColorJitter, Crop, Dataset, Frames, JpegBatch, Loader, LoaderOptions, OnBadFrame,
    ShortClips,
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
    let stored = pictures.clips.iter().zip(&pictures.params).flat_map(|(&clip, params)| {
        params.frames.iter().map(move |&frame| set.clip(clip).unwrap().frame(frame).unwrap().jpeg().to_vec())
    });
    assert!(batch.jpegs().eq(stored));
    let mut end = 0;
    for frame in &batch.frames {
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
