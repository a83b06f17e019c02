//! Clips of different lengths and shapes: what happens to short ones, padding, buckets, budgets, rates.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::common::{self, jpeg, loader, options};
use proptest::prelude::*;
use tempfile::TempDir;
use vidrec::order::{LastBatch, Order};
use vidrec::{
    Batch, Batching, ClipInfo, Crop, Dataset, Field, FrameData, Frames, JsonObject, Layout, Loader, LoaderOptions,
    LoaderState, ShortClips, Start, Writer, WriterOptions,
};

/// Clips of these numbers of frames and sizes, at 10 frames a second; clip `i` has the attributes `of(i)`.
fn clips_with(clips: &[(u32, (u32, u32))], of: impl Fn(usize) -> String) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("set");
    let mut writer = Writer::create(&dir, WriterOptions::default()).unwrap();
    for (i, &(length, size)) in clips.iter().enumerate() {
        let (width, height) = size;
        let attributes: JsonObject = of(i).parse().unwrap();
        let label = Some(i as u32);
        let info = ClipInfo { label, width, height, attributes, time_base: (1, 100), ..ClipInfo::default() };
        let jpegs: Vec<_> = (0..length).map(|t| jpeg(size, i as u32 * 100 + t)).collect();
        let frame = |(t, jpeg): (usize, &Vec<u8>)| (t as i64 * 10 + 500, jpeg.clone());
        let frames: Vec<_> = jpegs.iter().enumerate().map(frame).collect();
        let frames: Vec<_> =
            frames.iter().map(|(pts, jpeg)| FrameData { jpeg, pts: *pts, source_index: None }).collect();
        writer.append(&info, &frames).unwrap();
    }
    writer.finish().unwrap();
    (folder, dir)
}

fn of_lengths(lengths: &[u32]) -> (TempDir, PathBuf) {
    let clips: Vec<_> = lengths.iter().map(|&n| (n, (16, 16))).collect();
    clips_with(&clips, |_| "{}".into())
}

/// Buckets and a budget of frames, if there are any.
fn batching(buckets: &[u32], budget: Option<u64>) -> Option<Batching> {
    let buckets = buckets.to_vec();
    match budget {
        Some(frames) => Some(Batching::FrameBudget { frames, buckets }),
        None if buckets.is_empty() => None,
        None => Some(Batching::Buckets { lengths: buckets }),
    }
}

fn refused(dir: &std::path::Path, options: LoaderOptions) -> String {
    Loader::new(&Dataset::open(dir).unwrap(), options).unwrap_err().to_string()
}

fn epoch(loader: &Loader, epoch: u64) -> Vec<Batch> {
    common::one_by_one(loader, epoch).map(Result::unwrap).collect()
}

#[test]
fn short_clips_are_told_and_padded_with_zeros_or_skipped() {
    let (_folder, dir) = of_lengths(&[2, 9, 3]);
    let run = Frames::run(4);
    let windows = Frames::windows(4).with_hop(100);
    for frames in
        [Frames::uniform(4), Frames::random(4), run.clone(), run.with_at(Start::Center), Frames::views(1, 4), windows]
    {
        let with = |short| LoaderOptions { frames: frames.clone().with_short(short), ..options(1, (8, 8)) };
        let told = loader(&dir, with(ShortClips::Repeat)).warnings();
        assert!(told[0].contains("2 of 3 clips"), "{frames:?}: {told:?}");

        let padded = loader(&dir, with(ShortClips::Pad)).batch(0, 0).unwrap();
        assert_eq!(padded.frame_mask, [true, true, false, false], "{frames:?}");
        assert_eq!(padded.params[0].frames, [0, 1]);
        let (shown, padding) = padded.u8().unwrap().split_at(2 * 3 * 8 * 8);
        assert!(padding.iter().all(|&x| x == 0) && shown.iter().any(|&x| x != 0));

        let skip = loader(&dir, with(ShortClips::Skip));
        assert!(skip.warnings()[0].contains("skipped"));
        assert_eq!(epoch(&skip, 0).iter().map(|batch| batch.clips[0]).collect::<Vec<_>>(), [1], "{frames:?}");
    }
}

