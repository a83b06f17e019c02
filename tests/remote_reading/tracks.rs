//! Tracks, cameras and mixes with tracks of remote data sets: the batches of local ones, what they cost, and damage.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;
use vidrec::order::Order;
use vidrec::{
    ClipInfo, Dataset, ErrorKind, FrameData, JsonObject, Loader, LoaderOptions, Missing, SoundCoding, Track, TrackHow,
    TrackTimes, TrackValues, TrackWindow, Writer, WriterOptions,
};

use crate::common::served::{Served, epoch, with_memory};
use crate::common::{jpeg, names, options, says};
use crate::remote_reading::equal::{of_order, orders, same};

const SIZE: (u32, u32) = (48, 32);
const MS: i64 = 1_000_000;

/// Shards of so many clips of 3 frames, two cameras of each episode in turn. Every third clip has no caption.
fn write(shards: &'static [u32]) -> impl Fn(&Path) {
    move |dir| {
        let mut writer = Writer::create(dir, WriterOptions::default()).unwrap();
        let mut c = 0;
        for &clips in shards {
            for _ in 0..clips {
                let camera = ["front", "wrist"][c as usize % 2];
                let attributes = json!({"episode": c / 2, "camera": camera});
                let attributes = JsonObject::of(attributes).unwrap();
                let (width, height) = SIZE;
                let label = Some(c % 5);
                let info = ClipInfo { attributes, label, width, height, time_base: (1, 10), ..ClipInfo::default() };
                let jpegs: Vec<_> = (0..3).map(|t| jpeg(SIZE, c * 10 + t)).collect();
                let frames: Vec<_> =
                    (0..).zip(&jpegs).map(|(pts, jpeg)| FrameData { jpeg, pts, source_index: None }).collect();
                writer.append_with_tracks(&info, &frames, &tracks(c)).unwrap();
                c += 1;
            }
            writer.next_shard().unwrap();
        }
        writer.finish().unwrap();
    }
}

fn tracks(c: u32) -> Vec<Track> {
    let named = |name: &str, values, times| Track { name: name.into(), values, times, ..Track::default() };
    let state = (0..20).map(|i| (c * 100 + i) as f32 * 0.3).collect();
    let mut tracks = vec![
        Track {
            shape: vec![2],
            ..named("state", TrackValues::F32(state), TrackTimes::Times((0..10).map(|i| i * 37 * MS).collect()))
        },
        Track {
            coding: SoundCoding::Raw,
            ..named("sound", TrackValues::I16(sound(c)), TrackTimes::Rate { first_ns: 0, rate: (10_000, 1) })
        },
    ];
    if c % 3 != 2 {
        let texts = vec![format!("up {c}"), "down".into()];
        let times = TrackTimes::Spans { starts: vec![0, 100 * MS], ends: vec![100 * MS, 400 * MS] };
        tracks.push(named("caption", TrackValues::Texts(texts), times));
    }
    tracks
}

/// Numbers that no other clip has, so many that the ends of a file are not all of it.
fn sound(c: u32) -> Vec<i16> {
    (0..3000).map(|i| ((i * 37 + c * 1013) % 30_011) as i16).collect()
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().len()
}

fn with_tracks(options: LoaderOptions) -> LoaderOptions {
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
    let served = Served::new(write(&[9, 1, 8]));
    let local = served.local();
    for order in orders(&local) {
        for (threads, memory) in [(4, 2 << 30), (2, 15_000)] {
            // A window of blocks has to fit.
            let memory = if matches!(order, Order::Blocks { .. }) { memory.max(90_000) } else { memory };
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
    let served = Served::new(write(&[40, 40]));
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

#[test]
fn damage_to_a_track_that_stays_is_an_error_with_its_place() {
    let served = Served::new(write(&[9, 8]));
    let path = names::file(served.dir(), "shard-00001.vtrk");
    let whole = std::fs::read(&path).unwrap();
    let numbers: Vec<u8> = sound(13).into_iter().flat_map(i16::to_le_bytes).collect();
    let at = whole.windows(numbers.len()).position(|window| window == numbers).unwrap();
    let mut damaged = whole.clone();
    damaged[at + 5] ^= 1;
    std::fs::write(&path, damaged).unwrap();
    let o = with_tracks(of_order(Order::Sequential, options(3, (24, 16))));
    let set = served.open().unwrap();
    let local = epoch(&served.local(), &o, 0).unwrap_err();
    let e = epoch(&set, &o, 0).unwrap_err();
    assert_eq!((e.kind(), e.rule(), e.clip()), (ErrorKind::Format, Some("track-crc"), Some(13)), "{e:#}");
    assert_eq!((e.rule(), e.clip(), e.offset()), (local.rule(), local.clip(), local.offset()));
    says("track", &e, &["set/shard-00001", ".vtrk", "\"sound\"", "CRC-32"]);
    assert!(e.path().unwrap().to_str().unwrap().starts_with(&served.url()), "{e:#}");
    assert!(set.clip(13).unwrap().track("state").unwrap().is_some(), "the other tracks are intact");
    assert!(set.clip(12).unwrap().track("sound").unwrap().is_some());
    // Both ends are proven before anything is read.
    for at in [9, whole.len() - 20] {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(&path, damaged).unwrap();
        let remote = served.open().and_then(|set| epoch(&set, &o, 0)).unwrap_err();
        let local = Dataset::open(served.dir()).unwrap_err();
        assert_eq!((remote.kind(), remote.rule()), (local.kind(), local.rule()), "{remote:#}");
        says("ends", &remote, &["shard-00001", ".vtrk"]);
    }
}
