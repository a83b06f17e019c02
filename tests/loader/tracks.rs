//! Tracks in batches, against a plain model: windows, draws and strides.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;
use vidrec::order::Order;
use vidrec::{
    Batch, ClipInfo, Dataset, FrameData, Frames, Loader, LoaderOptions, Missing, Mix, MixOptions, OwnOptions,
    ShortClips, SoundCoding, Start, Track, TrackAnchor, TrackBatch, TrackCoding, TrackHow, TrackNormalize, TrackTimes,
    TrackValues, TrackWindow, Writer, WriterOptions,
};

use crate::common::{jpeg, names, options};

const FRAMES: u32 = 12;
/// Nanoseconds from frame to frame: 25 a second.
const FRAME_NS: i64 = 40_000_000;
/// Where the clock of a clip begins.
const BEGIN_NS: i64 = 1_000_000_000;

/// The values of track "state" of a clip: two numbers each, at irregular times.
fn state(clip: usize) -> (Vec<i64>, Vec<f32>) {
    let n = 9 + clip;
    let times = (0..n as i64).map(|i| BEGIN_NS + 30_000_000 * i + (i * i % 7) * 3_000_000).collect();
    (times, (0..2 * n).map(|i| (clip * 1000 + i) as f32 * 0.37).collect())
}

fn tracks(clip: usize) -> Vec<Track> {
    let (times, values) = state(clip);
    let named = |name: &str, values, times| Track { name: name.into(), values, times, ..Track::default() };
    let texts = |texts: &[&str]| TrackValues::Texts(texts.iter().map(|text| format!("{text}{clip}")).collect());
    let ms = |times: [i64; 3]| times.map(|ms| BEGIN_NS + ms * 1_000_000).to_vec();
    let mut all = vec![
        Track { shape: vec![2], ..named("state", TrackValues::F32(values), TrackTimes::Times(times)) },
        named(
            "step",
            TrackValues::I32((0..FRAMES as i32).map(|t| t + 100 * clip as i32).collect()),
            TrackTimes::Frames,
        ),
        named(
            "sound",
            TrackValues::I16((0..480).map(|i| i + clip as i16 * 500).collect()),
            TrackTimes::Rate { first_ns: BEGIN_NS, rate: (1000, 1) },
        ),
        named(
            "caption",
            texts(&["up", "down", "end"]),
            TrackTimes::Spans { starts: ms([0, 200, 400]), ends: ms([200, 350, 900]) },
        ),
    ];
    if clip != 2 {
        all.push(named("phase", TrackValues::U8(vec![1, 2, 3]), TrackTimes::Times(ms([0, 100, 300]))));
    }
    all
}

fn set(clips: usize) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("set");
    let mut writer = Writer::create(&dir, WriterOptions::default()).unwrap();
    (0..clips).for_each(|clip| append(&mut writer, clip as u32 * 100, &tracks(clip)));
    writer.finish().unwrap();
    (folder, dir)
}

/// Writes a clip of pictures that no other `seed` gives.
fn append(writer: &mut Writer, seed: u32, tracks: &[Track]) {
    let info = ClipInfo { width: 16, height: 16, time_base: (1, 25), ..ClipInfo::default() };
    let jpegs: Vec<_> = (0..FRAMES).map(|t| jpeg((16, 16), seed + t)).collect();
    let frames: Vec<_> = (25..).zip(&jpegs).map(|(pts, jpeg)| FrameData { jpeg, pts, source_index: None }).collect();
    writer.append_with_tracks(&info, &frames, tracks).unwrap();
}

fn with(tracks: &[(&str, TrackWindow)]) -> LoaderOptions {
    let tracks: BTreeMap<_, _> = tracks.iter().map(|(name, window)| ((*name).to_owned(), window.clone())).collect();
    LoaderOptions { tracks, ..options(2, (8, 8)) }
}

fn window(start: f64, end: f64, rate: &str) -> TrackWindow {
    TrackWindow { window: Some((start, end)), rate: Some(rate.parse().unwrap()), ..TrackWindow::default() }
}

