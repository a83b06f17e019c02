//! Mixes of data sets of which some are remote: the same batches, bit for bit, and merged requests.

use vidrec::order::Order;
use vidrec::{Dataset, Loader, LoaderOptions, Mix, MixOptions};

use crate::common::data_set_server::{Served, with_memory};
use crate::common::options;
use crate::common::sample_data_sets;
use crate::remote_reading::equal::clips_to_epoch_3;

fn mix(sets: [&Dataset; 3], samples: u64) -> Mix {
    let named = ["a", "b", "c"].into_iter().zip(sets).zip([0.5, 0.3, 0.2]);
    let named = named.map(|((name, set), weight)| (name, set.clone(), weight));
    Mix::new(named, MixOptions { samples_per_epoch: Some(samples), window: 10, ..MixOptions::default() }).unwrap()
}

fn served() -> [Served; 3] {
    [&[24][..], &[9, 1, 7], &[4]].map(|shards| Served::new(sample_data_sets::small(shards)))
}

fn ordered(order: Order) -> LoaderOptions {
    LoaderOptions { seed: 3, order, ..options(5, (32, 24)) }
}

#[test]
fn batches_are_those_of_local_sources_in_any_order_and_memory() {
    let served = served();
    let local = [0, 1, 2].map(|i| served[i].local());
    let here = mix([&local[0], &local[1], &local[2]], 35);
    for order in [Order::Shuffled, Order::Blocks { block: 5, window: 2 }] {
        for memory in [100, 15_000, 2 << 30] {
            let remote = [0, 1].map(|i| served[i].open_with(with_memory(memory)).unwrap());
            // The third stays on this machine.
            let there = mix([&remote[0], &remote[1], &local[2]], 35);
            let [ours, theirs] = [&there, &here].map(|mix| Loader::mix(mix, ordered(order.clone())).unwrap());
            let mut count = 0;
            for (ours, theirs) in ours.iter(0..3).unwrap().zip(theirs.iter(0..3).unwrap()) {
                let (ours, theirs) = (ours.unwrap_or_else(|e| panic!("{order} {memory}: {e:#}")), theirs.unwrap());
                assert!(*ours == *theirs && ours.state() == theirs.state(), "{order} {memory}");
                count += 1;
            }
            assert_eq!(count, 21);
            let state = theirs.state(1, 3);
            let rest = |mix: &Mix| -> Vec<_> {
                let loader = Loader::resume_mix(mix, ordered(order.clone()), &state).unwrap();
                loader.iter(1).unwrap().map(|batch| batch.unwrap().into_batch()).collect()
            };
            assert!(rest(&there) == rest(&here), "{order} {memory}: resumed");
        }
    }
}

#[test]
fn a_run_keeps_the_orders_of_its_sources_when_they_move() {
    let served = served();
    let local = [0, 1, 2].map(|i| served[i].local());
    let remote = [0, 1, 2].map(|i| served[i].open_with(with_memory(2 << 30)).unwrap());
    let [here, there] = [&local, &remote].map(|sets| mix([&sets[0], &sets[1], &sets[2]], 35));
    for (from, to) in [(&here, &there), (&there, &here)] {
        let before = Loader::mix(from, ordered(Order::Sequential)).unwrap();
        let after = Loader::resume_mix(to, ordered(Order::Sequential), &before.state(1, 2)).unwrap();
        assert_eq!(clips_to_epoch_3(&after), clips_to_epoch_3(&before)[35 + 10..]);
    }
}
