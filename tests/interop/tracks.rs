//! Tracks in other projects' formats: out and in again, and what is said where there is no room for them.

use std::fs;
use std::path::{Path, PathBuf};

use vidrec::interop::{ImportOptions, frames, gulp, metadata, mxnet};
use vidrec::{ClipInfo, Dataset, FrameData, Track, TrackTimes, TrackValues, Writer, WriterOptions, no_progress};

use super::{assert_whole, jpeg};

/// Clips of two frames with every type and every timing of tracks, under names that no file can have, and one clip
/// without.
fn data_set(dir: &Path) -> PathBuf {
    let path = dir.join("set");
    let mut writer = Writer::create(&path, WriterOptions::default()).unwrap();
    let jpegs = [jpeg(0), jpeg(1)];
    for n in 0..4u64 {
        let frames: Vec<_> = jpegs.iter().map(|jpeg| FrameData { jpeg, pts: n as i64, source_index: None }).collect();
        let tracks = if n == 2 { Vec::new() } else { tracks(n as i64) };
        let info = ClipInfo { source: format!("{n}.mp4"), ..ClipInfo::default() };
        writer.append_with_tracks(&info, &frames, &tracks).unwrap();
        if n == 1 {
            writer.next_shard().unwrap();
        }
    }
    writer.finish().unwrap();
    path
}

fn tracks(n: i64) -> Vec<Track> {
    let track = |name: &str, values, shape: &[u32], times| Track {
        name: name.into(),
        values,
        shape: shape.into(),
        times,
        nan: name == "nan",
        ..Track::default()
    };
    let odd = [f32::NAN, f32::from_bits(0x7fc0_1234), f32::NEG_INFINITY, -0.0];
    let big = (1 << 60) + n;
    let spans = TrackTimes::Spans { starts: vec![-5, 7 + n], ends: vec![big, 7 + n] };
    let texts = vec!["öffnet \"die\"\n".to_owned(), String::new()];
    let mut tracks = vec![
        track("nan", TrackValues::F32(odd.into()), &[2], TrackTimes::Times(vec![i64::MIN, big])),
        track("Action", TrackValues::F64(vec![0.1, 1e300]), &[], TrackTimes::Frames),
        track(
            "action",
            TrackValues::I16((0..600).map(|i| i % 7 * 100).collect()),
            &[2, 3],
            TrackTimes::Rate { first_ns: -big, rate: (30_000, 1001) },
        ),
        track("a.times/../x", TrackValues::I32(vec![i32::MIN, 7]), &[], spans.clone()),
        track("動", TrackValues::I64(vec![big, -big]), &[], TrackTimes::Times(vec![3, 3])),
        track("作", TrackValues::U8(vec![255; 4]), &[2], TrackTimes::Frames),
        track("done", TrackValues::Bool(vec![false, true]), &[], TrackTimes::Frames),
        track("caption", TrackValues::Texts(texts), &[], spans),
        track("none", TrackValues::F32(Vec::new()), &[14], TrackTimes::Rate { first_ns: 0, rate: (50, 1) }),
    ];
    if n == 1 {
        tracks.retain(|track| track.name != "Action" && track.name != "none");
    }
    tracks
}

/// Everything that is known of the tracks, bit for bit.
fn content(path: &Path) -> Vec<Vec<String>> {
    let set = Dataset::open(path).unwrap();
    let of_clip = |clip: vidrec::Clip<'_>| {
        let tracks = clip.tracks().unwrap().all().unwrap();
        let mut tracks: Vec<String> = tracks
            .iter()
            .map(|track| {
                let texts: Option<Vec<String>> = track.texts().map(Iterator::collect);
                let times = (track.starts_ns(), track.ends_ns(), track.rate());
                format!("{:?} {} {:?} {texts:?} {times:?}", track.schema(), track.len(), track.number_bytes())
            })
            .collect();
        tracks.sort();
        tracks
    };
    set.clips().map(|clip| of_clip(clip.unwrap())).collect()
}

#[test]
fn out_and_in_again_gives_the_same_tracks() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let set = data_set(dir.path());
    let (open, options) = (Dataset::open(&set).unwrap(), ImportOptions::default());
    assert_eq!(content(&set).iter().map(Vec::len).collect::<Vec<_>>(), [9, 7, 0, 9]);

    let reports = [
        gulp::export(&open, &at("gulp"), 3, &mut no_progress).unwrap(),
        frames::export(&open, &at("frames"), &mut no_progress).unwrap(),
    ];
    assert!(reports.iter().all(|report| report.tracks_left_out.is_empty()), "{reports:#?}");
    gulp::import(&at("gulp"), &at("from gulp"), &options, &mut no_progress).unwrap();
    frames::import(&at("frames"), &at("from frames"), &options, &mut no_progress).unwrap();
    for name in ["from gulp", "from frames"] {
        assert_eq!(content(&at(name)), content(&set), "{name}");
        assert_whole(&at(name));
    }
    for name in ["track.action.npy", "track.action-2.npy", "track.caption.json", "track.caption.times.npy"] {
        assert!(at("frames/000000").join(name).exists(), "{name}");
    }
    assert!(!at("frames/000002/track.action.npy").exists());
}