fn batches(dir: &PathBuf, options: LoaderOptions) -> Vec<Batch> {
    let loader = Loader::new(&Dataset::open(dir).unwrap(), options).unwrap();
    let all = |epoch| (0..loader.batches_in(epoch)).map(move |k| (epoch, k));
    (0..2).flat_map(all).map(|(epoch, k)| loader.batch(epoch, k).unwrap()).collect()
}

fn f32s(track: &TrackBatch) -> &[f32] {
    track.numbers().unwrap()
}

/// What "state" of a clip is at a time: a walk through all values.
fn model(clip: usize, how: TrackHow, t: i64) -> Option<[f32; 2]> {
    let (times, values) = state(clip);
    let value = |i: usize| [values[2 * i], values[2 * i + 1]];
    let n = times.len();
    if t < times[0] - 1000 || t > times[n - 1] + 1000 {
        return None;
    }
    let late = if how == TrackHow::Previous { 1000 } else { 0 };
    let t = if late == 0 { t.clamp(times[0], times[n - 1]) } else { t };
    let before = (0..n).rfind(|&i| times[i] <= t + late).unwrap();
    if how == TrackHow::Previous || times[before] == t || before + 1 == n {
        return Some(value(before));
    }
    let (a, b) = (times[before], times[before + 1]);
    Some(match how {
        TrackHow::Nearest => value(if b - t < t - a { before + 1 } else { before }),
        _ => {
            let weight = (t - a) as f64 / (b - a) as f64;
            let (from, to) = (value(before), value(before + 1));
            std::array::from_fn(|i| (f64::from(from[i]) + (f64::from(to[i]) - f64::from(from[i])) * weight) as f32)
        }
    })
}

fn frame_ns(t: u32) -> i64 {
    BEGIN_NS + i64::from(t) * FRAME_NS
}

/// Compares "state" in a batch with the model; `offsets` are those of a window.
fn assert_state(batch: &Batch, how: TrackHow, anchor: Option<TrackAnchor>, offsets: &[i64]) {
    let track = batch.track("state").unwrap();
    let mut expected = Vec::new();
    let length = batch.shape()[1];
    for (&clip, params) in batch.clips.iter().zip(&batch.params) {
        let frames: Vec<_> = params.frames.iter().map(|&t| Some(frame_ns(t))).collect();
        let anchors = match anchor {
            Some(TrackAnchor::Current) => vec![frames[0]],
            Some(TrackAnchor::Last) => vec![*frames.last().unwrap()],
            _ => (0..length).map(|t| frames.get(t).copied().flatten()).collect(),
        };
        for anchor in anchors {
            expected.extend(offsets.iter().map(|offset| model(clip as usize, how, anchor? + offset)));
        }
    }
    assert_eq!(track.mask, expected.iter().map(Option::is_some).collect::<Vec<_>>());
    let values: Vec<f32> = expected.into_iter().flat_map(Option::unwrap_or_default).collect();
    assert_eq!(f32s(track), values);
    assert_eq!(track.shape.iter().product::<usize>(), values.len());
}

const HOWS: [TrackHow; 3] = [TrackHow::Nearest, TrackHow::Linear, TrackHow::Previous];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn windows_are_those_of_a_walk(
        (start, steps) in (-600i32..300, 0i32..40),
        rate in prop::sample::select(vec!["10", "25", "30000/1001", "7"]),
        how in prop::sample::select(HOWS.to_vec()),
        anchor in prop::sample::select(vec![TrackAnchor::Current, TrackAnchor::Last, TrackAnchor::Each]),
        (count, stride, seed) in (1u32..5, 1u32..4, any::<u64>()),
    ) {
        let (_folder, dir) = set(3);
        let parsed = |n: &str| n.parse::<i128>().unwrap();
        let (num, den) = rate.split_once('/').map_or_else(|| (parsed(rate), 1), |(n, d)| (parsed(n), parsed(d)));
        let (start, end) = (f64::from(start) / 1000.0, f64::from(start) / 1000.0 + f64::from(steps) / 100.0);
        let nanoseconds = |seconds: f64| (seconds * 1e9).round() as i128;
        let length = nanoseconds(end) - nanoseconds(start);
        let offsets: Vec<i64> = (0..)
            .take_while(|k| k * den * 1_000_000_000 <= (length + 1000) * num)
            .map(|k: i128| (nanoseconds(start) + (k as f64 * den as f64 * 1e9 / num as f64).round() as i128) as i64)
            .collect();
        let options = LoaderOptions {
            frames: Frames::run(count).with_stride(stride),
            order: Order::Shuffled,
            seed,
            ..with(&[("state", TrackWindow { how, anchor, ..window(start, end, rate) })])
        };
        for batch in batches(&dir, options) {
            assert_state(&batch, how, Some(anchor), &offsets);
        }
    }
}

