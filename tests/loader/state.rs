//! Runs that stop and go on: at every batch, with other batch sizes, on other numbers of ranks.

use crate::common::{loader, options, set};
use vidrec::order::Order;
use vidrec::{Dataset, Frames, LastBatch, Loader, LoaderOptions, LoaderState, Prefetch, Sampling, Temporal};

const CLIPS: u64 = 23;

fn shuffled(batch_size: u32, rank: u32, world_size: u32) -> LoaderOptions {
    LoaderOptions {
        seed: 5,
        threads: Some(1),
        sampling: Sampling { order: Order::Shuffled, rank, world_size, ..Sampling::default() },
        ..options(batch_size, (8, 8))
    }
}

/// Clips of batch `k` that count.
fn clips(loader: &Loader, epoch: u64, k: u64) -> Vec<u64> {
    let batch = loader.batch(epoch, k).unwrap();
    batch.clips.iter().zip(&batch.mask).filter(|(_, counts)| **counts).map(|(&clip, _)| clip).collect()
}

/// All clips that count from a loader's first epoch to the end of epoch 1, in order.
fn rest(loader: &Loader) -> Vec<u64> {
    let batches = |epoch| (0..loader.batches_in(epoch)).map(move |k| (epoch, k));
    (loader.first_epoch()..2).flat_map(batches).flat_map(|(epoch, k)| clips(loader, epoch, k)).collect()
}

#[test]
fn a_run_that_stops_after_any_batch_gives_the_same_stream() {
    let (_folder, dir) = set(CLIPS as u32, 1, (16, 16));
    let set = Dataset::open(&dir).unwrap();
    let loader = loader(&dir, shuffled(4, 0, 1));
    let whole = rest(&loader);
    assert_eq!(whole.len() as u64, 2 * CLIPS);
    for epoch in 0..2 {
        for batches in 0..=loader.batches_in(epoch) {
            let saved = serde_json::to_string(&loader.state(epoch, batches)).unwrap();
            let state: LoaderState = serde_json::from_str(&saved).unwrap();
            let resumed = Loader::resume(&set, shuffled(4, 0, 1), &state).unwrap();
            let done = (epoch * CLIPS + (batches * 4).min(CLIPS)) as usize;
            assert_eq!(rest(&resumed), whole[done..], "epoch {epoch} after {batches}");
            assert_eq!(resumed.state(state.epoch, 0), state, "and has the state it was given");
        }
    }
}

#[test]
fn a_run_goes_on_with_other_ranks_and_batch_sizes_and_gives_each_clip_once() {
    let (_folder, dir) = set(CLIPS as u32, 1, (16, 16));
    let set = Dataset::open(&dir).unwrap();
    let order = rest(&loader(&dir, shuffled(1, 0, 1)))[..CLIPS as usize].to_vec();
    // Batch size and number of ranks, and after how many batches they stop.
    for runs in [
        vec![((3, 2), 1), ((1, 4), 2), ((2, 3), 99)],
        vec![((5, 1), 0), ((2, 5), 1), ((2, 5), 1), ((4, 2), 99)],
        vec![((7, 3), 1), ((1, 1), 1), ((1, 1), 99)],
    ] {
        let mut state = loader(&dir, shuffled(1, 0, 1)).state(0, 0);
        let mut seen = Vec::new();
        for ((batch_size, world), stop_after) in runs {
            let resume = |rank| Loader::resume(&set, shuffled(batch_size, rank, world), &state).unwrap();
            let ranks: Vec<Loader> = (0..world).map(resume).collect();
            let stop = ranks[0].batches_in(0).min(stop_after);
            (0..stop).for_each(|k| ranks.iter().for_each(|rank| seen.extend(clips(rank, 0, k))));
            assert!(ranks.iter().all(|rank| rank.state(0, stop) == ranks[0].state(0, stop)), "one state for all");
            state = ranks[0].state(0, stop);
        }
        assert_eq!(seen, order);
        assert_eq!((state.epoch, state.consumed), (1, 0));
    }
}

#[test]
fn batches_made_ahead_do_not_count_as_used() {
    let (_folder, dir) = set(CLIPS as u32, 1, (16, 16));
    let set = Dataset::open(&dir).unwrap();
    let loader = loader(
        &dir,
        LoaderOptions { prefetch: Prefetch { batches: 4, ..shuffled(4, 0, 1).prefetch }, ..shuffled(4, 0, 1) },
    );
    let whole = rest(&loader);
    let mut seen = Vec::new();
    let mut state = loader.state(0, 0);
    // Three batches, then a new process, and so on to the end.
    while state.epoch < 2 {
        let loader = Loader::resume(&set, shuffled(4, 0, 1), &state).unwrap();
        for batch in loader.iter(loader.first_epoch()..2).unwrap().take(3) {
            let batch = batch.unwrap();
            seen.extend(batch.clips.iter().zip(&batch.mask).filter(|(_, counts)| **counts).map(|(&clip, _)| clip));
            state = batch.state();
        }
    }
    assert_eq!(seen, whole);
}

#[test]
fn a_state_of_something_else_is_refused() {
    let (_folder, dir) = set(4, 3, (16, 16));
    let (_other_folder, other) = set(4, 2, (16, 16));
    let (set, other) = (Dataset::open(&dir).unwrap(), Dataset::open(&other).unwrap());
    let state = loader(&dir, shuffled(2, 0, 1)).state(0, 1);
    assert_eq!((state.consumed, state.samples, state.dataset.clips), (2, 4, 4));
    let refused = |set, options, state: &LoaderState| Loader::resume(set, options, state).err().unwrap().to_string();
    assert!(refused(&other, shuffled(2, 0, 1), &state).contains("a different data set"));
    assert!(refused(&set, LoaderOptions { seed: 6, ..shuffled(2, 0, 1) }, &state).contains("seed"));
    let dense = LoaderOptions {
        frames: Frames::Fixed(2),
        temporal: Temporal::Dense { stride: 1, hop: 1 },
        ..shuffled(2, 0, 1)
    };
    assert!(refused(&set, dense, &state).contains("length"));
    assert!(refused(&set, shuffled(2, 0, 1), &LoaderState { consumed: 5, ..state }).contains("at most 4"));
}

#[test]
fn dropped_clips_end_an_epoch_all_the_same() {
    let (_folder, dir) = set(5, 1, (16, 16));
    let loader = loader(
        &dir,
        LoaderOptions {
            sampling: Sampling { last: LastBatch::Drop, ..shuffled(2, 0, 1).sampling },
            ..shuffled(2, 0, 1)
        },
    );
    assert_eq!(loader.batches_in(0), 2);
    let state = loader.state(0, 2);
    assert_eq!((state.epoch, state.consumed), (1, 0));
}
