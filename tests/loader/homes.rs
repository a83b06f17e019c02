//! An order with homes: ranks that read what is their own, and runs that resume on other numbers of ranks.

use std::collections::BTreeSet;

use crate::common::{counted, jpeg, loader, options, set, write};
use vidrec::order::Order;
use vidrec::{Batching, Dataset, Frames, Loader, LoaderOptions, LoaderState};

/// Ten blocks of four for each of four homes.
const CLIPS: u64 = 160;

fn homes(homes: Option<u32>, exchange: f64, (batch_size, rank, world_size): (u32, u32, u32)) -> LoaderOptions {
    let order = Order::Homes { homes, exchange, block: 4, window: 3 };
    LoaderOptions { seed: 5, threads: Some(1), order, rank: (rank, world_size), ..options(batch_size, (8, 8)) }
}

/// Clips that count of some batches of an epoch.
fn clips(loader: &Loader, epoch: u64, batches: std::ops::Range<u64>) -> Vec<u64> {
    batches.flat_map(|k| counted(&loader.batch(epoch, k).unwrap())).collect()
}

fn epoch(loader: &Loader, epoch: u64) -> BTreeSet<u64> {
    clips(loader, epoch, 0..loader.batches_in(epoch)).into_iter().collect()
}

/// Four ranks, by default a home for each, or two homes.
#[test]
fn each_rank_reads_its_home_and_what_was_exchanged() {
    let (_folder, dir) = set(CLIPS as u32, 1, (16, 16));
    for (number, exchange, foreign_at_most) in [(None, 0.0, 0), (None, 0.1, 16), (Some(2), 0.1, 16), (None, 1.0, 160)] {
        let rank = |rank, exchange| loader(&dir, homes(number, exchange, (5, rank, 4)));
        let nodes = |exchange, e| -> Vec<BTreeSet<u64>> {
            let ranks: Vec<_> = (0..4).map(|r| epoch(&rank(r, exchange), e)).collect();
            if number.is_none() { ranks } else { ranks.chunks(2).map(|pair| &pair[0] | &pair[1]).collect() }
        };
        let own = nodes(exchange, 0);
        assert_eq!(own, nodes(0.0, 3), "the first epoch has what each home owns");
        assert!(own.iter().all(|clips| clips.len() as u64 == CLIPS / own.len() as u64), "{own:?}");
        for e in 1..4 {
            let read = nodes(exchange, e);
            let all: BTreeSet<u64> = read.iter().flatten().copied().collect();
            assert!(all.into_iter().eq(0..CLIPS) && read.iter().map(BTreeSet::len).sum::<usize>() as u64 == CLIPS);
            let foreign: usize = read.iter().zip(&own).map(|(read, own)| (read - own).len()).sum();
            assert!(foreign <= foreign_at_most, "exchange {exchange}: {foreign} clips of other homes");
            assert!(exchange < 1.0 || foreign > 60, "all dealt anew: 120 expected, {foreign}");
        }
    }
}

