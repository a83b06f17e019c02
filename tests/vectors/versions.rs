//! Data sets that past versions wrote, one of each: what they say never changes, nor do their batches within a major version.
//!
//! `tests/corpus/versions/VERSION/` has the data set, `clips`, all that it says, `clips.json`, and digests of some batches,
//! `batches.txt`. The version that is new writes its own once (`docs/dev/release.md`). No folder that is there ever changes.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use vidrec::edit::TrackAdder;
use vidrec::{
    Clip, ClipInfo, Dataset, FrameData, JsonObject, SoundCoding, Track, TrackCoding, TrackTimes, TrackType,
    TrackValues, Writer, WriterOptions, f16,
};

use crate::common::jpeg;
use crate::loader::frozen::batch_digests;
use crate::vectors::frozen::digests;
use crate::vectors::{json_at, parse, problems};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The options of the batches of which a new version notes the digests.
const BATCHES: [&str; 8] = [
    r#"{"frames": 3, "batch_size": 3, "seed": 1}"#,
    r#"{"frames": {"Random": {"count": 2}}, "batch_size": 2, "seed": 2, "shuffle": true, "crop": {"RandomResizedCrop": {"size": 16}}, "flip": 0.5}"#,
    r#"{"frames": {"Run": {"count": 2, "stride": 2}}, "batch_size": 4, "seed": 3, "crop": {"CenterCrop": {"size": 24}}, "dtype": "float32", "normalize": "imagenet"}"#,
    r#"{"frames": {"Windows": {"offsets": [-1, 0], "pad": "zero"}}, "batch_size": 4, "seed": 4, "color": {"brightness": 0.4}}"#,
    r#"{"frames": {"AllFrames": {}}, "batch_size": 4, "seed": 5, "fields": ["caption", "score"]}"#,
    r#"{"frames": 2, "batch_size": 3, "seed": 6, "tracks": {"f16": {"missing": "mask"}, "items": {"missing": "mask"}, "word": {"missing": "mask"}, "added": {"missing": "mask"}}}"#,
    r#"{"frames": 2, "batch_size": 3, "seed": 7, "tracks": {"flac": {"window": [0, 0.01], "missing": "mask"}, "opus": {"window": [0, 0.01], "missing": "mask"}, "said": {"window": [0, 1], "missing": "mask"}}}"#,
    r#"{"frames": 2, "batch_size": 3, "seed": 8, "shuffle": true, "crop": {"RandomCrop": {"size": 16}}, "tracks": {"depth": {"geometry": "mask", "missing": "mask"}}}"#,
];

fn versions() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/versions")
}

/// Numbers that look random.
fn numbers<T>(count: usize, number: impl Fn(i64) -> T) -> Vec<T> {
    (0..count as i64).map(|i| number(i * 7919 % 251)).collect()
}

fn sound(count: usize) -> TrackValues {
    TrackValues::I16((0..count).map(|i| (9000.0 * (i as f64 / 9.0).sin()) as i16).collect())
}

