//! Tracks, cameras and mixes with tracks of remote data sets: the batches of local ones, and what they cost.

use std::collections::BTreeMap;
use std::path::Path;

use vidrec::edit::TrackAdder;
use vidrec::order::Order;
use vidrec::{Dataset, JsonObject, Loader, LoaderOptions, Missing, Track, TrackHow, TrackValues, TrackWindow};

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

/// A file that was added is read like the others, and who does not ask for what is in it does not pay for it.
#[test]
fn added_tracks_and_attributes_are_those_of_a_local_data_set() {
    let served = Served::new(sample_data_sets::tracked(&[9, 8]));
    let mut adder = TrackAdder::open(served.dir(), true).unwrap();
    for c in 0..17u16 {
        let values = TrackValues::U16((0..3 * 4000).map(|i| i ^ c).collect());
        let latents = Track { name: "latents".into(), values, shape: vec![4000], ..Track::default() };
        let attributes = JsonObject::of(serde_json::json!({"score": f64::from(c) / 4.0, "camera": null})).unwrap();
        adder.add(&[latents], &attributes).unwrap();
    }
    adder.finish().unwrap();
    let local = served.local();
    let latents = BTreeMap::from([("latents".to_owned(), TrackWindow::default())]);
    let fields = vec!["score".to_owned(), "episode".to_owned()];
    for (tracks, fields) in [(latents.clone(), vec![]), (BTreeMap::new(), fields.clone()), (latents, fields)] {
        for (order, memory) in [(Order::Sequential, 2 << 30), (Order::Shuffled, 60_000)] {
            let o = LoaderOptions { tracks: tracks.clone(), fields: fields.clone(), ..options(5, (24, 16)) };
            let remote = served.open_with(with_memory(memory)).unwrap();
            same(&format!("{order} {memory} {tracks:?}"), &local, &remote, &of_order(order, o));
        }
    }
    served.server.reset_counts();
    let state = of_order(Order::Sequential, options(8, (24, 16)));
    let loader = Loader::new(&served.open().unwrap(), with_tracks(state)).unwrap();
    loader.iter(0).unwrap().for_each(|batch| drop(batch.unwrap()));
    let large = served.log(".vtrk").into_iter().filter(|(path, _)| length(path) > 400_000);
    let asked: u64 = large.map(|(path, exchange)| exchange.asked(length(&path)).count() as u64).sum();
    assert!(asked < 200_000, "{asked} bytes of latents that nobody needs");
}
