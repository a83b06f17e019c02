//! Tracks from outside: written, read, damaged, and carried through every edit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use vidrec::edit::{self, Changes, EditOptions, RatioSplit, Selection};
use vidrec::{
    ClipInfo, Dataset, Error, FrameData, Io, RepairOptions, RepairReport, Sharding, SoundCoding, Track, TrackCoding,
    TrackTimes, TrackTiming, TrackType, TrackValues, TrackView, VerifyOptions, Writer, WriterOptions, no_progress,
    repair, verify,
};

use crate::common::jpeg;
use crate::common::names::file;
use crate::common::rich::{Rich, assert_verifies};

fn frames(count: u32, seed: u32) -> Vec<Vec<u8>> {
    (0..count).map(|t| jpeg((16, 16), seed * 100 + t)).collect()
}

fn append(writer: &mut Writer, source: &str, frames: &[Vec<u8>], tracks: &[Track]) -> Result<(), Error> {
    let class = if source.starts_with('b') { ("b", 1) } else { ("a", 0) };
    let info = ClipInfo {
        source: source.into(),
        label: Some(class.1),
        class: class.0.into(),
        width: 16,
        height: 16,
        time_base: (1, 3),
        ..ClipInfo::default()
    };
    let data: Vec<_> = (0..).zip(frames).map(|(pts, jpeg)| FrameData { jpeg, pts, source_index: None }).collect();
    writer.append_with_tracks(&info, &data, tracks)
}

fn writer(dir: &Path) -> Writer {
    let meta = serde_json::from_str(r#"{"classes":["a","b"],"tool":"test"}"#).unwrap();
    Writer::create(dir, WriterOptions { meta, ..WriterOptions::default() }).unwrap()
}

fn state(values: &[f32], frames: usize) -> Track {
    let shape = vec![(values.len() / frames) as u32];
    Track { name: "state".into(), values: TrackValues::F32(values.to_vec()), shape, ..Track::default() }
}

fn caption(texts: &[&str]) -> Track {
    let starts: Vec<i64> = (0..texts.len() as i64).map(|i| i * 1000 - 7).collect();
    let ends = starts.iter().map(|start| start + 500).collect();
    let values = TrackValues::Texts(texts.iter().map(|&text| text.to_owned()).collect());
    Track { name: "caption".into(), values, times: TrackTimes::Spans { starts, ends }, ..Track::default() }
}

fn sound(values: &[i16]) -> Track {
    let times = TrackTimes::Rate { first_ns: 5, rate: (16_000, 1) };
    Track { name: "sound".into(), values: TrackValues::I16(values.to_vec()), times, ..Track::default() }
}

/// Sound of two blocks, which is stored as FLAC.
fn wave() -> Vec<i16> {
    (0..4200).map(|i| (i % 97 * (i % 31) * 8 - 9000) as i16).collect()
}

/// Two pictures of 20 by 30 numbers, which are stored as PNG.
fn depth() -> Track {
    let values = TrackValues::U16((0..1200).map(|i| i % 30 * 900 + i / 30 * 257).collect());
    let times = TrackTimes::Times(vec![-3, 9]);
    Track { name: "depth".into(), values, shape: vec![20, 30], times, ..Track::default() }
}

/// The same in Opus.
fn speech() -> Track {
    let numbers: Vec<i16> = (0..9000).map(|i| (f64::from(i % 400 * (i % 400)).sin() * 3000.0) as i16).collect();
    Track { name: "speech".into(), coding: SoundCoding::Opus, ..sound(&numbers) }
}

/// Four clips of two frames in two shards: with two tracks, none, one without values, and five.
fn set(dir: &Path) -> PathBuf {
    let mut writer = writer(dir);
    append(&mut writer, "a/0.mp4", &frames(2, 0), &[state(&[1.0, 2.0, 3.0, 4.0], 2), caption(&["up", "größer"])])
        .unwrap();
    append(&mut writer, "b/1.mp4", &frames(2, 1), &[]).unwrap();
    writer.next_shard().unwrap();
    append(&mut writer, "a/2.mp4", &frames(2, 2), &[caption(&[])]).unwrap();
    let all = [sound(&wave()), speech(), caption(&["x"]), state(&[5.0, 6.0, 7.0, 8.0], 2), depth()];
    append(&mut writer, "b/3.mp4", &frames(2, 3), &all).unwrap();
    writer.finish().unwrap();
    dir.to_owned()
}

/// Everything that a clip's tracks say, by source.
fn said(set: &Dataset) -> Vec<(String, Vec<String>)> {
    let of = |clip: vidrec::Clip<'_>| {
        let tracks = clip.tracks().unwrap().all().unwrap();
        let mut words: Vec<String> = tracks
            .iter()
            .map(|t| {
                let times: Vec<i64> = (0..t.len()).map(|i| t.time_ns(i).unwrap()).collect();
                let texts: Option<Vec<String>> = t.texts().map(Iterator::collect);
                format!("{:?} {:?} {texts:?} {times:?} {:?} {:?}", t.schema(), t.number_bytes(), t.ends_ns(), t.rate())
            })
            .collect();
        words.sort();
        (clip.source().unwrap(), words)
    };
    let mut all: Vec<_> = set.clips().map(|clip| of(clip.unwrap())).collect();
    all.sort();
    all
}

