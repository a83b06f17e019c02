//! Batches made ahead: order, errors, memory, and what happens when nobody wants them any more.

use crate::common::until::until;
use crate::common::{loader, options, set};
use vidrec::order::Order;
use vidrec::{Batch, Dataset, LoaderOptions, Prefetch, PrefetchedBatch};

fn ahead(prefetch: u32) -> LoaderOptions {
    LoaderOptions {
        prefetch: Prefetch { batches: prefetch, ..Prefetch::default() },
        order: Order::Shuffled,
        ..options(2, (16, 16))
    }
}

fn unwrap(batch: vidrec::Result<PrefetchedBatch>) -> PrefetchedBatch {
    batch.unwrap()
}

#[test]
fn batches_made_ahead_are_those_made_on_demand_in_the_same_order() {
    let (_folder, dir) = set(9, 2, (32, 24));
    for (prefetch, prefetch_bytes, readahead) in [(1, 1 << 30, 0), (3, 1 << 30, 2), (8, 1, 9)] {
        let loader = loader(
            &dir,
            LoaderOptions {
                prefetch: Prefetch { bytes: prefetch_bytes, readahead, ..ahead(prefetch).prefetch },
                ..ahead(prefetch)
            },
        );
        let expected: Vec<Batch> =
            (0..3).flat_map(|e| crate::common::one_by_one(&loader, e)).map(Result::unwrap).collect();
        let found: Vec<_> = loader.iter(0..3).unwrap().map(unwrap).collect();
        assert!(found.iter().map(|b| (b.epoch(), b.number())).eq((0..3).flat_map(|e| (0..5).map(move |k| (e, k)))));
        assert!(found.into_iter().map(PrefetchedBatch::into_batch).eq(expected));
        assert_eq!(loader.stats().ready, 0);
    }
}

#[test]
fn the_next_epoch_uses_the_memory_of_the_last_but_for_what_is_held() {
    let (_folder, dir) = set(10, 1, (32, 24));
    let loader = loader(&dir, ahead(2));
    let (mut memory, mut held) = (Vec::new(), Vec::new());
    for epoch in 0..20 {
        for batch in loader.iter(epoch).unwrap().map(unwrap) {
            memory.push(batch.data.bytes().as_ptr());
            if (epoch, batch.number()) == (3, 4) || (epoch, batch.number()) == (7, 1) {
                held.push(batch);
            }
        }
    }
    memory.sort_unstable();
    memory.dedup();
    assert!(memory.len() <= 3 + held.len(), "two ahead, one in use, and those held: {}", memory.len());
    for batch in &held {
        assert_eq!(**batch, loader.batch(batch.epoch(), batch.number()).unwrap());
    }
}

#[test]
fn work_that_nobody_wants_any_more_ends_soon() {
    let (_folder, dir) = set(64, 4, (160, 120));
    let loader = loader(&dir, ahead(2));
    let mut made = 0;
    for taken in [0, 1, 3] {
        let mut batches = loader.iter(0..1_000_000).unwrap();
        let kept: Vec<_> = batches.by_ref().take(taken).map(unwrap).collect();
        // Returns when the thread has ended, and there is work for hours.
        drop(batches);
        made += taken as u64;
        assert_eq!(kept.len(), taken, "batches outlive what made them");
        assert!(loader.stats().batches <= made + 3, "two ahead, and one that was begun: {:?}", loader.stats());
        made = loader.stats().batches;
    }
    assert_eq!(loader.stats().ready, 0);
}

#[test]
fn a_loader_may_go_before_its_batches() {
    let (_folder, dir) = set(6, 1, (32, 24));
    let batches = loader(&dir, ahead(2)).iter(0).unwrap();
    assert_eq!(batches.map(unwrap).count(), 3);
}

#[test]
fn no_epochs_are_no_batches() {
    let (_folder, dir) = set(2, 1, (16, 16));
    assert_eq!(loader(&dir, ahead(2)).iter(3..3).unwrap().count(), 0);
}

#[test]
fn the_counters_add_up() {
    let (_folder, dir) = set(10, 3, (32, 24));
    let loader = loader(&dir, ahead(2));
    loader.iter(0).unwrap().for_each(|batch| drop(batch.unwrap()));
    let stats = loader.clone().stats();
    assert_eq!((stats.batches, stats.frames, stats.ready, stats.substituted_clips), (5, 30, 0, 0));
    let set = Dataset::open(&dir).unwrap();
    let lengths = |i| set.clip(i).unwrap().frames().map(|f| f.unwrap().jpeg().len() as u64).sum::<u64>();
    assert_eq!(stats.bytes, (0..10).map(lengths).sum::<u64>());
    assert!(serde_json::to_string(&stats).unwrap().contains("\"consumer_wait_seconds\""));
    until("the loader waits for a consumer that takes nothing", || {
        let batches = loader.iter(1).unwrap();
        until("two batches are ready", || loader.stats().ready == 2);
        drop(batches);
        loader.stats().producer_wait_seconds > 0.0
    });
}