/// A track for each type, each timing, each coding, and lists, of a clip of `frames` frames.
fn tracks(frames: u32) -> Vec<Track> {
    let (n, ms) = (frames as usize, 1_000_000);
    let track = |name: &str, shape: &[u32], values| Track {
        name: name.into(),
        shape: shape.into(),
        values,
        ..Track::default()
    };
    let times = |count: i64| TrackTimes::Times((0..count).map(|i| (40 * i - 3) * ms).collect());
    let rate = |rate: u32| TrackTimes::Rate { first_ns: -5 * ms, rate: (rate, 1) };
    let spans = |count: i64| TrackTimes::Spans {
        starts: (0..count).map(|i| 100 * i * ms).collect(),
        ends: (0..count).map(|i| (100 * i + 90) * ms).collect(),
    };
    let texts = |count: usize| TrackValues::Texts((0..count).map(|i| format!("text {i}: ä 語 \u{1f600}")).collect());
    let with = |times, track: Track| Track { times, ..track };
    let lists: Vec<u32> = (0..frames).map(|i| i % 3).collect();
    let items = lists.iter().sum::<u32>() as usize;
    let depth = TrackValues::U16((0..n * 24 * 32).map(|i| (i / 32 * 40) as u16).collect());
    vec![
        track("f16", &[2], TrackValues::F16(numbers(2 * n, |i| f16::from_f64(i as f64 / 8.0)))),
        with(times(5), track("f32", &[2, 2], TrackValues::F32(numbers(20, |i| i as f32 / 3.0)))),
        Track {
            nan: true,
            ..with(rate(20), track("f64", &[], TrackValues::F64(vec![0.1, f64::NAN, -1e300, f64::INFINITY])))
        },
        with(spans(3), track("i16", &[], TrackValues::I16(numbers(3, |i| i as i16 - 99)))),
        track("i32", &[], TrackValues::I32(numbers(n, |i| i as i32 - 1_000_000))),
        with(times(2), track("i64", &[], TrackValues::I64(vec![i64::MIN, i64::MAX]))),
        with(rate(1000), track("u8", &[3], TrackValues::U8(numbers(30, |i| i as u8)))),
        with(rate(7), track("u16", &[], TrackValues::U16(numbers(6, |i| i as u16 * 200)))),
        track("bool", &[], TrackValues::Bool(numbers(n, |i| i % 2 == 0))),
        track("word", &[], texts(n)),
        with(spans(2), track("said", &[], texts(2))),
        with(times(2), track("noted", &[], texts(2))),
        Track { lists: Some(lists), ..track("items", &[4], TrackValues::F32(numbers(4 * items, |i| i as f32))) },
        with(rate(16_000), track("flac", &[], sound(1200))),
        Track { coding: SoundCoding::Opus, ..with(rate(8000), track("opus", &[], sound(1600))) },
        Track { coding: SoundCoding::Raw, ..with(rate(8000), track("raw", &[2], sound(20))) },
        track("depth", &[24, 32], depth),
    ]
}

/// Clips that others are not like: short, square, without a label, without frames, at other times.
fn write(path: &Path) -> vidrec::Result<()> {
    let mut options = WriterOptions::default();
    options.meta.classes = vec!["run".into(), "jump é".into()];
    options.meta.tool = format!("vidrec {VERSION}");
    options.meta.settings = JsonObject::of(json!({"frames": "all", "quality": 90}))?;
    let mut writer = Writer::create(path, options)?;
    let corpus = Dataset::open(versions().with_file_name("clips"))?;
    let of_corpus: Vec<Vec<u8>> =
        corpus.clip(0)?.frames().map(|frame| Ok(frame?.jpeg().to_vec())).collect::<vidrec::Result<_>>()?;
    let (wide, tall) = (corpus.clip(0)?.width(), corpus.clip(0)?.height());
    let made = |size, count: u32| (0..count).map(|t| jpeg(size, t)).collect::<Vec<_>>();
    let class = |label: Option<u32>| label.map_or("", |label| ["run", "jump é"][label as usize]);
    let clips = [
        (Some(0), (wide, tall), of_corpus[..5].to_vec(), (1, 1000), false),
        (Some(1), (33, 47), made((33, 47), 4), (1001, 30_000), false),
        (None, (64, 64), made((64, 64), 3), (1, 15_360), true),
        (Some(1), (0, 0), vec![], (1, 1), false),
        (Some(0), (24, 16), made((24, 16), 1), (1, 1_000_000_000), false),
    ];
    for (i, (label, (width, height), jpegs, time_base, short)) in clips.into_iter().enumerate() {
        let attributes =
            JsonObject::of(json!({"caption": format!("clip {i} \"ü\""), "score": i as f64 / 3.0, "labels": [0, 1]}))?;
        let source = format!("dir/clip {i}.mp4");
        let info = ClipInfo { label, source, class: class(label).into(), attributes, width, height, time_base, short };
        let frames = jpegs.iter().zip(0u32..);
        let pts = |t: u32| if short { 0 } else { i64::from(t * t) * 700 - 1 };
        let frames: Vec<_> =
            frames.map(|(jpeg, t)| FrameData { jpeg, pts: pts(t), source_index: (t != 2).then_some(t) }).collect();
        let tracks = if i % 2 == 0 { tracks(jpegs.len() as u32) } else { Vec::new() };
        writer.append_with_tracks(&info, &frames, &tracks)?;
        if i == 1 {
            writer.next_shard()?;
        }
    }
    writer.finish()?;
    let mut adder = TrackAdder::open(path, false)?;
    for i in 0..adder.dataset().len() {
        let values = TrackValues::F32(vec![i as f32, 0.5]);
        let times = TrackTimes::Times(vec![0, 1_000_000]);
        let added = Track { name: "added".into(), values, times, ..Track::default() };
        adder.add(if i == 1 { &[] } else { std::slice::from_ref(&added) }, &JsonObject::of(json!({"added": i}))?)?;
    }
    adder.finish().map(drop)
}

