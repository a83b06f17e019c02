//! Tracks: reading them, and what they add to the batches of a loader. `criterion` counts clips, each with two tracks of
//! 1,000 values of 14 floats, 112 kB, unless the name says otherwise.
//!
//!     cargo bench --no-default-features --bench tracks
//!
//! `tracks/copy-and-crc` is the bar: the same bytes copied into memory that is used again and again, and their CRC-32.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use vidrec::jpeg::Encoder;
use vidrec::{
    ClipInfo, Crop, Dataset, FrameData, Frames, Loader, LoaderOptions, Planes, SoundCoding, Track, TrackHow,
    TrackTimes, TrackValues, TrackWindow, Writer, WriterOptions,
};

const CLIPS: u32 = 16;
const VALUES: usize = 1000;
const NUMBERS: usize = 14;
/// Values a second.
const RATE: u32 = 50;
/// Samples of sound a second, for an hour.
const SOUND_RATE: u32 = 16_000;
/// Of sound.
const HOUR: usize = 3600 * SOUND_RATE as usize;

fn number(i: usize) -> f32 {
    i as f32 * 0.37
}

/// Two tracks at a rate, and the same with a time for each value.
fn tracks() -> Vec<Track> {
    let values = || TrackValues::F32((0..VALUES * NUMBERS).map(number).collect());
    let even = TrackTimes::Rate { first_ns: 0, rate: (RATE, 1) };
    let listed = TrackTimes::Times((0..VALUES as i64).map(|i| i * 1_000_000_000 / i64::from(RATE)).collect());
    let track = |name: &str, times| {
        let shape = vec![NUMBERS as u32];
        Track { name: name.into(), shape, values: values(), times, ..Track::default() }
    };
    vec![
        track("action", even.clone()),
        track("state", even),
        track("timed-action", listed.clone()),
        track("timed-state", listed),
    ]
}

/// Clips of one small picture.
fn set(dir: &Path, clips: u32, tracks: &[Track]) -> Dataset {
    let mut jpeg = Vec::new();
    Encoder::new(90).unwrap().encode(&Planes::new(16, 16).unwrap(), &mut jpeg).unwrap();
    let mut writer = Writer::create(dir, WriterOptions::default()).unwrap();
    for _ in 0..clips {
        let info = ClipInfo { width: 16, height: 16, ..ClipInfo::default() };
        writer.append_with_tracks(&info, &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }], tracks).unwrap();
    }
    writer.finish().unwrap();
    Dataset::open(dir).unwrap()
}

fn reading(c: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let set = set(&folder.path().join("set"), CLIPS, &tracks());
    let mut group = c.benchmark_group("tracks");
    group.throughput(Throughput::Elements(1));
    let mut of_clip = (0..u64::from(CLIPS)).cycle();

    let mut copy = vec![0f32; VALUES * NUMBERS];
    let stored: Vec<Vec<f32>> = vec![(0..VALUES * NUMBERS).map(number).collect(); 2 * CLIPS as usize];
    group.bench_function("copy-and-crc", |b| {
        b.iter(|| {
            let at = 2 * of_clip.next().unwrap_or_default() as usize;
            for values in &stored[at..at + 2] {
                black_box(crc32fast::hash(bytemuck::cast_slice(black_box(values))));
                copy.copy_from_slice(black_box(values));
            }
        });
    });
    for (name, wanted) in [("whole", ["action", "state"]), ("whole/times", ["timed-action", "timed-state"])] {
        group.bench_function(name, |b| {
            b.iter(|| {
                let tracks = set.clip(of_clip.next().unwrap_or_default()).unwrap().tracks().unwrap();
                for name in wanted {
                    let track = tracks.get(name).unwrap().unwrap();
                    assert_eq!(track.numbers::<f32>().unwrap().len(), VALUES * NUMBERS);
                }
            });
        });
    }
    group.finish();
}

/// Batches of all clips with these tracks, one after the other, on one thread.
fn batches(c: &mut Criterion, name: &str, set: &Dataset, tracks: &[(&str, TrackWindow)]) {
    let tracks: BTreeMap<_, _> = tracks.iter().map(|(name, window)| ((*name).to_owned(), window.clone())).collect();
    let options = LoaderOptions {
        frames: Frames::uniform(1),
        batch_size: set.len() as u32,
        crop: Crop::center((16, 16)),
        threads: Some(1),
        tracks,
        ..LoaderOptions::default()
    };
    let mut batches = Loader::new(set, options).unwrap().iter(0..).unwrap();
    let mut group = c.benchmark_group("tracks/batch");
    group.throughput(Throughput::Elements(set.len()));
    group.bench_function(name, |b| b.iter(|| drop(batches.next().unwrap().unwrap())));
    group.finish();
}

fn loader(c: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let of_robots = set(&folder.path().join("robots"), CLIPS, &tracks());
    batches(c, "none", &of_robots, &[]);
    let last = (VALUES - 1) as f64 / f64::from(RATE);
    let both = |names: [&'static str; 2], start, how| {
        let rate = Some(RATE.to_string().parse().unwrap());
        names.map(|name| (name, TrackWindow { window: Some((start, last)), rate, how, ..TrackWindow::default() }))
    };
    let whole = || TrackWindow { steps: Some((0, VALUES as i64)), ..TrackWindow::default() };
    batches(c, "stored", &of_robots, &[("action", whole()), ("state", whole())]);
    for (timing, names) in [("rate", ["action", "state"]), ("times", ["timed-action", "timed-state"])] {
        for how in [TrackHow::Nearest, TrackHow::Previous, TrackHow::Linear] {
            // A quarter of a step beside the values, so that there is something between two of them.
            batches(
                c,
                &format!("{timing}/{how:?}").to_lowercase(),
                &of_robots,
                &both(names, 0.25 / f64::from(RATE), how),
            );
        }
    }

    let at = |second: i64| second * i64::from(SOUND_RATE);
    let second = TrackWindow { steps: Some((at(1800), at(1801))), ..TrackWindow::default() };
    for (name, coding) in [
        ("a-second-of-an-hour-of-sound", SoundCoding::Raw),
        ("a-second-of-an-hour-of-sound-in-flac", SoundCoding::Flac),
        ("a-second-of-an-hour-of-sound-in-opus", SoundCoding::Opus),
    ] {
        // A tone with some noise, which takes about half the bytes in FLAC.
        let noise = |i: i32| i.wrapping_mul(747_796_405).wrapping_add(12_345) >> 26;
        let samples =
            (0..HOUR as i32).map(|i| ((f64::from(i) * 0.05).sin() * 4000.0) as i16 + noise(i) as i16).collect();
        let times = TrackTimes::Rate { first_ns: 0, rate: (SOUND_RATE, 1) };
        let values = TrackValues::I16(samples);
        let sound = Track { name: "sound".into(), values, times, coding, ..Track::default() };
        let of_sound = set(&folder.path().join(name), 1, &[sound]);
        batches(c, name, &of_sound, &[("sound", second.clone())]);
    }
}

criterion_group!(benches, reading, loader);
criterion_main!(benches);