fn verified(path: &Path) -> Dataset {
    assert_verifies(path);
    Dataset::open(path).unwrap()
}

/// Verifies a data set by the library and by `format-spec/verify.py`, which takes longer.
fn proven(path: &Path) -> Dataset {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("format-spec/verify.py");
    if let Ok(found) = Command::new("python3").arg(script).arg(path).output() {
        assert!(found.status.success(), "{}", String::from_utf8_lossy(&[found.stdout, found.stderr].concat()));
    }
    verified(path)
}

/// What FFmpeg decodes of the blocks of a coded track, with the head of a FLAC file before them.
#[test]
fn blocks_of_sound_are_a_flac_file() {
    let dir = tempfile::tempdir().unwrap();
    let numbers: Vec<i16> = (0..30_000).flat_map(|i| [i % 251 * (i % 37), (i * 7) % 1999].map(|n| n as i16)).collect();
    let payload = vidrec::raw::track::coding::encode(&numbers, 2).unwrap();
    let frames = &payload[8 * 30_000usize.div_ceil(4096)..];
    // STREAMINFO: the size of blocks, unknown sizes of frames, 8000 Hz, two channels of 16 bits, 30,000 values, no MD5.
    let head =
        [&b"fLaC\x80\0\0\x22\x10\0\x10\0\0\0\0\0\0\0\x01\xf4\x02\xf0"[..], &30_000u32.to_be_bytes(), &[0; 16]].concat();
    fs::write(dir.path().join("sound.flac"), [&head, frames].concat()).unwrap();
    let ffmpeg = Command::new("ffmpeg")
        .current_dir(dir.path())
        .args(["-v", "error", "-i", "sound.flac", "-f", "s16le", "-"])
        .output();
    let Ok(decoded) = ffmpeg else { return crate::common::skip::skip("no ffmpeg program") };
    assert!(decoded.stderr.is_empty(), "{}", String::from_utf8_lossy(&decoded.stderr));
    assert!(decoded.stdout == numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>());
}

#[test]
fn sound_that_opus_cannot_have_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = writer(&dir.path().join("set"));
    let times = TrackTimes::Rate { first_ns: 0, rate: (44_100, 1) };
    for (track, found) in [
        (Track { times, ..speech() }, "44100/1"),
        (Track { shape: vec![6], ..speech() }, "[6]"),
        (Track { values: TrackValues::I32(vec![0; 600]), ..speech() }, "i32"),
    ] {
        let e = append(&mut writer, "a", &frames(1, 0), &[track]).unwrap_err().to_string();
        assert!(e.contains("cannot be stored as Opus") && e.contains("48000") && e.contains(found), "{e}");
    }
}

