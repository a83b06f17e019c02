//! Runs that stop and go on: at every batch, with other batch sizes, on other numbers of ranks.

use std::sync::Arc;

use crate::common::{counted, loader, options, set};
use vidrec::order::{Order, Weights};
use vidrec::{Crop, Dataset, Dtype, Frames, LastBatch, Loader, LoaderOptions, LoaderState, Prefetch};

const CLIPS: u64 = 23;

fn shuffled(batch_size: u32, rank: u32, world_size: u32) -> LoaderOptions {
    LoaderOptions {
        seed: 5,
        threads: Some(1),
        order: Order::Shuffled,
        rank: (rank, world_size),
        ..options(batch_size, (8, 8))
    }
}

/// All clips that count from a loader's first epoch to the end of epoch 1, in order.
fn rest(loader: &Loader) -> Vec<u64> {
    let batches = |epoch| (0..loader.batches_in(epoch)).map(move |k| (epoch, k));
    (loader.first_epoch()..2)
        .flat_map(batches)
        .flat_map(|(epoch, k)| counted(&loader.batch(epoch, k).unwrap()))
        .collect()
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
            (0..stop).for_each(|k| ranks.iter().for_each(|rank| seen.extend(counted(&rank.batch(0, k).unwrap()))));
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
            seen.extend(counted(&batch));
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
    let dense = LoaderOptions { frames: Frames::windows(2), ..shuffled(2, 0, 1) };
    assert!(refused(&set, dense, &state).contains("other options: frames"));
    let longer = LoaderState { samples: 5, ..state.clone() };
    assert!(refused(&set, shuffled(2, 0, 1), &longer).contains("other options: samples"));
    assert!(refused(&set, shuffled(2, 0, 1), &LoaderState { consumed: 5, ..state }).contains("at most 4"));
}

#[test]
fn a_state_says_how_the_run_loaded_and_other_options_are_refused_by_name() {
    let (_folder, dir) = set(4, 3, (16, 16));
    let set = Dataset::open(&dir).unwrap();
    let usual = || shuffled(2, 0, 1);
    let state = loader(&dir, usual()).state(0, 1);
    let resume = |options: LoaderOptions| Loader::resume(&set, options, &state).map(drop).map_err(|e| e.to_string());
    for may_differ in [
        shuffled(3, 1, 2),
        LoaderOptions { threads: None, prefetch: Prefetch { batches: 1, bytes: 9, readahead: 0 }, ..usual() },
    ] {
        resume(may_differ).unwrap();
    }
    for (options, named) in [
        (LoaderOptions { crop: Crop::center((9, 8)), ..usual() }, "crop"),
        (LoaderOptions { dtype: Dtype::F16, ..usual() }, "dtype"),
        (LoaderOptions { crop: Crop::random((8, 8)), ..usual() }, "crop"),
        (LoaderOptions { flip: 0.5, ..usual() }, "flip"),
        (LoaderOptions { frames: Frames::uniform(2), ..usual() }, "frames"),
        (LoaderOptions { last: LastBatch::Wrap, ..usual() }, "last"),
    ] {
        let e = resume(options).unwrap_err();
        assert!(e.contains(&format!("other options: {named}: expected {named} ")), "{e}");
        assert!(e.contains(&format!("found {named} ")), "{e}");
    }
    let e = resume(LoaderOptions { order: Order::List([0, 1, 2, 3].into()), flip: 0.5, ..usual() });
    let e = e.unwrap_err();
    assert!(e.contains("other options: flip, order") && e.contains("flip 0.0, order \"Shuffled\""), "{e}");
}

#[test]
fn orders_that_are_written_as_digests_are_compared_all_the_same() {
    let (_folder, dir) = set(4, 1, (16, 16));
    let set = Dataset::open(&dir).unwrap();
    let of = |order: Order| LoaderOptions { order, ..shuffled(2, 0, 1) };
    let given = |samples: &[u64]| of(Order::List(samples.into()));
    let weighted = |weights: &[f64]| of(Order::Weighted(Arc::new(Weights::new(weights).unwrap())));
    for (before, same, other) in [
        (given(&[3, 1, 2, 0]), given(&[3, 1, 2, 0]), given(&[3, 1, 0, 2])),
        (weighted(&[1.0, 2.0, 3.0, 4.0]), weighted(&[2.0, 4.0, 6.0, 8.0]), weighted(&[1.0; 4])),
    ] {
        let state = Loader::new(&set, before).unwrap().state(0, 1);
        Loader::resume(&set, same, &state).unwrap();
        let e = Loader::resume(&set, other, &state).unwrap_err().to_string();
        assert!(e.contains("other options: order"), "{e}");
    }
}

/// The order of `shuffle` depends on where the data set is, but a run keeps its own.
#[test]
fn a_run_that_resumes_keeps_the_order_that_was_best_before() {
    let (_folder, dir) = set(CLIPS as u32, 1, (16, 16));
    let set = Dataset::open(&dir).unwrap();
    let auto = |batch_size| LoaderOptions { shuffle: true, order: Order::Sequential, ..shuffled(batch_size, 0, 1) };
    let explicit = |order| LoaderOptions { order, ..shuffled(4, 0, 1) };
    assert_eq!(rest(&loader(&dir, auto(4))), rest(&loader(&dir, shuffled(4, 0, 1))), "a local one is shuffled exactly");
    let order = Order::Homes { homes: Some(1), exchange: 1.0, block: 3, window: 2 };
    let remote = loader(&dir, explicit(order));
    let resumed = Loader::resume(&set, auto(3), &remote.state(0, 2)).unwrap();
    assert_eq!(rest(&resumed), rest(&remote)[8..]);
    let e = Loader::new(&set, LoaderOptions { shuffle: true, ..shuffled(4, 0, 1) }).unwrap_err().to_string();
    assert!(e.contains("option order") && e.contains("shuffle"), "{e}");
}
