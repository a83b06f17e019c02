//! What reading costs: requests and bytes, as the server counts them.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;

use fault_proxy::{Fault, Rule};
use vidrec::order::Order;
use vidrec::{Dataset, LoaderOptions};

use crate::common::data_set_server::{Served, epoch, with_memory};
use crate::common::options;
use crate::common::sample_data_sets;
use crate::remote_reading::equal::{of_order, orders};

/// The end of an index and the heads of its files, which opening reads.
const OPENING: u64 = (128 << 10) + 3 * (4 << 10);

#[test]
fn opening_costs_the_same_for_any_number_of_clips() {
    let costs = [10, 100, 5000].map(|clips| {
        let served = Served::new(sample_data_sets::tiny(&[clips]));
        let set = served.open().unwrap();
        assert_eq!((set.len(), set.frame_count()), (clips.into(), clips.into()));
        let counts = served.server.counts();
        let stats = set.remote_stats().unwrap();
        assert_eq!((stats.requests, stats.fetched_bytes), (counts.requests, counts.body_bytes));
        let json = std::fs::metadata(served.dir().join("dataset.json")).unwrap().len();
        assert!(counts.body_bytes <= OPENING + (64 << 10) + json, "{clips}: {counts:?}");
        counts.requests
    });
    assert!(costs.iter().all(|&requests| requests <= 5), "{costs:?}");
    assert_eq!(costs[1], costs[2]);
}

#[test]
fn a_clip_of_one_of_many_shards_opens_only_that_one() {
    let served = Served::new(sample_data_sets::tiny(&[3; 20]));
    let set = served.open().unwrap();
    let opened = served.server.take_log();
    assert!(opened.iter().all(|e| e.path.contains("dataset.json") || e.path.contains("shard-00000")), "{opened:?}");
    assert_eq!(set.clip(31).unwrap().source().unwrap(), "videos/31.mp4");
    let log = served.server.take_log();
    assert!(!log.is_empty() && log.iter().all(|e| e.path.contains("shard-00010")), "{log:?}");
}

/// Where the records of each clip are in its record file.
fn places(set: &Dataset) -> Vec<Range<u64>> {
    let of = |i: u64| {
        let clip = set.clip(i).unwrap();
        let frames: Vec<_> = clip.frames().map(Result::unwrap).collect();
        let end = frames.last().map(|f| f.offset() + 32 + (f.jpeg().len() as u64 + 24).next_multiple_of(4)).unwrap();
        frames[0].offset()..end
    };
    (0..set.len()).map(of).collect()
}

/// The stretches of record files that were sent, by file.
fn sent(served: &Served) -> HashMap<PathBuf, Vec<Range<u64>>> {
    let mut sent: HashMap<_, Vec<_>> = HashMap::new();
    for (path, exchange) in served.log(".rec") {
        let length = std::fs::metadata(&path).unwrap().len();
        sent.entry(path).or_default().push(exchange.asked(length));
    }
    sent.values_mut().for_each(|ranges| ranges.sort_unstable_by_key(|range| range.start));
    sent
}

fn bytes<'a>(ranges: impl IntoIterator<Item = &'a Range<u64>>) -> u64 {
    ranges.into_iter().map(|range| range.end - range.start).sum()
}

/// An epoch, after which the server's log has only what it asked for.
fn run(served: &Served, set: &Dataset, options: &LoaderOptions) -> Vec<u64> {
    served.server.reset_counts();
    epoch(set, options, 0).unwrap().into_iter().flat_map(|batch| batch.clips).collect()
}

#[test]
fn an_epoch_downloads_its_clips_once_in_each_order() {
    let served = Served::new(sample_data_sets::large(&[80]));
    let local = served.local();
    let places = places(&local);
    for order in orders(&local) {
        let set = served.open().unwrap();
        let clips = run(&served, &set, &of_order(order.clone(), options(8, (16, 16))));
        let sent = sent(&served).into_values().next().unwrap();
        // Where a clip comes again, it may be asked for again.
        let mut used: Vec<_> = clips.iter().map(|&clip| places[clip as usize].clone()).collect();
        if !matches!(order, Order::Weighted(_) | Order::List(_)) {
            let twice = sent.windows(2).find(|two| two[0].end > two[1].start);
            assert!(twice.is_none(), "{order}: twice {twice:?}");
            used.dedup();
        }
        assert!(bytes(&sent) * 100 <= bytes(&used) * 105, "{order}: {} for {}", bytes(&sent), bytes(&used));
    }
}

#[test]
fn random_frames_of_a_clip_are_fetched_without_those_between_them() {
    let served = Served::new(sample_data_sets::long(&[40]));
    let set = served.open().unwrap();
    let frames = vidrec::Frames::random(8);
    let o = LoaderOptions { frames, ..of_order(Order::Shuffled, options(4, (16, 16))) };
    run(&served, &set, &o);
    let sent = sent(&served).into_values().next().unwrap();
    let needed = bytes(&places(&served.local())) / 2;
    assert!(bytes(&sent) * 100 <= needed * 110, "{} for {needed}", bytes(&sent));
    assert!(sent.len() <= 40 * 7, "{}", sent.len());
}

#[test]
fn requests_of_neighbors_are_merged() {
    let served = Served::new(sample_data_sets::large(&[240]));
    let requests = |order: Order, memory| {
        let set = served.open_with(with_memory(memory)).unwrap();
        run(&served, &set, &of_order(order, options(10, (16, 16))));
        sent(&served).into_values().next().unwrap()
    };
    let largest = |ranges: &[Range<u64>]| ranges.iter().map(|range| range.end - range.start).max().unwrap();
    // The first batch comes alone, and leaves gaps in its block.
    let blocks = requests(Order::Blocks { block: 120, window: 1 }, 1 << 30);
    assert!(blocks.len() <= 30, "{}", blocks.len());
    assert!((6 << 20..=12 << 20).contains(&largest(&blocks)), "{}", largest(&blocks));
    let sequential = requests(Order::Sequential, 1 << 30);
    assert!(sequential.len() <= 8, "{}", sequential.len());
    // Of few clips at a time, none are neighbors.
    let shuffled = requests(Order::Shuffled, 8 << 20);
    assert!(shuffled.len() > 150 && shuffled.len() <= 240, "{}", shuffled.len());
}

#[test]
fn retries_are_counted() {
    let served = Served::new(sample_data_sets::large(&[40]));
    let set = served.open_with(with_memory(1 << 20)).unwrap();
    served.server.rules().add(Rule::new(Fault::Short { after: 5000 }).path(".rec").every(8));
    let o = of_order(Order::Shuffled, options(5, (16, 16)));
    let expected = epoch(&served.local(), &o, 0).unwrap();
    served.server.reset_counts();
    assert!(epoch(&set, &o, 0).unwrap() == expected);
    let (stats, faults) = (set.remote_stats().unwrap(), served.server.counts().faults);
    assert!(faults > 2);
    assert!(stats.retries >= faults, "{stats:?} {faults}");
    // What arrived before the answer broke off is not asked for again.
    let length = std::fs::metadata(crate::common::names::file(served.dir(), "shard-00000.rec")).unwrap().len();
    assert!(stats.fetched_bytes < length * 110 / 100, "{stats:?}");
    assert_eq!(stats, vidrec::Loader::new(&set, o).unwrap().stats().remote.unwrap());
}