#[test]
fn tracks_are_read_as_they_were_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = set(&dir.path().join("set"));
    let set = proven(&path);
    let names: Vec<_> = set.tracks().unwrap().into_iter().map(|track| track.name).collect();
    assert_eq!(names, ["caption", "depth", "sound", "speech", "state"]);
    let heard = set.clip(3).unwrap().track("sound").unwrap().unwrap();
    assert_eq!((heard.coding(), &heard.numbers::<i16>().unwrap()[..]), (TrackCoding::Flac, &wave()[..]));
    let seen = set.clip(3).unwrap().track("depth").unwrap().unwrap();
    assert_eq!(
        (seen.coding(), TrackValues::U16(seen.numbers().unwrap().into_owned())),
        (TrackCoding::Png, depth().values)
    );
    let speech = set.clip(3).unwrap().track("speech").unwrap().unwrap();
    assert_eq!((speech.coding(), speech.len(), speech.rate()), (TrackCoding::Opus, 9000, Some((5, (16_000, 1)))));
    for io in [Io::Map, Io::Read] {
        let set = Dataset::open_with(&path, io).unwrap();
        let clip = set.clip(0).unwrap();
        let state = clip.track("state").unwrap().unwrap();
        assert_eq!(state.numbers::<f32>().unwrap()[..], [1.0, 2.0, 3.0, 4.0]);
        assert!(state.numbers::<f64>().is_none() && state.text(0).is_none() && state.rate().is_none());
        assert_eq!((state.len(), state.schema().kind, state.schema().timing), (2, TrackType::F32, TrackTiming::Frames));
        assert_eq!((state.time_ns(0).unwrap(), state.time_ns(1).unwrap()), (0, 333_333_333));
        assert!(state.time_ns(2).is_err());
        let caption = clip.track("caption").unwrap().unwrap();
        assert_eq!(caption.texts().unwrap().collect::<Vec<_>>(), ["up", "größer"]);
        assert_eq!((caption.starts_ns().unwrap()[1], caption.ends_ns().unwrap()[1]), (993, 1493));
        assert!(clip.track("sound").unwrap().is_none() && clip.track("other").unwrap().is_none());
        assert_eq!(set.clip(1).unwrap().tracks().unwrap().names().count(), 0);
        assert!(set.clip(2).unwrap().track("caption").unwrap().unwrap().is_empty(), "there, but without values");
        let sound = set.clip(3).unwrap().track("sound").unwrap().unwrap();
        assert_eq!((sound.time_ns(2).unwrap(), sound.rate()), (125_005, Some((5, (16_000, 1)))));
    }
}

#[test]
fn a_data_set_without_tracks_has_no_track_file_and_the_version_that_it_had() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = writer(&dir.path().join("set"));
    append(&mut writer, "a", &frames(1, 0), &[]).unwrap();
    writer.finish().unwrap();
    let names: Vec<_> = fs::read_dir(dir.path().join("set")).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(names.iter().all(|path| path.extension().unwrap() != "vtrk"), "{names:?}");
    let index = names.iter().find(|path| path.extension().unwrap() == "vidx").unwrap();
    assert_eq!(fs::read(index).unwrap()[10..12], [0, 0]);
    let listing = fs::read_to_string(dir.path().join("set/dataset.json")).unwrap();
    assert!(!listing.contains("track"), "{listing}");
}

#[test]
fn what_cannot_be_a_track_is_refused_and_the_next_clip_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("set");
    let mut writer = writer(&path);
    append(&mut writer, "a", &frames(2, 0), &[state(&[1.0, 2.0], 2)]).unwrap();
    let wrong = [
        (state(&[1.0, 2.0, 3.0, 4.0], 2), "f32 [1], frames"),
        (state(&[1.0, f32::NAN], 2), "not a number"),
        (state(&[1.0], 1), "one value for each frame"),
        (Track { name: String::new(), ..state(&[1.0, 2.0], 2) }, "name of a track"),
        (Track { shape: vec![3], name: "x".into(), ..state(&[1.0, 2.0], 2) }, "a multiple of 3"),
        (Track { times: TrackTimes::Times(vec![2, 1]), name: "x".into(), ..state(&[1.0, 2.0], 2) }, "times decrease"),
        (Track { times: TrackTimes::Times(vec![2]), name: "x".into(), ..state(&[1.0, 2.0], 2) }, "one time for each"),
        (Track { times: TrackTimes::Rate { first_ns: 0, rate: (0, 1) }, name: "x".into(), ..state(&[1.0], 1) }, "rate"),
    ];
    for (track, words) in wrong {
        let error = append(&mut writer, "b", &frames(2, 1), &[track]).unwrap_err();
        assert!(format!("{error:#}").contains(words), "{error:#} does not say {words}");
        assert_eq!(error.clip(), Some(1));
    }
    let twice = [state(&[1.0, 2.0], 2), state(&[1.0, 2.0], 2)];
    assert!(append(&mut writer, "b", &frames(2, 1), &twice).is_err());
    append(&mut writer, "b", &frames(2, 1), &[state(&[3.0, 4.0], 2)]).unwrap();
    writer.finish().unwrap();
    assert_eq!(proven(&path).tracks().unwrap().len(), 1, "a track that was refused is not known");
}