#[test]
fn padding_is_zero_in_every_layout_and_what_is_padded_is_the_clip() {
    let (_folder, dir) = of_lengths(&[1, 3]);
    for layout in [Layout::Btchw, Layout::Bcthw, Layout::Bthwc] {
        let o = LoaderOptions { frames: Frames::all(), layout, ..options(2, (8, 8)) };
        let both = loader(&dir, o.clone()).batch(0, 0).unwrap();
        let alone = loader(&dir, LoaderOptions { batch_size: 1, ..o }).batch(0, 0).unwrap();
        let pixels = 8 * 8;
        let value = |batch: &Batch, t: usize, c: usize, i: usize, frames: usize| {
            batch.u8().unwrap()[match layout {
                Layout::Bcthw => (c * frames + t) * pixels + i,
                Layout::Bthwc => (t * pixels + i) * 3 + c,
                _ => (t * 3 + c) * pixels + i,
            }]
        };
        for (c, i) in (0..3).flat_map(|c| (0..pixels).map(move |i| (c, i))) {
            assert_eq!(value(&both, 0, c, i, 3), value(&alone, 0, c, i, 1), "{layout:?}");
            assert_eq!([1, 2].map(|t| value(&both, t, c, i, 3)), [0, 0], "{layout:?}");
        }
    }
}

#[test]
fn frames_come_at_a_rate_by_their_times() {
    // 10 frames a second are stored.
    let (_folder, dir) = of_lengths(&[11, 6]);
    let fps = |rate: &str, frames: Frames| LoaderOptions {
        frames: frames.with_fps(Some(rate.parse().unwrap())),
        ..options(1, (8, 8))
    };
    let any = Frames::all;
    let frames = |o| epoch(&loader(&dir, o), 0).into_iter().map(|b| b.params[0].frames.clone()).collect::<Vec<_>>();
    assert_eq!(frames(fps("5", any())), [vec![0, 2, 4, 6, 8, 10], vec![0, 2, 4]]);
    assert_eq!(frames(fps("4", any())), [vec![0, 2, 5, 7, 10], vec![0, 2, 5]], "the frame on the screen at each tick");
    assert_eq!(frames(fps("10", any()))[1], [0, 1, 2, 3, 4, 5]);
    let run = Frames::run(2).with_at(Start::Center);
    assert_eq!(frames(fps("5", run)), [vec![4, 6], vec![0, 2]]);
    let times = epoch(&loader(&dir, fps("5", any())), 0)[1].times.clone();
    assert_eq!(times, [5.0, 5.2, 5.4].map(Some));

    let e = refused(&dir, fps("11", any()));
    assert!(e.contains("fps") && e.contains("clip 0") && e.contains("at most 10.000") && e.contains("11"), "{e}");
    let spread = Frames::uniform(2);
    assert_eq!(fps("5", spread.clone()).frames, spread, "frames that are spread over a clip have no rate");
}