#[test]
fn a_format_without_room_for_tracks_says_which_it_leaves_out() {
    let dir = tempfile::tempdir().unwrap();
    let open = Dataset::open(data_set(dir.path())).unwrap();
    let report = mxnet::export(&open, &dir.path().join("mxnet"), &mut no_progress).unwrap();
    let names = ["Action", "a.times/../x", "action", "caption", "done", "nan", "none", "作", "動"];
    assert_eq!(report.tracks_left_out, names);
    let note = report.left_out_note("out").unwrap();
    assert!(note.starts_with("tracks are not in out") && note.contains("Action, a.times"), "{note}");
    let table = dir.path().join("t.jsonl");
    let rows = |rows| {
        let _ = fs::remove_file(&table);
        let report = metadata::export(&open, &table, metadata::Format::Jsonl, rows, &mut no_progress).unwrap();
        assert!(report.tracks_left_out.is_empty());
        let text = fs::read_to_string(&table).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<serde_json::Value>>()
    };
    let clips = rows(metadata::Rows::Clips);
    let action = serde_json::json!({
        "name": "action", "type": "i16", "shape": [2, 3], "timing": "rate", "count": 100,
        "first_ns": -(1i64 << 60) - 1, "rate": [30_000, 1001],
    });
    assert!(clips[1]["tracks"].as_array().unwrap().contains(&action), "{:#}", clips[1]["tracks"]);
    assert_eq!((clips[0]["tracks"].as_array().unwrap().len(), &clips[2]["tracks"]), (9, &serde_json::Value::Null));
    assert_eq!(rows(metadata::Rows::Frames).len(), 8);
}

/// What an import says of files of tracks that are not what the clip's JSON describes.
#[test]
fn files_that_are_not_the_tracks_are_errors_that_name_them() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let open = Dataset::open(data_set(dir.path())).unwrap();
    frames::export(&open, &at("frames"), &mut no_progress).unwrap();
    let import = |options: &ImportOptions| frames::import(&at("frames"), &at("out"), options, &mut no_progress);
    let clip = |name: &str| at("frames/000001").join(name);
    let json = fs::read_to_string(clip("clip.json")).unwrap();
    let cut = |name: &str| {
        let bytes = fs::read(clip(name)).unwrap();
        bytes[..bytes.len() - 1].to_vec()
    };
    let other = |name: &str| fs::read(at("frames/000000").join(name)).unwrap();
    for (name, bytes, words) in [
        ("track.action-2.npy", None, "No such file"),
        ("track.action-2.npy", Some(cut("track.action-2.npy")), "cut off"),
        ("track.action-2.npy", Some(other("track.nan.npy")), "expected <i2, a number of values and [2, 3], found <f4"),
        ("track.caption.json", Some(b"[1, 2]".to_vec()), "not a list of texts"),
        ("track.caption.json", Some(b"[\"a\"]".to_vec()), "expected 2, found 1"),
        ("track.caption.times.npy", Some(other("track.nan.times.npy")), "a number of values and [2]"),
        ("track.nan.times.npy", Some(b"none".to_vec()), "cannot read this .npy file"),
        ("clip.json", Some(json.replace("\"track.caption\"", "\"../../x\"").into()), "begin with"),
        ("clip.json", Some(json.replace("\"first_ns\"", "\"first\"").into()), "lacks first_ns"),
        ("clip.json", Some(json.replace("30000", "0").into()), "not a positive fraction"),
    ] {
        let path = clip(name);
        let before = fs::read(&path).unwrap();
        match bytes {
            Some(bytes) => fs::write(&path, bytes).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        let e = import(&ImportOptions::default()).unwrap_err();
        let text = format!("{e:#}");
        assert!(text.contains(words) && text.contains("000001"), "{name}: {text}");
        assert!(text.contains("track") && !at("out/dataset.json").exists(), "{name}: {text}");
        let salvaged = import(&ImportOptions { salvage: true, overwrite: true, ..Default::default() }).unwrap();
        assert_eq!((salvaged.clips, salvaged.left_out.len()), (3, 1), "{name}");
        fs::remove_dir_all(at("out")).unwrap();
        fs::write(&path, before).unwrap();
    }
}
