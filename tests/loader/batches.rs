//! The loader on data sets that are packed for the test.

use crate::common::{self, jpeg, loader, options, set, write};
use vidrec::jpeg::Decoder;
use vidrec::order::Order;
use vidrec::{Batch, Crop, Dataset, Dtype, Frames, LastBatch, Layout, Loader, LoaderOptions, Normalize};

fn augmented(batch_size: u32, size: (u32, u32)) -> LoaderOptions {
    LoaderOptions {
        seed: 3,
        crop: Crop::random_resized(size),
        flip: 0.5,
        order: Order::Shuffled,
        ..options(batch_size, size)
    }
}

fn epoch(loader: &Loader, epoch: u64) -> Vec<Batch> {
    common::one_by_one(loader, epoch).map(Result::unwrap).collect()
}

#[test]
fn pictures_that_are_not_resized_are_the_decoders_pixels() {
    let (_folder, dir) = set(3, 2, (40, 30));
    let layout = Layout::Bthwc;
    let batch = loader(&dir, LoaderOptions { layout, ..options(3, (24, 20)) }).batch(0, 0).unwrap();
    assert_eq!(batch.shape(), [3, 2, 20, 24, 3]);
    let mut decoder = Decoder::new().unwrap();
    for (i, picture) in batch.u8().unwrap().chunks(20 * 24 * 3).enumerate() {
        let mut rgb = vec![0; 40 * 30 * 3];
        let (clip, frame) = (i as u32 / 2, i as u32 % 2);
        decoder.decode_rgb(&jpeg((40, 30), clip * 100 + frame), &mut rgb, 120).unwrap();
        for (y, row) in picture.chunks(24 * 3).enumerate() {
            assert_eq!(row, &rgb[((y + 5) * 40 + 8) * 3..][..72], "picture {i}, row {y}");
        }
    }
}