/// Coded sound of two clips, and beside it as it is what all of it decodes to.
fn twice(coding: SoundCoding) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let sounds: Vec<Vec<i16>> =
        (0..2).map(|clip| (0..140_000).map(|i| (i % 97 * (i % 31) * (5 + clip) - 7000) as i16).collect()).collect();
    let coded = write_sounds(&folder.path().join("coded"), &[(coding, &sounds)]);
    let of_clip = |clip| coded.clip(clip).unwrap().track("0").unwrap().unwrap().numbers::<i16>().unwrap().into_owned();
    let decoded: Vec<Vec<i16>> = (0..2).map(of_clip).collect();
    let dir = folder.path().join("set");
    write_sounds(&dir, &[(coding, &sounds), (SoundCoding::Raw, &decoded)]);
    (folder, dir)
}

/// A data set of two clips with stereo sound as the tracks "0", "1", …
fn write_sounds(dir: &Path, tracks: &[(SoundCoding, &[Vec<i16>])]) -> Dataset {
    let mut writer = Writer::create(dir, WriterOptions::default()).unwrap();
    for clip in 0..2 {
        let track = |(i, (coding, sounds)): (usize, &(SoundCoding, &[Vec<i16>]))| Track {
            name: i.to_string(),
            values: TrackValues::I16(sounds[clip].clone()),
            shape: vec![2],
            times: TrackTimes::Rate { first_ns: BEGIN_NS + 7, rate: (48_000, 1) },
            coding: *coding,
            ..Track::default()
        };
        append(&mut writer, 0, &tracks.iter().enumerate().map(track).collect::<Vec<_>>());
    }
    writer.finish().unwrap();
    Dataset::open(dir).unwrap()
}

#[test]
fn coded_sound_gives_the_values_of_raw_sound() {
    gives_the_values_of_the_whole(SoundCoding::Flac, TrackCoding::Flac);
}

/// The same sample has the same value whatever window is asked for, within a block and across several.
#[test]
fn a_part_of_sound_in_opus_has_the_values_that_it_has_in_the_whole() {
    gives_the_values_of_the_whole(SoundCoding::Opus, TrackCoding::Opus);
}