/// Types and codings of all tracks.
fn kinds(set: &Dataset) -> BTreeSet<String> {
    let of_clip = |clip: Clip<'_>| {
        clip.tracks()
            .unwrap()
            .all()
            .unwrap()
            .iter()
            .flat_map(|t| [t.schema().kind.to_string(), t.coding().to_string()])
            .collect::<Vec<_>>()
    };
    set.clips().flat_map(|clip| of_clip(clip.unwrap())).collect()
}

/// The words of an enum, which its error names.
fn words<T: DeserializeOwned + Debug>() -> impl Iterator<Item = String> {
    let e = serde_json::from_str::<T>("\"?\"").unwrap_err().to_string();
    let words: Vec<_> = e.split('`').skip(3).step_by(2).map(str::to_owned).collect();
    words.into_iter()
}

/// Writes the folder of this version, and freezes it.
fn write_folder() {
    fs::create_dir_all(versions()).unwrap();
    let new = tempfile::tempdir_in(versions()).unwrap();
    let (folder, clips) = (new.path(), new.path().join("clips"));
    write(&clips).unwrap();
    let set = Dataset::open(&clips).unwrap();
    assert_eq!(kinds(&set), words::<TrackType>().chain(words::<TrackCoding>()).collect(), "not all types and codings");
    fs::write(folder.join("clips.json"), serde_json::to_string(&parse(&clips).unwrap()).unwrap() + "\n").unwrap();
    let lines = BATCHES.map(|options| batch_digests::line(&set, options));
    assert!(lines.iter().all(|line| !line.ends_with("refused")), "{lines:#?}");
    fs::write(folder.join("batches.txt"), lines.join("\n") + "\n").unwrap();
    fs::rename(new.keep(), versions().join(VERSION)).unwrap();
    let table = versions().with_file_name("frozen.sha256");
    let own = digests(&versions()).into_iter().filter(|line| line[66..].starts_with(&format!("{VERSION}/")));
    let lines: Vec<_> = fs::read_to_string(&table).unwrap().lines().map(str::to_owned).chain(own).collect();
    fs::write(&table, lines.join("\n") + "\n").unwrap();
}

/// The first clip that a data set of an older version has otherwise than it was, or what else differs.
fn difference(now: &Value, before: &Value) -> Option<String> {
    let clips = |value: &Value| value["clips"].as_array().cloned().unwrap_or_default();
    let (now_clips, before_clips) = (clips(now), clips(before));
    let clip = (0..now_clips.len()).find(|&i| now_clips.get(i) != before_clips.get(i));
    (now != before).then(|| clip.map_or("not its clips".into(), |i| format!("clip {i}")))
}

#[test]
fn data_sets_of_every_version_are_read_as_they_were() {
    let own = versions().join(VERSION);
    if std::env::var_os("VIDREC_UPDATE").is_some() && !own.exists() {
        write_folder();
    }
    let how = "run VIDREC_UPDATE=1 cargo test --test suite every_version, and commit what it writes";
    assert!(own.exists(), "version {VERSION} has no data set in tests/corpus/versions: {how}");
    for folder in fs::read_dir(versions()).unwrap().map(|entry| entry.unwrap().path()) {
        let version = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let clips = folder.join("clips");
        assert_eq!(difference(&parse(&clips).unwrap(), &json_at(&folder.join("clips.json"))), None, "{version}");
        assert_eq!(problems(&clips, true), BTreeSet::new(), "{version}");
        let major = |version: &str| version.split('.').next().map(str::to_owned);
        if major(&version) == major(VERSION) {
            let (table, set) =
                (fs::read_to_string(folder.join("batches.txt")).unwrap(), Dataset::open(&clips).unwrap());
            let now = batch_digests::options_in(&table).map(|options| batch_digests::line(&set, options));
            assert_eq!(now.collect::<Vec<_>>(), table.lines().collect::<Vec<_>>(), "{version}");
        }
    }
}
