//! Which frames and which parts of them a loader gives, and in which colors.

use crate::common::{self, jpeg, loader, options, set, write};
use vidrec::order::Order;
use vidrec::{
    Batch, ColorJitter, Crop, Dataset, Dtype, Frames, Layout, Loader, LoaderOptions, Normalize, SampleParams, Start,
};

/// Pictures of a batch, frame after frame.
fn pictures(batch: &Batch) -> Vec<&[u8]> {
    let [_, _, rest @ ..] = batch.shape();
    batch.u8().unwrap().chunks(rest.iter().product()).collect()
}

fn params(loader: &Loader, epoch: u64) -> Vec<SampleParams> {
    common::one_by_one(loader, epoch).flat_map(|batch| batch.unwrap().params).collect()
}

#[test]
fn the_frames_that_the_batch_names_are_the_frames_it_has() {
    let (_folder, dir) = set(4, 9, (32, 24));
    let plain = loader(&dir, options(1, (16, 12)));
    let stored: Vec<Batch> = (0..4).map(|k| plain.batch(0, k).unwrap()).collect();
    for frames in [
        Frames::uniform(3),
        Frames::random(3),
        Frames::run(3).with_stride(2),
        Frames::run(3).with_stride(3).with_at(Start::Center),
        Frames::views(3, 3),
        Frames::windows(3).with_stride(2),
    ] {
        let o = LoaderOptions { frames: frames.clone(), order: Order::Shuffled, ..options(2, (16, 12)) };
        let loader = loader(&dir, o);
        for batch in common::one_by_one(&loader, 1).map(Result::unwrap) {
            for (i, picture) in pictures(&batch).into_iter().enumerate() {
                let (clip, params) = (batch.clips[i / 3], &batch.params[i / 3]);
                let t = params.frames[i % 3];
                assert_eq!(picture, pictures(&stored[clip as usize])[t as usize], "{frames:?}");
            }
        }
    }
}

#[test]
fn views_times_crops_of_a_clip_come_side_by_side() {
    let (_folder, dir) = set(2, 8, (60, 30));
    let o = LoaderOptions {
        frames: Frames::views(2, 2).with_stride(2),
        crop: Crop::three((30, 30)),
        ..options(6, (30, 30))
    };
    let loader = loader(&dir, o);
    assert_eq!(loader.batches_per_epoch(), 2);
    let batch = loader.batch(0, 1).unwrap();
    assert_eq!(batch.clips, [1; 6]);
    let views: Vec<_> = batch.params.iter().map(|p| (p.sample, p.view, p.frames[0], p.window.unwrap()[0])).collect();
    assert_eq!(
        views,
        [(6, 0, 0, 0.0), (7, 1, 0, 15.0), (8, 2, 0, 30.0), (9, 3, 5, 0.0), (10, 4, 5, 15.0), (11, 5, 5, 30.0)]
    );
}

#[test]
fn dense_samples_are_every_run_of_every_clip_with_and_without_a_table() {
    let clip = |n: u32, seed: u32| (0..n).map(|t| jpeg((16, 16), seed * 50 + t)).collect::<Vec<_>>();
    for lengths in [[5, 5, 5], [6, 1, 4]] {
        let clips: Vec<_> = lengths.iter().zip(0..).map(|(&n, seed)| clip(n, seed)).collect();
        let (_folder, dir) = write(&clips, (16, 16));
        let o = LoaderOptions {
            frames: Frames::windows(2).with_stride(2).with_short(vidrec::ShortClips::Skip),
            ..options(1, (8, 8))
        };
        let loader = loader(&dir, o);
        let found: Vec<_> = common::one_by_one(&loader, 0)
            .map(Result::unwrap)
            .map(|b| (b.clips[0], b.params[0].frames.clone()))
            .collect();
        let runs = |(clip, &n): (u64, &u32)| (2..n).map(move |end| (clip, vec![end - 2, end]));
        assert_eq!(found, (0..).zip(&lengths).flat_map(runs).collect::<Vec<_>>());
    }
}

#[test]
fn frames_are_drawn_anew_each_epoch_and_the_same_for_any_number_of_threads() {
    let (_folder, dir) = set(6, 12, (32, 24));
    let run = |threads, seed| {
        let color = ColorJitter { brightness: 0.4, contrast: 0.4, saturation: 0.4, grayscale: 0.2 };
        let o = LoaderOptions {
            frames: Frames::run(3),
            seed,
            crop: Crop::multi_scale((16, 16), true),
            flip: 0.5,
            color,
            ..options(3, (16, 16))
        };
        let loader = loader(&dir, LoaderOptions { threads: Some(threads), ..o });
        [0, 1].map(|epoch| common::one_by_one(&loader, epoch).map(Result::unwrap).collect::<Vec<_>>())
    };
    let one = run(1, 0);
    assert!(run(3, 0) == one && run(2, 1) != one);
    assert_ne!(one[0][0].params, one[1][0].params);
}

#[test]
fn the_window_is_where_the_picture_comes_from() {
    let (_folder, dir) = set(8, 1, (64, 48));
    let layout = Layout::Bthwc;
    let loader =
        loader(&dir, LoaderOptions { layout, crop: Crop::random((20, 10)), flip: 0.5, ..options(8, (20, 10)) });
    let whole = common::loader(&dir, LoaderOptions { layout, ..options(8, (64, 48)) }).batch(0, 0).unwrap();
    let batch = loader.batch(0, 0).unwrap();
    assert!(batch.params.iter().any(|p| p.flip) && batch.params.iter().any(|p| !p.flip));
    for (i, picture) in pictures(&batch).into_iter().enumerate() {
        let SampleParams { window: Some([x, y, w, h]), flip, .. } = batch.params[i] else { panic!() };
        assert_eq!((w, h), (20.0, 10.0));
        for (row, found) in picture.chunks(60).enumerate() {
            let at = ((y as usize + row) * 64 + x as usize) * 3;
            let mut expected: Vec<_> = pictures(&whole)[i][at..at + 60].chunks(3).collect();
            if flip {
                expected.reverse();
            }
            assert_eq!(found, expected.concat());
        }
    }
}

