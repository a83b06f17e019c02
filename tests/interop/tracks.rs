//! Tracks, which the formats of other projects have no room for.

use std::fs;
use std::path::{Path, PathBuf};

use vidrec::interop::{frames, metadata, mxnet};
use vidrec::{ClipInfo, Dataset, FrameData, Track, TrackTimes, TrackValues, Writer, WriterOptions, no_progress};

use super::jpeg;

/// Four clips of two frames with tracks of several types and timings, but for one clip.
fn data_set(dir: &Path) -> PathBuf {
    let path = dir.join("set");
    let mut writer = Writer::create(&path, WriterOptions::default()).unwrap();
    let jpegs = [jpeg(0), jpeg(1)];
    let track = |name: &str, values, shape: &[u32], times| Track {
        name: name.into(),
        values,
        shape: shape.into(),
        times,
        ..Track::default()
    };
    let rate = TrackTimes::Rate { first_ns: -7, rate: (30_000, 1001) };
    let spans = TrackTimes::Spans { starts: vec![-5, 7], ends: vec![1, 7] };
    let tracks = [
        track("action", TrackValues::I16((0..600).map(|i| i % 7 * 100).collect()), &[2, 3], rate),
        track("a.times/../x", TrackValues::I32(vec![i32::MIN, 7]), &[], spans.clone()),
        track("動", TrackValues::Bool(vec![false, true]), &[], TrackTimes::Frames),
        track("caption", TrackValues::Texts(vec!["öffnet".into(), String::new()]), &[], spans),
    ];
    for n in 0..4 {
        let frames: Vec<_> = jpegs.iter().map(|jpeg| FrameData { jpeg, pts: n, source_index: None }).collect();
        let tracks = if n == 2 { &[] } else { &tracks[..] };
        writer.append_with_tracks(&ClipInfo::default(), &frames, tracks).unwrap();
    }
    writer.finish().unwrap();
    path
}

#[test]
fn a_format_without_room_for_tracks_says_which_it_leaves_out() {
    let dir = tempfile::tempdir().unwrap();
    let open = Dataset::open(data_set(dir.path())).unwrap();
    for report in [
        mxnet::export(&open, &dir.path().join("mxnet"), &mut no_progress).unwrap(),
        frames::export(&open, 0..open.len(), &dir.path().join("frames"), &mut no_progress).unwrap(),
    ] {
        assert_eq!(report.tracks_left_out, ["a.times/../x", "action", "caption", "動"]);
    }
    let table = dir.path().join("t.jsonl");
    let report = metadata::export(&open, &table, &mut no_progress).unwrap();
    assert!(report.tracks_left_out.is_empty());
    let text = fs::read_to_string(&table).unwrap();
    let clips: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let action = serde_json::json!({
        "name": "action", "type": "i16", "shape": [2, 3], "timing": "rate", "count": 100,
        "first_ns": -7, "rate": [30_000, 1001],
    });
    assert!(clips[1]["tracks"].as_array().unwrap().contains(&action), "{:#}", clips[1]["tracks"]);
    assert_eq!((clips[0]["tracks"].as_array().unwrap().len(), &clips[2]["tracks"]), (4, &serde_json::Value::Null));
}