#[test]
fn attributes_come_with_the_batch() {
    let text = |i: usize| match i {
        0 => r#"{"caption": "a", "score": 1, "id": 7, "tags": ["x"], "video": {"fps": 25}}"#.to_owned(),
        1 => r#"{"caption": "b", "score": 0.5, "id": 8, "tags": [], "video": {"fps": 30}}"#.to_owned(),
        _ => r#"{"caption": null, "id": 9, "video": {"fps": 24}}"#.to_owned(),
    };
    let (_folder, dir) = clips_with(&[(1, (16, 16)); 3], text);
    let with =
        |fields: &[&str]| LoaderOptions { fields: fields.iter().map(|f| (*f).into()).collect(), ..options(3, (8, 8)) };
    let batch = loader(&dir, with(&["caption", "score", "id", "tags", "video.fps"])).batch(0, 0).unwrap();
    assert_eq!(batch.field("caption"), Some(&Field::Texts(vec![Some("a".into()), Some("b".into()), None])));
    let Some(Field::Floats(scores)) = batch.field("score") else { panic!("{:?}", batch.fields) };
    assert!(scores[..2] == [1.0, 0.5] && scores[2].is_nan());
    assert_eq!(batch.field("id"), Some(&Field::Integers(vec![7, 8, 9])));
    assert_eq!(batch.field("tags"), Some(&Field::Json(vec![Some("[\"x\"]".into()), Some("[]".into()), None])));
    assert_eq!(batch.field("video.fps"), Some(&Field::Integers(vec![25, 30, 24])));
    let e = refused(&dir, with(&["captoin"]));
    assert!(e.contains("no clip has the attribute \"captoin\""), "{e}");
    assert!(e.contains("one of caption, "), "nearest first: {e}");
    let (_folder, dir) =
        clips_with(&[(1, (16, 16)); 2], |i| if i == 0 { r#"{"a": 1}"# } else { r#"{"a": "b"}"# }.into());
    let e = refused(&dir, with(&["a"]));
    assert!(e.contains("clip 1") && e.contains("the type of \"a\" changes"), "{e}");
}

#[test]
fn clips_go_to_the_size_of_their_shape_undistorted() {
    let (_folder, dir) = clips_with(&[(1, (64, 48)), (1, (48, 64)), (1, (40, 40)), (1, (80, 60))], |_| "{}".into());
    let sizes = vec![(16, 16), (24, 18), (18, 24)];
    let o = LoaderOptions { crop: Crop::cover_sizes(sizes, false), ..options(2, (999, 999)) };
    let batches = epoch(&loader(&dir, o), 0);
    let found: BTreeMap<_, _> =
        batches.iter().flat_map(|b| b.clips.iter().map(|&clip| (clip, (b.shape()[4], b.shape()[3])))).collect();
    assert_eq!(found.into_values().collect::<Vec<_>>(), [(24, 18), (18, 24), (16, 16), (24, 18)]);
    let window = batches.iter().find(|b| b.clips[0] == 0).unwrap().params[0].window.unwrap();
    assert_eq!(window, [0.0, 0.0, 64.0, 48.0], "the whole frame: nothing is cut off");
}

#[test]
fn what_fits_no_bucket_is_refused_by_name() {
    let (_folder, dir) = of_lengths(&[3, 9, 4]);
    let any = |most, buckets: &[u32], budget| LoaderOptions {
        frames: Frames::all().with_max(most),
        batching: batching(buckets, budget),
        ..options(2, (8, 8))
    };
    let e = refused(&dir, any(None, &[4, 8], None));
    assert!(e.contains("clip 1") && e.contains("at most 8 frames") && e.contains('9'), "{e}");
    assert!(refused(&dir, any(Some(9), &[4, 8], None)).contains("one of 9 or more"));
    assert_eq!(loader(&dir, any(Some(8), &[4, 8], None)).batches_per_epoch(), 2);
    assert!(refused(&dir, any(None, &[4, 16], Some(15))).contains("one clip of 16 frames"));
    assert!(refused(&dir, any(None, &[], Some(15))).contains("buckets"));
    let budget = loader(&dir, any(None, &[4, 16], Some(32)));
    let shapes: Vec<_> = epoch(&budget, 0).iter().map(|b| b.shape()[..2].to_vec()).collect();
    assert_eq!(shapes, [[2, 4], [1, 16]].map(Vec::from), "incomplete batches come by bucket");
    let padded = LoaderOptions { last: LastBatch::Pad, ..any(None, &[4, 16], Some(32)) };
    let shapes: Vec<_> = epoch(&loader(&dir, padded), 0).iter().map(|b| b.shape()[..2].to_vec()).collect();
    assert_eq!(shapes, [[8, 4], [2, 16]].map(Vec::from));
}

#[test]
fn frames_that_are_smaller_than_the_pictures_are_named() {
    let (_folder, dir) = clips_with(&[(2, (24, 16)), (2, (40, 15))], |_| "{}".into());
    let warned = |crop, words: Option<&str>| {
        let warnings =
            loader(&dir, LoaderOptions { crop, frames: Frames::uniform(2), ..options(1, (8, 8)) }).warnings();
        assert_eq!(warnings.len(), usize::from(words.is_some()), "{warnings:?}");
        assert!(warnings.iter().zip(words).all(|(warning, words)| warning.contains(words)), "{warnings:?}");
    };
    let from_24x16 =
        Some("the frames of clip 0 are smaller than the pictures and are enlarged, from 24x16 to 30x20 pixels");
    let crops: [fn((u32, u32)) -> Crop; 3] = [Crop::center, Crop::random_resized, |size| Crop::cover(size, true)];
    for crop in crops {
        warned(crop((20, 20)), from_24x16);
        warned(crop((16, 16)), None);
    }
    // A range begins at its least side, and what one asks for is enlarged as well.
    warned(Crop::center((8, 8)).with_resize(Some((15, 30))), None);
    warned(Crop::center((8, 8)).with_resize(Some((20, 30))), from_24x16);
    // Each clip has the size that is its own.
    warned(Crop::cover_sizes([(24, 16), (16, 16)], false), None);
    warned(Crop::smart_resize(4, 16 * 25, 4000), Some("from 24x16 to"));
    // All ranks see the same, and the first says it.
    let second = LoaderOptions { rank: (1, 2), ..options(1, (20, 20)) };
    assert!(loader(&dir, second).warnings().iter().all(|warning| !warning.contains("smaller")));
}

/// What a rank gets in an epoch: for each batch its shape, its clips with their masks, and how many count on all ranks.
type Seen = Vec<([usize; 5], Vec<(u64, bool)>, u64)>;

fn seen(loader: &Loader, epoch: u64) -> Seen {
    let batch = |k| {
        let batch = loader.batch(epoch, k).unwrap();
        let clips = batch.clips.iter().copied().zip(batch.mask.iter().copied()).collect();
        (batch.shape(), clips, batch.clips_on_all_ranks)
    };
    (0..loader.batches_in(epoch)).map(batch).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Against what buckets promise: each clip counts once an epoch over all ranks; all ranks have the same shapes at
    /// the same time; each clip is in the first bucket that holds it; a run stopped at any step and resumed on any
    /// number of ranks has the rest, and on the same number exactly the same batches.
    #[test]
    fn every_clip_counts_once_whatever_buckets_ranks_and_stops(
        lengths in prop::collection::vec(1u32..10, 1..14),
        (batch_size, budget, last) in
            (1u32..4, prop::option::of(10u64..30), prop::sample::select(vec![LastBatch::Keep, LastBatch::Pad])),
        (world, world_after) in (1u32..4, 1u32..4),
        kind in 0usize..5,
        drawn_epoch in 0u64..3,
        stop in 0.0f64..1.0,
        buckets in prop::sample::select(vec![vec![], vec![9], vec![4, 9], vec![2, 3, 10]]),
    ) {
        let (_folder, dir) = of_lengths(&lengths);
        let set = Dataset::open(&dir).unwrap();
        let backwards: Vec<u64> = (0..lengths.len() as u64).rev().collect();
        let blocks = Order::Blocks { block: 2, window: 2 };
        let homes = Order::Homes { homes: Some(2), exchange: 0.5, block: 2, window: 2 };
        let order = [Order::Sequential, Order::Shuffled, blocks, Order::List(backwards.into()), homes][kind].clone();
        let budget = budget.filter(|_| !buckets.is_empty());
        let of_rank = |rank, world_size| LoaderOptions {
            frames: Frames::all(),
            batching: batching(&buckets, budget),
            order: order.clone(), last, rank: (rank, world_size),
            seed: 5,
            ..options(batch_size, (2, 2))
        };
        let ranks = |world| (0..world).map(move |rank| of_rank(rank, world));
        if last == LastBatch::Keep && lengths.len() < world.max(world_after) as usize {
            let e = Loader::new(&set, of_rank(0, world.max(world_after))).unwrap_err().to_string();
            prop_assert!(e.contains("fewer samples than ranks"), "{}", e);
            return Ok(());
        }
        let all: Vec<Seen> = ranks(world).map(|o| seen(&Loader::new(&set, o).unwrap(), drawn_epoch)).collect();
        let once = |counted: Vec<u64>| {
            let mut counted = counted;
            counted.sort_unstable();
            counted
        };
        let counted = |seen: &[Seen], steps: std::ops::Range<usize>| -> Vec<u64> {
            let batches = seen.iter().flat_map(|rank| rank[steps.clone()].iter());
            batches.flat_map(|(_, clips, _)| clips.iter().filter(|(_, counts)| *counts).map(|(clip, _)| *clip)).collect()
        };
        let steps = all[0].len();
        prop_assert!(all.iter().all(|rank| rank.len() == steps));
        // With `Keep`, clips that cannot be shared are in no batch. There are fewer of them than ranks.
        let missed = |found: Vec<u64>, world: u32| -> Result<Vec<u64>, TestCaseError> {
            let found = once(found);
            prop_assert!(found.windows(2).all(|two| two[0] < two[1]), "once: {found:?}");
            let all = 0..lengths.len() as u64;
            let missed: Vec<u64> = all.filter(|clip| found.binary_search(clip).is_err()).collect();
            prop_assert!(missed.is_empty() || last == LastBatch::Keep && missed.len() < world as usize);
            Ok(missed)
        };
        let left_out = missed(counted(&all, 0..steps), world)?;
        prop_assert_eq!(left_out.len() as u64, Loader::new(&set, of_rank(0, world)).unwrap().stats().samples_left_out);
        for k in 0..steps {
            let shape = all[0][k].0;
            let sizes: Vec<usize> = all.iter().map(|rank| rank[k].0[0]).collect();
            let (least, most) = (*sizes.iter().min().unwrap(), *sizes.iter().max().unwrap());
            prop_assert!(least >= 1 && most - least <= 1, "step {}: {:?}", k, sizes);
            prop_assert!(all.iter().all(|rank| rank[k].0[1..] == shape[1..]), "step {}", k);
            prop_assert!(last == LastBatch::Keep || least == most);
            let counts = all.iter().flat_map(|rank| &rank[k].1).filter(|(_, counts)| *counts).count() as u64;
            prop_assert!(all.iter().all(|rank| rank[k].2 == counts), "step {}", k);
            if last == LastBatch::Keep {
                prop_assert!(all.iter().all(|rank| rank[k].1.iter().all(|(_, counts)| *counts)));
            }
            let clips = || all.iter().flat_map(|rank| &rank[k].1).map(|(clip, _)| lengths[*clip as usize]);
            let own = |n: u32| buckets.iter().position(|&bucket| n <= bucket);
            let longest = clips().max().unwrap();
            let bucket = own(longest).map_or(longest, |i| buckets[i]);
            let has_moved = last == LastBatch::Keep && clips().all(|n| own(n) < own(shape[1] as u32));
            prop_assert!(shape[1] as u32 == bucket || has_moved, "step {}", k);
            let all_fit = clips().all(|n| own(n) == own(shape[1] as u32) || last == LastBatch::Keep);
            prop_assert!(all_fit, "step {}", k);
            // Only so few that they are not one for each rank move.
            let moved = clips().filter(|&n| own(n) < own(shape[1] as u32)).count();
            prop_assert!(buckets.is_empty() || moved < world as usize * buckets.len(), "step {}", k);
            if let Some(budget) = budget {
                let room = budget / u64::from(shape[1] as u32);
                prop_assert!(most as u64 == room || last == LastBatch::Keep && most as u64 <= room);
            }
        }

        let stop = (stop * steps as f64) as usize;
        let state = Loader::new(&set, of_rank(0, world)).unwrap().state(drawn_epoch, stop as u64);
        let text = serde_json::to_string(&state).unwrap();
        let state: LoaderState = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(state.epoch, drawn_epoch);
        let rest: Vec<Seen> =
            ranks(world).map(|o| seen(&Loader::resume(&set, o, &state).unwrap(), drawn_epoch)).collect();
        for (rank, rest) in all.iter().zip(&rest) {
            prop_assert_eq!(&rank[stop..], &rest[..], "the same ranks go on as if nothing had happened");
        }
        let others: Vec<Seen> =
            ranks(world_after).map(|o| seen(&Loader::resume(&set, o, &state).unwrap(), drawn_epoch)).collect();
        prop_assert!(others.iter().all(|rank| rank.len() == others[0].len()));
        let mut both = counted(&all, 0..stop);
        both.extend(counted(&others, 0..others[0].len()));
        missed(both, world_after)?;
    }

    /// Every policy with every rule, against what each clip should give.
    #[test]
    fn every_policy_gives_each_clip_its_frames_and_masks(
        lengths in prop::collection::vec(1u32..10, 1..10),
        (count, stride) in (1u32..7, 1u32..4),
        rule in 0usize..5,
        short in prop::sample::select(vec![ShortClips::Repeat, ShortClips::Pad, ShortClips::Skip]),
        order in prop::sample::select(vec![Order::Sequential, Order::Shuffled]),
    ) {
        let run = Frames::run(count).with_stride(stride);
        let windows = Frames::windows(count).with_stride(stride).with_hop(100);
        let rules = [Frames::uniform(count), Frames::random(count), run.clone(), run.with_at(Start::Center), windows];
        let frames = rules[rule].clone();
        let (_folder, dir) = of_lengths(&lengths);
        let o = LoaderOptions {
            frames: frames.with_short(short),
            order,
            ..options(1, (2, 2))
        };
        let set = Dataset::open(&dir).unwrap();
        let loader = match Loader::new(&set, o) {
            Ok(loader) => loader,
            Err(e) => {
                prop_assert!(short == ShortClips::Skip && e.to_string().contains("all its clips are skipped"), "{e}");
                return Ok(());
            }
        };
        let needs = if rule < 2 { count } else { (count - 1) * stride + 1 };
        let is_short = |clip: u64| lengths[clip as usize] < needs;
        let batches = epoch(&loader, 3);
        let mut clips: Vec<u64> = batches.iter().map(|b| b.clips[0]).collect();
        clips.sort_unstable();
        let all = 0..lengths.len() as u64;
        let expected: Vec<u64> = all.clone().filter(|&clip| short != ShortClips::Skip || !is_short(clip)).collect();
        prop_assert_eq!(&clips, &expected);
        let stats = loader.stats();
        prop_assert_eq!(stats.short_clips, all.filter(|&clip| is_short(clip)).count() as u64);
        prop_assert_eq!(stats.skipped_clips, lengths.len() as u64 - clips.len() as u64);
        for batch in &batches {
            let (clip, n, params) = (batch.clips[0], lengths[batch.clips[0] as usize], &batch.params[0]);
            prop_assert_eq!(batch.shape()[1], count as usize);
            prop_assert!(params.frames.iter().all(|&t| t < n) && params.frames.is_sorted());
            let meant = batch.frame_mask.iter().filter(|&&meant| meant).count() as u32;
            let there = if rule < 2 { n } else { n.div_ceil(stride) };
            prop_assert_eq!(meant, if is_short(clip) { there } else { count }, "clip of {} frames", n);
            prop_assert_eq!(params.frames.len() as u32, if short == ShortClips::Pad { meant } else { count });
            let mut meant_frames: Vec<u32> =
                params.frames.iter().zip(&batch.frame_mask).filter(|(_, meant)| **meant).map(|(&t, _)| t).collect();
            meant_frames.dedup();
            prop_assert_eq!(meant_frames.len() as u32, meant, "no frame is meant twice");
        }
    }

    /// `Drop` gives whole batches only and no clip twice; `Wrap` gives all clips, and masks that are all true.
    #[test]
    fn incomplete_buckets_are_dropped_or_wrapped(
        lengths in prop::collection::vec(1u32..10, 1..14), batch_size in 1u32..4, wrap in any::<bool>(),
    ) {
        let (_folder, dir) = of_lengths(&lengths);
        let last = if wrap { LastBatch::Wrap } else { LastBatch::Drop };
        let o = LoaderOptions {
            frames: Frames::all(),
            batching: Some(Batching::Buckets { lengths: vec![4, 9] }),
            order: Order::Shuffled, last,
            ..options(batch_size, (2, 2))
        };
        let batches = match Loader::new(&Dataset::open(&dir).unwrap(), o) {
            Ok(loader) => seen(&loader, 0),
            Err(e) => {
                prop_assert!(!wrap && e.to_string().contains("there is no batch"), "{e}");
                Vec::new()
            }
        };
        let clips: Vec<u64> = batches.iter().flat_map(|(_, clips, _)| clips.iter().map(|(clip, _)| *clip)).collect();
        prop_assert!(batches.iter().all(|(_, clips, _)| clips.iter().all(|(_, counts)| *counts)));
        let mut different = clips.clone();
        different.sort_unstable();
        different.dedup();
        let size = batch_size as usize;
        let of_bucket = |long: bool| lengths.iter().filter(|&&n| (n > 4) == long).count();
        if wrap {
            prop_assert_eq!(different.len(), lengths.len());
            prop_assert_eq!(batches.len(), [false, true].map(|b| of_bucket(b).div_ceil(size)).iter().sum::<usize>());
        } else {
            prop_assert_eq!(different.len(), clips.len());
            prop_assert_eq!(batches.len(), [false, true].map(|b| of_bucket(b) / size).iter().sum::<usize>());
        }
    }
}