#[test]
fn colors_are_those_of_the_map_that_the_batch_names() {
    let (_folder, dir) = set(6, 2, (32, 24));
    let color = ColorJitter { brightness: 0.3, contrast: 0.3, saturation: 0.5, grayscale: 0.3 };
    for layout in [Layout::Btchw, Layout::Bthwc] {
        for (mean, std) in [([0.0; 3], [1.0; 3]), ([0.5, 0.4, 0.3], [0.2, 0.3, 0.4])] {
            let o = LoaderOptions {
                dtype: Dtype::F32,
                layout,
                normalize: Some(Normalize { mean, std }),
                ..options(6, (16, 16))
            };
            let plain = loader(&dir, o.clone()).batch(0, 0).unwrap();
            let jittered = loader(&dir, LoaderOptions { color, ..o.clone() }).batch(0, 0).unwrap();
            let bytes =
                loader(&dir, LoaderOptions { color, dtype: Dtype::U8, normalize: None, ..o }).batch(0, 0).unwrap();
            assert!(
                jittered.params.iter().any(|p| p.color.grayscale) && !jittered.params.iter().all(|p| p.color.grayscale)
            );
            let (channel, step) = if layout == Layout::Btchw { (256, 1) } else { (1, 3) };
            for pixel in 0..6 * 2 * 256 {
                let at = |c| pixel / 256 * 768 + pixel % 256 * step + c * channel;
                let level = |batch: &Batch, c| (batch.f32().unwrap()[at(c)] * std[c] + mean[c]) * 255.0;
                let map = jittered.params[pixel / 512].color.matrix().expect("a map");
                let rgb = [0, 1, 2].map(|c| level(&plain, c));
                let expected: [f32; 3] = std::array::from_fn(|r| {
                    let [a, b, c] = map.rows[r];
                    (a * rgb[0] + b * rgb[1] + c * rgb[2] + map.offset[r]).clamp(0.0, 255.0)
                });
                for (c, expected) in expected.into_iter().enumerate() {
                    assert!((level(&jittered, c) - expected).abs() < 0.02);
                    // Of bytes, levels are rounded before the map too.
                    assert!((f32::from(bytes.u8().unwrap()[at(c)]) - expected).abs() < 2.5);
                }
            }
        }
    }
}

#[test]
fn the_order_may_be_given_or_weighted() {
    use std::sync::Arc;
    use vidrec::order::Weights;
    let (_folder, dir) = set(6, 1, (16, 16));
    let clips = |order| {
        common::one_by_one(&loader(&dir, LoaderOptions { order, ..options(2, (8, 8)) }), 0)
            .flat_map(|b| b.unwrap().clips)
            .collect::<Vec<_>>()
    };
    assert_eq!(clips(Order::List([5, 0, 5, 2].into())), [5, 0, 5, 2]);
    let o = LoaderOptions {
        order: Order::List([4, 4, 5].into()),
        crop: Crop::three((8, 8)),
        flip: 0.5,
        ..options(3, (8, 8))
    };
    let views: Vec<_> = params(&loader(&dir, o), 0).iter().map(|p| (p.sample, p.view, p.window)).collect();
    assert!(
        views[0] == (4, 1, Some([4.0, 4.0, 8.0, 8.0]))
            && views[1] == views[0]
            && views[2].2 == Some([8.0, 4.0, 8.0, 8.0])
    );
    let o = LoaderOptions { order: Order::List([4; 6].into()), crop: Crop::random((4, 4)), ..options(6, (4, 4)) };
    let mut windows: Vec<_> = params(&loader(&dir, o), 0).iter().map(|p| p.window.unwrap().map(|x| x as u32)).collect();
    windows.sort_unstable();
    windows.dedup();
    assert!(windows.len() > 3, "a clip that comes again is cropped anew: {windows:?}");
    let weights = Arc::new(Weights::new(&[0.0, 0.0, 1.0, 0.0, 0.0, 1.0]).unwrap());
    assert!(clips(Order::Weighted(weights)).iter().all(|clip| [2, 5].contains(clip)));
    let labels = Dataset::open(&dir).unwrap().labels().unwrap();
    assert_eq!(labels, [Some(0), None, Some(2), Some(3), Some(4), Some(5)]);
    assert!(clips(Order::Weighted(Arc::new(Weights::balanced(&labels).unwrap()))).iter().all(|&clip| clip != 1));
    let mut blocks = clips(Order::Blocks { block: 2, window: 1 });
    assert!(blocks.chunks(2).all(|pair| pair[0] / 2 == pair[1] / 2));
    blocks.sort_unstable();
    assert!(blocks.into_iter().eq(0..6));
    let set = Dataset::open(&dir).unwrap();
    assert!(Loader::new(&set, LoaderOptions { order: Order::List([6].into()), ..options(1, (8, 8)) }).is_err());
    assert!(params(&loader(&dir, options(2, (8, 8))), 0).iter().all(|p| p.window == Some([4.0, 4.0, 8.0, 8.0])));
}