#[test]
fn every_edit_carries_tracks() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let set = proven(&set(&at("set")));
    let (all, options) = (said(&set), EditOptions::default());
    let sharded = EditOptions { shards: Some(Sharding::Count(4)), ..options };
    edit::merge(std::slice::from_ref(&set), at("reshard"), &sharded, &mut no_progress).unwrap();
    assert_eq!(said(&verified(&at("reshard"))), all);
    let selection = Selection { classes: vec!["b".into()], ..Selection::default() };
    edit::subset(&set, &selection, &Changes::default(), at("subset"), &options, &mut no_progress).unwrap();
    assert_eq!(said(&verified(&at("subset"))), all[2..]);
    let parts = vec![("x".to_owned(), 0.5), ("y".to_owned(), 0.5)];
    let by = RatioSplit { parts, ..RatioSplit::default() };
    edit::split(&set, &by, at("split"), &options, &mut no_progress).unwrap();
    let halves = ["split/x", "split/y"].map(|half| verified(&at(half)));
    edit::merge(&halves, at("merge"), &options, &mut no_progress).unwrap();
    assert_eq!(said(&proven(&at("merge"))), all);
    edit::append(at("split/x"), &halves[1..], &options, &mut no_progress).unwrap();
    assert_eq!(said(&verified(&at("split/x"))), all);
    let renamed = Changes { renamed_classes: vec![("a".into(), "c".into())], ..Changes::default() };
    edit::subset(&set, &Selection::default(), &renamed, at("relabel"), &options, &mut no_progress).unwrap();
    assert_eq!(said(&proven(&at("relabel"))), all);
    // In place of itself: nothing of the old one is left.
    let over = EditOptions { overwrite: true, ..options };
    edit::merge(std::slice::from_ref(&set), at("relabel"), &over, &mut no_progress).unwrap();
    let listed = verified(&at("relabel")).to_json();
    let files = fs::read_dir(at("relabel"))
        .unwrap()
        .filter(|e| !e.as_ref().unwrap().file_name().to_str().unwrap().starts_with('.'))
        .count();
    assert_eq!(files, 1 + listed.shards.iter().map(|s| 2 + usize::from(s.track_file.is_some())).sum::<usize>());
}

