//! Tracks, cameras and mixes with tracks of remote data sets: the batches of local ones, and what they cost.

use std::collections::BTreeMap;
use std::path::Path;

use vidrec::order::Order;
use vidrec::{Dataset, Loader, LoaderOptions, Missing, TrackHow, TrackWindow};

use crate::common::data_set_server::{Served, with_memory};
use crate::common::{options, sample_data_sets};
use crate::remote_reading::equal::{of_order, orders, same};

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().len()
}

pub fn with_tracks(options: LoaderOptions) -> LoaderOptions {
    let window = |start, end, rate: Option<&str>| TrackWindow {
        window: Some((start, end)),
        rate: rate.map(|rate| rate.parse().unwrap()),
        missing: Missing::Mask,
        ..TrackWindow::default()
    };
    let tracks = [
        ("state", TrackWindow { how: TrackHow::Linear, ..window(-0.1, 0.2, Some("50")) }),
        ("sound", window(0.0, 0.1, None)),
        ("caption", TrackWindow { missing: Missing::Mask, ..TrackWindow::default() }),
    ];
    let tracks: BTreeMap<_, _> = tracks.into_iter().map(|(name, window)| (name.to_owned(), window)).collect();
    LoaderOptions { tracks, ..options }
}

#[test]
fn batches_with_tracks_are_those_of_a_local_data_set() {
    let served = Served::new(sample_data_sets::tracked(&[9, 1, 8]));
    let local = served.local();
    for order in orders(&local) {
        for (threads, memory) in [(4, 2 << 30), (2, 15_000)] {
            // A window of blocks has to fit.
            let memory = if matches!(order, Order::Blocks { .. }) { memory.max(180_000) } else { memory };
            let remote = served.open_with(with_memory(memory)).unwrap();
            let o =
                LoaderOptions { threads: Some(threads), ..with_tracks(of_order(order.clone(), options(5, (24, 16)))) };
            same(&format!("{order} {threads} {memory}"), &local, &remote, &o);
        }
    }
    for clip in 0..local.len() {
        let bytes = |set: &Dataset| {
            let tracks = set.clip(clip).unwrap().tracks().unwrap().all().unwrap();
            tracks.iter().map(|t| (t.name().to_owned(), t.number_bytes().map(<[u8]>::to_vec))).collect::<Vec<_>>()
        };
        assert_eq!(bytes(&served.open().unwrap()), bytes(&local));
    }
}

/// Files are opened when the loader is made: their two ends. Then blocks of clips that are stored together come together.
#[test]
fn an_epoch_of_stored_order_takes_few_requests_for_tracks() {
    let served = Served::new(sample_data_sets::tracked(&[40, 40]));
    let plain = of_order(Order::Sequential, options(8, (24, 16)));
    let requests = |o: &LoaderOptions| {
        let set = served.open().unwrap();
        let loader = Loader::new(&set, o.clone()).unwrap();
        let opening: Vec<_> = served.log(".vtrk").into_iter().map(|(path, e)| e.asked(length(&path))).collect();
        served.server.reset_counts();
        let batches: Vec<_> = loader.iter(0).unwrap().map(|batch| batch.unwrap().into_batch()).collect();
        let log = served.server.take_log();
        let of = |ending: &str| log.iter().filter(|exchange| exchange.path.ends_with(ending)).count();
        assert_eq!(batches.len(), 10);
        (opening, of(".vtrk"), of(".rec"))
    };
    let (none, without, records) = requests(&plain);
    let none = none.len();
    let (opening, with, with_records) = requests(&with_tracks(plain));
    assert_eq!((none, without), (0, 0), "who asks for no tracks pays for none");
    // Both ends of each file, and tracks of a clip, for the rate of its sound.
    assert!(opening.len() <= 2 * 2 + 1, "two files are opened by {opening:?}");
    assert!(with <= records.max(4), "{with} requests for tracks, {records} for records");
    assert!(with_records <= records + 2, "{with_records} requests for records with tracks, {records} without");
}