fn gives_the_values_of_the_whole(coding: SoundCoding, stored: TrackCoding) {
    let (_folder, dir) = twice(coding);
    let clip = Dataset::open(&dir).unwrap();
    let coding = |name| clip.clip(0).unwrap().track(name).unwrap().unwrap().coding();
    assert_eq!((coding("0"), coding("1")), (stored, TrackCoding::Raw));
    let windows = (
        (-900i32..900, 0i32..300),
        prop::sample::select(vec![None, Some("16000"), Some("44100"), Some("7")]),
        prop::sample::select(HOWS.to_vec()),
        prop::sample::select(vec![TrackAnchor::Current, TrackAnchor::Last, TrackAnchor::Each]),
        prop::option::of(prop::collection::vec(-0.5..0.5f64, 1..5)),
    );
    let config = ProptestConfig { cases: 24, ..ProptestConfig::default() };
    let outcome =
        proptest::test_runner::TestRunner::new(config).run(&windows, |((start, length), rate, how, anchor, times)| {
            let of_window = || TrackWindow {
                window: Some((f64::from(start) / 1000.0, f64::from(start + length) / 1000.0)),
                rate: rate.map(|rate| rate.parse().unwrap()),
                how: if rate.is_none() { TrackHow::Nearest } else { how },
                anchor,
                ..TrackWindow::default()
            };
            let window = times.map_or_else(of_window, |times| TrackWindow {
                times: Some(times),
                how,
                anchor,
                ..TrackWindow::default()
            });
            let options = LoaderOptions { frames: Frames::uniform(3), ..with(&[("0", window.clone()), ("1", window)]) };
            for batch in batches(&dir, options) {
                let [coded, raw] = ["0", "1"].map(|name| batch.track(name).unwrap());
                prop_assert_eq!((coded.bytes(), &coded.mask), (raw.bytes(), &raw.mask));
            }
            Ok(())
        });
    outcome.unwrap();
}

#[test]
fn each_frame_has_its_value_whatever_is_drawn() {
    let (_folder, dir) = set(5);
    for frames in [
        Frames::Stored,
        Frames::random(3),
        Frames::views(10, 4).with_stride(2),
        Frames::windows(4).with_stride(2),
        Frames::uniform(16).with_short(ShortClips::Pad),
        Frames::all().with_max(Some(7)),
    ] {
        for how in HOWS {
            let state = TrackWindow { how, ..TrackWindow::default() };
            let tracks = [("state", state), ("step", TrackWindow::default())];
            let options = LoaderOptions { frames: frames.clone(), ..with(&tracks) };
            for batch in batches(&dir, options) {
                assert_state(&batch, how, None, &[0]);
                let step = batch.track("step").unwrap();
                let length = batch.shape()[1];
                let of = |(&clip, params): (&u64, &vidrec::SampleParams)| {
                    let value = |t: usize| params.frames.get(t).map_or(0, |&t| t as i32 + 100 * clip as i32);
                    (0..length).map(value).collect::<Vec<_>>()
                };
                let expected: Vec<i32> = batch.clips.iter().zip(&batch.params).flat_map(of).collect();
                assert_eq!(step.numbers::<i32>(), Some(&expected[..]));
                assert_eq!(step.shape, [batch.clips.len(), length]);
                let taken =
                    |params: &vidrec::SampleParams| (0..length).map(|t| t < params.frames.len()).collect::<Vec<_>>();
                assert_eq!(step.mask, batch.params.iter().flat_map(taken).collect::<Vec<_>>());
            }
        }
    }
}

/// The number of values of each choice, and the first value of clip 0.
#[test]
fn a_choice_has_as_many_values_as_its_rule_says() {
    let (_folder, dir) = set(2);
    let of = |name: &str, window: TrackWindow| {
        let options = LoaderOptions { frames: Frames::uniform(12), ..with(&[(name, window)]) };
        batches(&dir, options)[0].track(name).unwrap().clone()
    };
    let count = |name: &str, window: TrackWindow| of(name, window).shape[1];
    let usual = TrackWindow::default;
    assert_eq!(count("state", window(0.0, 49.0 / 30.0, "30")), 50, "the end is rounded down to nanoseconds");
    for rate in ["30", "30000/1001", "29.97", "7", "16000", "44100", "3"] {
        let parsed: vidrec::sampler::Rate = rate.parse().unwrap();
        let (den, num) = parsed.frame_seconds();
        for n in [1, 2, 10, 49, 50, 1000] {
            let end = f64::from(n - 1) * f64::from(den) / f64::from(num);
            assert_eq!(count("step", window(0.0, end, rate)), n as usize, "{rate}");
            let steps = TrackWindow { steps: Some((0, n.into())), rate: Some(parsed), ..usual() };
            assert_eq!(count("step", steps), n as usize, "{rate}");
        }
    }
    let sound = |window| of("sound", window);
    let at = |track: &TrackBatch, i: usize| (track.numbers::<i16>().unwrap()[i], track.mask[i]);
    let by_window = sound(TrackWindow { window: Some((0.0, 0.1)), ..usual() });
    assert_eq!((by_window.shape[1], at(&by_window, 100)), (101, (100, true)));
    assert_eq!(count("sound", window(0.0, 0.1, "1000")), 101, "the same with a rate");
    let by_steps = sound(TrackWindow { steps: Some((-2, 98)), ..usual() });
    assert_eq!((by_steps.shape[1], at(&by_steps, 0), at(&by_steps, 2)), (100, (0, false), (0, true)));
    assert_eq!(at(&by_steps, 99), (97, true));
    let last = sound(TrackWindow { steps: Some((-2, 98)), anchor: TrackAnchor::Last, ..usual() });
    assert_eq!(at(&last, 0), (438, true), "the last frame is at 440 ms");
    let steps = sound(TrackWindow { steps: Some((-2, 98)), rate: "500".parse().ok(), ..usual() });
    assert_eq!([at(&steps, 1), at(&steps, 3), at(&steps, 99)], [(0, false), (2, true), (194, true)]);
}