/// Times of every kind of track move with those of the frames, and the values stay.
#[test]
fn a_clock_begins_later_for_frames_and_for_tracks() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, tracks: &[Track]| {
        let mut writer = writer(&dir.path().join(name));
        let jpegs = frames(2, 0);
        let data: Vec<_> = (4..).zip(&jpegs).map(|(pts, jpeg)| FrameData { jpeg, pts, source_index: None }).collect();
        let info = ClipInfo { width: 16, height: 16, time_base: (1, 3), ..ClipInfo::default() };
        writer.append_with_tracks(&info, &data, tracks).unwrap();
        writer.finish().unwrap();
        Dataset::open(dir.path().join(name)).unwrap()
    };
    let aligned = |set: &Dataset| {
        let changes = Changes { align_clocks: true, ..Changes::default() };
        let out = tempfile::tempdir_in(dir.path()).unwrap().keep().join("out");
        edit::subset(set, &Selection::default(), &changes, &out, &EditOptions::default(), &mut no_progress)
            .map(|_| proven(&out))
    };
    let set = write("set", &[sound(&wave()), speech(), caption(&["x", "y"]), state(&[5.0, 6.0, 7.0, 8.0], 2), depth()]);
    let late = aligned(&set).unwrap();
    let (before, after) = (set.clip(0).unwrap(), late.clip(0).unwrap());
    assert_eq!([0, 1].map(|t| after.frame(t).unwrap().pts()), [0, 1]);
    for before in &before.tracks().unwrap().all().unwrap() {
        let after = after.track(before.name()).unwrap().unwrap();
        assert_eq!((before.schema(), before.number_bytes()), (after.schema(), after.number_bytes()));
        let earlier = |track: &TrackView<'_>, ns: i64| -> Vec<i64> {
            let starts = (0..track.len().min(9)).map(|i| track.time_ns(i).unwrap() - ns);
            starts.chain(track.ends_ns().unwrap_or_default().iter().map(|end| end - ns)).collect()
        };
        // The frames themselves are at thirds of a second.
        let mut both = earlier(before, 1_333_333_333).into_iter().zip(earlier(&after, 0));
        assert!(both.all(|(before, after)| (before - after).abs() <= 1), "{}", after.name());
    }
    // Already there, to the nearest frame.
    let same = aligned(&late).unwrap();
    assert_eq!(said(&same), said(&late));
    let times = TrackTimes::Times(vec![i64::MIN, 0]);
    let far = write("far", &[Track { times, ..depth() }]);
    assert!(aligned(&far).unwrap_err().to_string().contains("64 bits"));
}

#[test]
fn tracks_that_differ_are_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let one = |name: &str, tracks: &[Track]| {
        let mut writer = writer(&dir.path().join(name));
        append(&mut writer, name, &frames(2, 0), tracks).unwrap();
        writer.finish().unwrap();
        Dataset::open(dir.path().join(name)).unwrap()
    };
    let (a, b, c) =
        (one("a", &[state(&[1.0, 2.0], 2)]), one("b", &[state(&[1.0; 4], 2)]), one("c", &[caption(&["x"])]));
    let (out, options) = (dir.path().join("out"), EditOptions::default());
    let error = edit::merge(&[a.clone(), b.clone()], &out, &options, &mut no_progress).unwrap_err().to_string();
    assert!(error.contains("\"state\"") && error.contains("f32 [1]") && error.contains("f32 [2]"), "{error}");
    assert!(!out.join("dataset.json").exists());
    let before = said(&a);
    assert!(edit::append(dir.path().join("a"), std::slice::from_ref(&b), &options, &mut no_progress).is_err());
    assert_eq!(said(&proven(&dir.path().join("a"))), before);
    edit::merge(&[a, c], &out, &options, &mut no_progress).unwrap();
    assert_eq!(proven(&out).tracks().unwrap().len(), 2);
    let concatenated = Dataset::concat(&[Dataset::open(dir.path().join("a")).unwrap(), b]);
    assert_eq!(concatenated.unwrap_err().rule(), Some("dataset-tracks"));
}

#[test]
fn a_single_shard_has_its_tracks() {
    let dir = tempfile::tempdir().unwrap();
    let path = set(&dir.path().join("set"));
    for ending in ["vidx", "rec"] {
        let shard = Dataset::open(file(&path, &format!("shard-00001.{ending}"))).unwrap();
        assert_eq!(shard.clip(1).unwrap().tracks().unwrap().all().unwrap().len(), 5);
    }
    // As a version that knows no tracks lists it.
    let listing = fs::read_to_string(path.join("dataset.json")).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&listing).unwrap();
    json["shards"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .for_each(|s| drop(s.as_object_mut().unwrap().remove("track_file")));
    fs::write(path.join("dataset.json"), json.to_string()).unwrap();
    assert_eq!(proven(&path).tracks().unwrap().len(), 5);
}