/// The whole way, from the file on, for a JPEG whose chroma has full resolution.
#[test]
fn resized_pictures_are_those_of_an_independent_resize() {
    let file = |name: &str| std::fs::read(format!("{}/tests/data/jpeg/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let (_folder, dir) = write(&[vec![file("s444.jpg")]], (53, 37));
    let decoded = image::load_from_memory(&file("s444.png")).unwrap().into_rgb8();
    for size in [(24, 16), (80, 70)] {
        let ratio = 53.0 / 37.0;
        let crop = Crop::RandomResized { size, scale: (1.0, 1.0), ratio: (ratio, ratio) };
        let batch =
            loader(&dir, LoaderOptions { crop, layout: Layout::Bthwc, ..options(1, size) }).batch(0, 0).unwrap();
        let expected = image::imageops::resize(&decoded, size.0, size.1, image::imageops::FilterType::Triangle);
        let worst = batch.u8().unwrap().iter().zip(expected.as_raw()).map(|(&a, &b)| a.abs_diff(b)).max();
        assert!(worst <= Some(1), "{size:?}: {worst:?}");
    }
}

#[test]
fn clips_and_frames_are_two_views_of_one_buffer() {
    let (_folder, dir) = set(4, 3, (40, 30));
    let loader = loader(&dir, options(4, (16, 12)));
    let batch = loader.batch(0, 0).unwrap();
    assert_eq!(batch.shape(), [4, 3, 3, 12, 16]);
    let data = batch.u8().unwrap();
    assert_eq!(data.len(), batch.shape().iter().product::<usize>());
    // Frame t of clip b, in a batch of one: picture b * T + t of the whole.
    let single = self::loader(&dir, options(1, (16, 12)));
    for b in 0..4 {
        let clip = single.batch(0, b).unwrap();
        for t in 0..3 {
            let picture = (b as usize * 3 + t) * 3 * 12 * 16;
            assert_eq!(data[picture..][..576], clip.u8().unwrap()[t * 576..][..576]);
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (_folder, dir) = set(7, 3, (60, 44));
    let run = |threads| {
        let o = LoaderOptions { threads: Some(threads), dtype: Dtype::F32, ..augmented(3, (32, 32)) };
        let loader = loader(&dir, o);
        [epoch(&loader, 0), epoch(&loader, 1)].concat()
    };
    let one = run(1);
    assert!(run(2) == one && run(5) == one);
}

#[test]
fn all_frames_of_a_clip_have_the_same_crop_and_flip() {
    // All frames of all clips are one picture, so pictures differ exactly where the draw does.
    let frame = jpeg((80, 60), 1);
    let (_folder, dir) = write(&vec![vec![frame; 4]; 12], (80, 60));
    for crop in [Crop::random((32, 32)), Crop::random_resized((32, 32))] {
        let batch = loader(&dir, LoaderOptions { crop, ..augmented(12, (32, 32)) }).batch(0, 0).unwrap();
        let pictures: Vec<_> = batch.u8().unwrap().chunks(32 * 32 * 3).collect();
        for clip in pictures.chunks(4) {
            assert!(clip.iter().all(|picture| picture == &clip[0]));
        }
        let mut distinct: Vec<_> = pictures.iter().step_by(4).collect();
        distinct.sort_unstable();
        distinct.dedup();
        assert!(distinct.len() > 8, "but clips differ: {} views of 12", distinct.len());
    }
    let flips = LoaderOptions { crop: Crop::center((32, 32)), ..augmented(12, (32, 32)) };
    let batch = loader(&dir, flips).batch(0, 0).unwrap();
    let mut distinct: Vec<_> = batch.u8().unwrap().chunks(32 * 32 * 3).collect();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 2, "straight and mirrored");
}

/// Every default: no clip is repeated, and the pictures of a smaller batch are those of a full one.
#[test]
fn samples_at_given_positions_are_those_of_the_epoch() {
    let (_folder, dir) = set(5, 3, (40, 30));
    let loader = loader(&dir, augmented(5, (16, 12)));
    let all = loader.batch(1, 0).unwrap();
    let found = loader.batch_at(1, &[4, 0, 4]).unwrap();
    let sample = |batch: &Batch, i: usize| batch.u8().unwrap().chunks(3 * 3 * 16 * 12).nth(i).unwrap().to_vec();
    for (i, position) in [4, 0, 4].into_iter().enumerate() {
        assert_eq!((found.clips[i], &found.params[i]), (all.clips[position], &all.params[position]));
        assert_eq!(sample(&found, i), sample(&all, position));
    }
    let refused = |loader: &Loader, positions: &[u64]| loader.batch_at(0, positions).unwrap_err().to_string();
    assert!(refused(&loader, &[0, 5]).contains("there is no sample 5"));
    assert!(refused(&loader, &[]).contains("a batch of no samples"));
    let uneven = common::loader(&dir, LoaderOptions { frames: Frames::all(), ..options(2, (16, 12)) });
    assert!(loader.is_even() && !uneven.is_even());
    assert!(refused(&uneven, &[0]).contains("differ in length or shape"));
}

#[test]
fn the_last_batches_are_smaller_and_their_memory_is_the_start_of_a_full_one() {
    let (_folder, dir) = set(9, 2, (32, 24));
    let with = |batch_size, rank, last| LoaderOptions { last, rank: (rank, 2), ..augmented(batch_size, (8, 8)) };
    for rank in 0..2 {
        let kept = loader(&dir, with(2, rank, LastBatch::Keep));
        let sizes = if rank == 0 { [2, 2, 1] } else { [2, 1, 1] };
        assert_eq!(epoch(&kept, 0).iter().map(|batch| batch.shape()[0]).collect::<Vec<_>>(), sizes);
        assert_eq!((kept.shape()[0], kept.warnings().len()), (2, 0));
        // Batches made ahead use the same memory again, and so does memory of the caller.
        let ahead: Vec<Batch> = kept.iter(0..2).unwrap().map(|batch| (*batch.unwrap()).clone()).collect();
        assert!(ahead == [epoch(&kept, 0), epoch(&kept, 1)].concat());
        for (k, batch) in epoch(&kept, 0).iter().enumerate() {
            let mut memory = vec![0; kept.batch_bytes()];
            let facts = kept.batch_into(0, k as u64, &mut memory).unwrap();
            let bytes = batch.data.bytes();
            assert_eq!((facts.shape(), &memory[..bytes.len()]), (batch.shape(), bytes));
            let jpegs = kept.batch_jpegs(0, k as u64).unwrap();
            assert_eq!((jpegs.facts.shape(), jpegs.frames.len()), (batch.shape(), 2 * batch.clips.len()));
            assert_eq!(jpegs.facts.clips_on_all_ranks, batch.clips_on_all_ranks);
        }
    }
    let alone = loader(&dir, with(1, 1, LastBatch::Keep));
    assert_eq!((alone.batches_per_epoch(), alone.stats().samples_left_out), (4, 1));
    assert!(alone.warnings()[0].contains("1 of 9 samples are in no batch"), "{:?}", alone.warnings());
    let dropped = loader(&dir, with(2, 1, LastBatch::Drop));
    assert_eq!((dropped.stats().samples_left_out, dropped.warnings().len()), (1, 0), "as asked for");
}

#[test]
fn shuffling_gives_another_order_each_epoch_and_labels_stay_with_their_clips() {
    let (_folder, dir) = set(9, 1, (16, 16));
    let loader = loader(&dir, augmented(9, (8, 8)));
    let orders: Vec<_> = (0..3).map(|e| loader.batch(e, 0).unwrap()).collect();
    assert!(orders[0].clips != orders[1].clips && orders[1].clips != orders[2].clips);
    for batch in &orders {
        for (&clip, &label) in batch.clips.iter().zip(&batch.labels) {
            assert_eq!(label, if clip == 1 { -1 } else { clip as i64 });
        }
    }
    let in_order = self::loader(&dir, options(9, (8, 8))).batch(0, 0).unwrap();
    assert!(in_order.clips.into_iter().eq(0..9));
}

#[test]
fn floats_are_the_bytes_normalized() {
    let (_folder, dir) = set(2, 2, (32, 24));
    let (mean, std) = ([0.5, 0.4, 0.3], [0.2, 0.3, 0.4]);
    let bytes = loader(&dir, options(2, (16, 16))).batch(0, 0).unwrap();
    let floats = loader(
        &dir,
        LoaderOptions { dtype: Dtype::F32, normalize: Some(Normalize { mean, std }), ..options(2, (16, 16)) },
    );
    let floats = floats.batch(0, 0).unwrap();
    for (i, (&byte, &float)) in bytes.u8().unwrap().iter().zip(floats.f32().unwrap()).enumerate() {
        let c = i / 256 % 3;
        assert!((float - (f32::from(byte) / 255.0 - mean[c]) / std[c]).abs() < 1e-5);
    }
}

#[test]
fn frames_of_several_sizes_and_kinds_fit_one_batch() {
    let other = |name| std::fs::read(format!("{}/tests/data/jpeg/{name}.jpg", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let clip = vec![jpeg((40, 30), 1), jpeg((20, 60), 2), jpeg((7, 5), 3)];
    let kinds = vec![other("gray"), other("s444"), other("progressive")];
    // Width and height of 0: frames differ. The second size is a lie, and only costs time.
    for claimed in [(0, 0), (99, 99)] {
        let (_folder, dir) = write(&[clip.clone(), kinds.clone()], claimed);
        for crop in [Crop::center((16, 16)), Crop::random((16, 16)), Crop::random_resized((16, 16))] {
            let batch = loader(&dir, LoaderOptions { crop, ..options(2, (16, 16)) }).batch(0, 0).unwrap();
            assert_eq!(batch.shape(), [2, 3, 3, 16, 16]);
            let picture = &batch.u8().unwrap()[3 * 768..4 * 768];
            assert!(picture[..256] == picture[256..512] && picture[..256] == picture[512..], "gray is gray");
        }
    }
}

#[test]
fn a_damaged_frame_is_named_and_the_other_batches_still_come() {
    let (_folder, dir) = set(8, 3, (160, 120));
    common::damage(&dir, 5, 1);
    let path = common::names::file(&dir, "shard-00000.rec");
    for threads in [1, 4] {
        let loader = loader(&dir, LoaderOptions { threads: Some(threads), ..options(2, (32, 32)) });
        let batches: Vec<_> = common::one_by_one(&loader, 0).collect();
        assert_eq!(batches.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, true, false, true]);
        let e = batches[2].as_ref().unwrap_err();
        assert_eq!((e.clip(), e.frame(), e.path()), (Some(5), Some(1), Some(&*path)), "{e}");
    }
}

#[test]
fn a_frame_that_does_not_decode_is_named() {
    let mut cut = jpeg((64, 64), 1);
    cut.truncate(cut.len() / 2);
    let (_folder, dir) = write(&[vec![jpeg((64, 64), 1)], vec![cut]], (64, 64));
    let e = loader(&dir, options(2, (16, 16))).batch(0, 0).unwrap_err();
    assert_eq!((e.kind(), e.clip(), e.frame()), (vidrec::ErrorKind::Decode, Some(1), Some(0)));
    assert!(e.path().is_some_and(|path| path.display().to_string().contains("shard-00000-")), "{e}");
}

/// A tile is too short: without a CRC only decoding can tell.
#[test]
fn a_damaged_tile_is_an_error_with_its_place() {
    let frame = |t| jpeg((96, 64), t);
    let mut bad = frame(2);
    let marker = bad.windows(2).position(|pair| pair == [0xFF, 0xD2]).unwrap();
    bad.drain(marker - 3..marker);
    let (_folder, dir) = write(&[vec![frame(0), frame(1)], vec![frame(3), bad]], (96, 64));
    let loader = loader(&dir, options(1, (96, 64)));
    let e = loader.batch(0, 1).unwrap_err();
    assert_eq!((e.kind(), e.clip(), e.frame()), (vidrec::ErrorKind::Decode, Some(1), Some(1)), "{e}");
    assert!(e.to_string().contains("damaged data"), "{e}");
    loader.batch(0, 0).unwrap();
}

#[test]
fn an_epoch_without_batches_is_an_error() {
    let refused = |dir: &std::path::Path, o| Loader::new(&Dataset::open(dir).unwrap(), o).unwrap_err().to_string();
    let (_folder, dir) = write(&[], (16, 16));
    assert!(refused(&dir, options(2, (16, 16))).contains("there is no batch: 0 samples"));

    let (_folder, dir) = set(3, 1, (16, 16));
    let e = refused(&dir, LoaderOptions { rank: (0, 4), ..options(4, (16, 16)) });
    assert!(e.contains("3 samples") && e.contains("4 ranks") && e.contains("fewer samples than ranks"), "{e}");
    let e = refused(&dir, LoaderOptions { last: LastBatch::Drop, ..options(4, (16, 16)) });
    assert!(e.contains("3 samples, batches of 4") && e.contains("last = keep"), "{e}");
}

#[test]
fn a_batch_beyond_any_memory_is_refused() {
    let (_folder, dir) = set(1, 1, (16, 16));
    let o = LoaderOptions { frames: Frames::uniform(u32::MAX), ..options(u32::MAX, (65_500, 65_500)) };
    assert_eq!(Loader::new(&Dataset::open(&dir).unwrap(), o).err().unwrap().kind(), vidrec::ErrorKind::Limit);
}