#[test]
fn captions_are_those_of_the_drawn_time() {
    let (_folder, dir) = set(2);
    let caption = |window: TrackWindow, count| {
        let frames = Frames::run(count).with_at(Start::Center);
        let options = LoaderOptions { frames, ..with(&[("caption", window)]) };
        let batch = batches(&dir, options).remove(0);
        let track = batch.track("caption").unwrap();
        assert_eq!((track.shape.as_slice(), track.mask.as_slice()), ([2usize].as_slice(), [true; 2].as_slice()));
        let texts = track.texts.clone();
        assert_eq!(track.times[0], track.times[1]);
        (batch.params[0].frames.clone(), texts, track.times[0].clone())
    };
    let of = |texts: &[&str]| [0, 1].map(|clip| texts.iter().map(|text| format!("{text}{clip}")).collect::<Vec<_>>());
    let (frames, texts, times) = caption(TrackWindow::default(), 4);
    assert_eq!((frames, texts), (vec![4, 5, 6, 7], of(&["up", "down"]).to_vec()), "160 to 280 ms");
    assert_eq!(times, [(-0.16, 0.04), (0.04, 0.19)], "from the first frame");
    let (frames, texts, times) = caption(TrackWindow { window: Some((0.04, 0.2)), ..TrackWindow::default() }, 4);
    assert_eq!((frames, texts), (vec![4, 5, 6, 7], of(&["down"]).to_vec()), "200 to 360 ms");
    assert_eq!(times, [(0.04, 0.19)]);
    let last = TrackWindow { window: Some((0.1, 0.2)), anchor: TrackAnchor::Last, ..TrackWindow::default() };
    assert_eq!(caption(last, 4).2, [(0.24, 0.74)], "from the first frame, although the window counts from the last");
    let (_, texts, times) = caption(TrackWindow { window: Some((5.0, 6.0)), ..TrackWindow::default() }, 4);
    assert_eq!((texts, times), (of(&[]).to_vec(), vec![]));
}

/// A track of which a sample needs a small part: its checksum is that of all its bytes.
#[test]
fn every_value_of_a_long_track_is_checked_when_it_is_used() {
    long_track_is_checked(SoundCoding::Raw);
    long_track_is_checked(SoundCoding::Flac);
}