#[test]
fn a_run_resumed_on_other_ranks_keeps_its_homes_and_gives_each_clip_once() {
    let (_folder, dir) = set(CLIPS as u32 - 7, 1, (16, 16));
    let dataset = Dataset::open(&dir).unwrap();
    for (before, after) in [((3, 4), (5, 2)), ((5, 2), (2, 4)), ((7, 1), (3, 3)), ((4, 3), (4, 4))] {
        let started: Vec<Loader> =
            (0..before.1).map(|rank| loader(&dir, homes(None, 0.3, (before.0, rank, before.1)))).collect();
        let one_after_the_other = loader(&dir, homes(Some(before.1), 0.3, (1, 0, 1)));
        for stop in [0, 1, 4] {
            let saved = serde_json::to_string(&started[0].state(1, stop)).unwrap();
            let state: LoaderState = serde_json::from_str(&saved).unwrap();
            let number = |state: &LoaderState| state.options.get::<Order>("order").unwrap().unwrap().homes();
            assert_eq!(number(&state), Some(before.1));
            let resume = |rank| Loader::resume(&dataset, homes(None, 0.3, (after.0, rank, after.1)), &state).unwrap();
            let resumed: Vec<Loader> = (0..after.1).map(resume).collect();
            let mut seen: Vec<u64> = started.iter().flat_map(|loader| clips(loader, 1, 0..stop)).collect();
            let done = seen.len() as u64;
            seen.extend(resumed.iter().flat_map(|loader| clips(loader, 1, 0..loader.batches_in(1))));
            // The rest of the order in which the epoch began, and the same homes afterwards.
            let ordered = |e, from| clips(&one_after_the_other, e, from..CLIPS - 7);
            let set = |clips: &[u64]| clips.iter().copied().collect::<BTreeSet<u64>>();
            assert_eq!(set(&seen[done as usize..]), set(&ordered(1, done)), "{before:?} {after:?} after {stop}");
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..CLIPS - 7), "{before:?} {after:?} after {stop}");
            let first_of_next: Vec<u64> = resumed.iter().flat_map(|loader| clips(loader, 2, 0..1)).collect();
            let global = u64::from(after.0 * after.1);
            assert_eq!(set(&first_of_next), set(&ordered(2, 0)[..global as usize]));
            assert_eq!(number(&resumed[0].state(2, 1)), Some(before.1));
        }
    }
}

#[test]
fn a_state_of_other_homes_is_refused_unless_the_number_was_left_to_it() {
    let (_folder, dir) = set(12, 1, (16, 16));
    let dataset = Dataset::open(&dir).unwrap();
    let state = loader(&dir, homes(Some(3), 0.1, (2, 0, 1))).state(0, 1);
    assert_eq!(state.options.get::<Order>("order").unwrap(), Some(homes(Some(3), 0.1, (2, 0, 1)).order));
    let resume = |options, state| Loader::resume(&dataset, options, state).map(drop).map_err(|e| e.to_string());
    assert!(resume(homes(Some(3), 0.1, (2, 0, 1)), &state).is_ok());
    assert!(resume(homes(None, 0.1, (2, 0, 1)), &state).is_ok());
    assert!(resume(homes(Some(2), 0.1, (2, 0, 1)), &state).unwrap_err().contains("other options: order"));
    let e = resume(homes(None, 0.2, (2, 0, 1)), &state).unwrap_err();
    assert!(e.contains("other options: order") && e.contains("0.1") && e.contains("0.2"), "{e}");
    let mut none = state.clone();
    none.options.insert("order", homes(Some(0), 0.1, (2, 0, 1)).order).unwrap();
    assert!(resume(homes(None, 0.1, (2, 0, 1)), &none).unwrap_err().contains("homes"));
}

/// Batches of a bucket have more clips of one home than of another, so ranks fill up with those of others.
#[test]
fn ranks_take_their_own_clips_first_where_there_are_buckets() {
    let clip = |i: u32| vec![jpeg((16, 16), i); if i.is_multiple_of(3) { 2 } else { 1 }];
    let (_folder, dir) = write(&(0..CLIPS as u32).map(clip).collect::<Vec<_>>(), (16, 16));
    let rank = |buckets: &[u32], rank| {
        let batching = Some(Batching::Buckets { lengths: buckets.into() }).filter(|_| !buckets.is_empty());
        let any = Frames::all();
        loader(&dir, LoaderOptions { frames: any, batching, ..homes(None, 0.0, (8, rank, 2)) })
    };
    let ranks = |buckets| -> Vec<BTreeSet<u64>> { (0..2).map(|r| epoch(&rank(buckets, r), 1)).collect() };
    let (own, read) = (ranks(&[]), ranks(&[1, 2]));
    assert!(read.iter().flatten().collect::<BTreeSet<_>>().len() as u64 == CLIPS);
    let foreign: usize = read.iter().zip(&own).map(|(read, own)| (read - own).len()).sum();
    assert!((1..=40).contains(&foreign), "80 without regard to homes: {foreign}");
}