#[test]
fn a_repair_keeps_what_is_intact_and_names_what_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let (path, saved) = (set(&dir.path().join("set")), dir.path().join("saved"));
    let options = RepairOptions { output: Some(saved.clone()), overwrite: true };
    let repair = || repair(&path, &options, &mut no_progress).unwrap();
    let all = said(&Dataset::open(&path).unwrap());
    // A list that does not name the track files: the indexes do. Another file is none of them.
    let listing = fs::read(path.join("dataset.json")).unwrap();
    fs::remove_file(path.join("dataset.json")).unwrap();
    let other = dir.path().join("other");
    Rich::default().write(&other);
    fs::copy(file(&path, "shard-00000.vtrk"), other.join("shard-00000-0123456789ab.vtrk")).unwrap();
    fs::remove_file(other.join("dataset.json")).unwrap();
    assert!(vidrec::repair(&other, &options, &mut no_progress).unwrap().lost_nothing());
    assert!(Dataset::open(&saved).unwrap().tracks().unwrap().is_empty());
    assert!(repair().lost_nothing());
    assert_eq!(said(&verified(&saved)), all);
    fs::write(path.join("dataset.json"), listing).unwrap();
    // A damaged track of the last clip, outside of the ends of the file.
    let track_file = file(&path, "shard-00001.vtrk");
    let mut bytes = fs::read(&track_file).unwrap();
    let at = bytes.len() / 2;
    assert!(at > 4096);
    bytes[at] ^= 1;
    fs::write(&track_file, &bytes).unwrap();
    let lost_tracks =
        |report: &RepairReport| -> Vec<_> { report.partly_lost.iter().map(|clip| clip.what.clone()).collect() };
    let report = repair();
    assert_eq!((report.saved, report.lost.len()), (4, 0), "{report:#?}");
    let lost = lost_tracks(&report);
    assert!(lost.len() == 1 && lost[0].contains("track"), "{report:#?}");
    let set = proven(&saved);
    assert_eq!(set.clip(3).unwrap().tracks().unwrap().names().count(), 0);
    assert!(set.clip(0).unwrap().track("state").unwrap().is_some());
    // A file that cannot be opened, and a lost one: the clips stay. Nothing says which of them had tracks.
    for harm in [Some(&bytes[..100]), None] {
        fs::remove_file(&track_file).unwrap();
        harm.iter().for_each(|bytes| fs::write(&track_file, bytes).unwrap());
        let report = repair();
        assert!(report.damage.iter().any(|damage| damage.contains(".vtrk")), "{report:#?}");
        assert_eq!(lost_tracks(&report).len(), 2, "{report:#?}");
        assert_eq!(verified(&saved).len(), 4);
    }
}

/// Any change of a track file is found by `verify`, and reading gives what was written or an error.
#[test]
fn damage_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let path = set(&dir.path().join("set"));
    let all = said(&Dataset::open(&path).unwrap());
    let track_file = file(&path, "shard-00001.vtrk");
    let whole = fs::read(&track_file).unwrap();
    let saved = dir.path().join("saved");
    let options = RepairOptions { output: Some(saved.clone()), overwrite: true };
    let changes = (any::<prop::sample::Index>(), 0..8u32, prop::option::of(any::<prop::sample::Index>()));
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(16));
    let outcome = runner.run(&changes, |(at, bit, cut)| {
        let mut bytes = whole.clone();
        bytes[at.index(whole.len())] ^= 1 << bit;
        if let Some(cut) = cut {
            bytes.truncate(cut.index(whole.len()));
        }
        fs::write(&track_file, &bytes).unwrap();
        prop_assert!(!verify(&path, VerifyOptions::default(), &mut no_progress).unwrap().ok);
        if let Ok(set) = Dataset::open(&path) {
            for (clip, (_, words)) in set.clips().zip(&all) {
                let clip = clip.unwrap();
                if let Ok(tracks) = clip.tracks().and_then(|tracks| tracks.all()) {
                    prop_assert!(tracks.len() == words.len() || clip.ordinal() != 3 || words.is_empty());
                }
            }
        }
        let report = repair(&path, &options, &mut no_progress).unwrap();
        prop_assert!(report.saved == 4 && report.lost.is_empty(), "{:#?}", report);
        for (clip, whole) in said(&verified(&saved)).into_iter().zip(&all) {
            let has_lost = report.partly_lost.iter().any(|lost| lost.source == clip.0);
            prop_assert_eq!(&clip, &if has_lost { (whole.0.clone(), Vec::new()) } else { whole.clone() });
        }
        Ok(())
    });
    outcome.unwrap();
}