fn long_track_is_checked(coding: SoundCoding) {
    // Coding does not make such values much shorter. What is damaged then lies before the end of the file, whose bytes are
    // compared when it is opened.
    let noise = |i: i32| (i % 3_001) * (i % 3_001) % 30_011;
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("set");
    let mut writer = Writer::create(&dir, WriterOptions::default()).unwrap();
    let sound = Track {
        name: "sound".into(),
        values: TrackValues::I16((0..400_000).map(|i| noise(i) as i16).collect()),
        times: TrackTimes::Rate { first_ns: 0, rate: (1000, 1) },
        coding,
        ..Track::default()
    };
    let info = ClipInfo { width: 16, height: 16, ..ClipInfo::default() };
    let (jpeg, pts) = (jpeg((16, 16), 1), 0);
    writer.append_with_tracks(&info, &[FrameData { jpeg: &jpeg, pts, source_index: None }], &[sound]).unwrap();
    writer.finish().unwrap();
    let file = names::file(&dir, "shard-00000.vtrk");

    let set = Dataset::open(&dir).unwrap();
    let loader = |start: f64| {
        let sound = TrackWindow { window: Some((start, start + 0.5)), ..TrackWindow::default() };
        Loader::new(&set, LoaderOptions { batch_size: 1, ..with(&[("sound", sound)]) }).unwrap()
    };
    let (early, late) = (loader(10.0), loader(390.0));
    for (loader, first) in [(&early, 10_000), (&late, 390_000)] {
        let batch = loader.batch(0, 0).unwrap();
        let values = batch.track("sound").unwrap().numbers::<i16>().unwrap();
        assert!(values.iter().zip(first..).all(|(&v, i)| i32::from(v) == noise(i)) && values.len() == 501);
    }
    // In place, so that the open data set sees it: in what the late window uses, at value 390,200.
    let mut bytes = std::fs::read(&file).unwrap();
    let raw = coding == SoundCoding::Raw;
    assert_eq!(bytes.len() > 800_000, raw);
    // The track begins after the header and its directory. Coded, it begins with the ends of its blocks.
    let (track, value, blocks) = (128, 390_200, 400_000usize.div_ceil(4096));
    let before = track + 8 * (value / 4096 - 1);
    let end = u32::from_le_bytes(bytes[before..before + 4].try_into().unwrap()) as usize;
    let at = if raw { track + 2 * value } else { track + 8 * blocks + end + 9 };
    bytes[at] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    // A track that is not coded is compared as a whole.
    assert_eq!(early.batch(0, 0).is_err(), raw);
    let e = late.batch(0, 0).unwrap_err();
    assert_eq!(e.rule(), Some("track-crc"), "{e}");
    let fresh = Dataset::open(&dir).unwrap();
    assert_eq!(fresh.clip(0).unwrap().track("sound").map(drop).unwrap_err().rule(), Some("track-crc"));
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let (_folder, dir) = set(4);
    let set = Dataset::open(&dir).unwrap();
    let refused =
        |name: &str, window: TrackWindow| Loader::new(&set, with(&[(name, window)])).err().unwrap().to_string();
    let usual = TrackWindow::default;
    assert!(refused("speed", usual()).contains("no track \"speed\""));
    assert!(refused("speed", usual()).contains("caption, phase, sound, state, step"));
    let linear = TrackWindow { how: TrackHow::Linear, ..usual() };
    assert!(refused("caption", linear).contains("tracks[\"caption\"]: a track of texts"));
    assert!(refused("state", window(0.5, -0.5, "10")).contains("tracks[\"state\"].window"));
    assert!(refused("state", window(f64::NAN, 0.5, "10")).contains("tracks[\"state\"].window"));
    assert!(refused("state", window(0.0, 3e7, "1000000")).contains("too many values"));
    assert!(refused("step", TrackWindow { steps: Some((0, 5)), ..usual() }).contains("need a rate"));
    assert!(refused("caption", TrackWindow { steps: Some((0, 5)), ..usual() }).contains("a track of texts"));
    assert!(refused("caption", TrackWindow { times: Some(vec![0.0]), ..usual() }).contains("a track of texts"));
    let steps = TrackWindow { steps: Some((0, 5)), how: TrackHow::Linear, ..usual() };
    assert!(refused("sound", steps).contains("no values between"));
    for rate in ["0", "NaN", "-1", "inf"] {
        assert!(rate.parse::<vidrec::sampler::Rate>().is_err(), "{rate}");
    }
}

/// Values of other lengths, types and timings in a mix.
#[test]
fn zeros_follow_the_numbers_of_each_source() {
    let folder = tempfile::tempdir().unwrap();
    let picture = jpeg((16, 16), 1);
    let make = |name: &str, values: TrackValues, shape: u32, times: TrackTimes| {
        let mut writer = Writer::create(folder.path().join(name), WriterOptions::default()).unwrap();
        let info = ClipInfo { width: 16, height: 16, time_base: (1, 10), ..ClipInfo::default() };
        let frames: Vec<_> = (0..3).map(|pts| FrameData { jpeg: &picture, pts, source_index: None }).collect();
        let action = Track { name: "action".into(), values, shape: vec![shape], times, ..Track::default() };
        writer.append_with_tracks(&info, &frames, &[action]).unwrap();
        writer.finish().unwrap();
        Dataset::open(folder.path().join(name)).unwrap()
    };
    let sets = [
        make("arm", TrackValues::F32((0..9).map(|n| n as f32).collect()), 3, TrackTimes::Frames),
        make(
            "cart",
            TrackValues::F64((0..4).map(f64::from).collect()),
            2,
            TrackTimes::Rate { first_ns: 0, rate: (10, 1) },
        ),
    ];
    let normalize = TrackNormalize { shift: vec![1.0, 0.0], scale: vec![1.0, 2.0] };
    let of = |dims, normalize| TrackWindow {
        steps: Some((0, 2)),
        rate: "10".parse().ok(),
        missing: Missing::Mask,
        dims,
        normalize,
        ..TrackWindow::default()
    };
    let load = |dims| {
        let tracks = BTreeMap::from([("action".to_owned(), of(dims, Some(normalize.clone())))]);
        let own = [("cart".to_owned(), OwnOptions { tracks, ..OwnOptions::default() })].into();
        let mix = MixOptions { samples_per_epoch: Some(2), window: 2, own, ..MixOptions::default() };
        let named = ["arm", "cart"].into_iter().zip(&sets).map(|(name, set)| (name, set.clone(), 1.0));
        let options = LoaderOptions { frames: 1.into(), ..with(&[("action", of(dims, None))]) };
        Loader::mix(&Mix::new(named, mix).unwrap(), options)
    };
    let batch = load(Some(4)).unwrap().batch(0, 0).unwrap();
    let action = batch.track("action").unwrap();
    assert_eq!((&action.shape[..], &action.mask_shape[..]), (&[2, 2, 4][..], &[2, 2][..]));
    for (i, source) in batch.source_ids.iter().enumerate() {
        let values = &f32s(action)[8 * i..8 * (i + 1)];
        match source {
            0 => assert_eq!((values, action.dims[i]), (&[3.0, 4.0, 5.0, 0.0, 6.0, 7.0, 8.0, 0.0][..], 3)),
            // The second step is after the last value.
            _ => assert_eq!((values, action.dims[i]), (&[1.0, 1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0][..], 2)),
        }
    }
    let e = load(None).err().unwrap().to_string();
    assert!(e.contains("differ in shape or type") && e.contains("dims"), "{e}");
    let e = load(Some(2)).err().unwrap().to_string();
    assert!(e.contains("dims is 2, and there is no room for a value"), "{e}");
}

#[test]
fn a_clip_without_the_track_is_an_error_or_masked() {
    let (_folder, dir) = set(4);
    let set = Dataset::open(&dir).unwrap();
    let loader = Loader::new(&set, with(&[("phase", TrackWindow::default())])).unwrap();
    loader.batch(0, 0).unwrap();
    let e = loader.batch(0, 1).unwrap_err().to_string();
    assert!(e.contains("no track \"phase\"") && e.contains("clip 2"), "{e}");
    let masked = TrackWindow { missing: Missing::Mask, ..TrackWindow::default() };
    let batch = Loader::new(&set, with(&[("phase", masked)])).unwrap().batch(0, 1).unwrap();
    let track = batch.track("phase").unwrap();
    assert_eq!(track.shape, [2, 12]);
    assert!(track.mask[..12].iter().all(|there| !there) && track.mask[12]);
}
