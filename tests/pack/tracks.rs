//! `vidrec pack --track`: numbers and texts from the files and lists that a manifest names, beside the frames.

use std::fs;
use std::ops::Deref;
use std::process::{Command, Output};

use serde_json::{Value, json};
use vidrec::{Clip, Dataset, TrackTiming, TrackType};

use crate::common::program_runs::{show, stderr};
use crate::common::rich::assert_verifies;
use crate::common::skip::has_decoder_faults;
use crate::common::until::until;
use crate::common::{ffmpeg_videos, tree};
use crate::pack::support::{Room, indexes};

/// Videos of a second, with ten frames, and files of values beside them.
pub(crate) struct Videos(Room);

impl Deref for Videos {
    type Target = Room;

    fn deref(&self) -> &Room {
        &self.0
    }
}

const MS: i64 = 1_000_000;

/// An array as NumPy writes it.
fn npy(kind: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
    let header = format!("{header:<117}\n");
    [&b"\x93NUMPY\x01\0"[..], &(header.len() as u16).to_le_bytes(), header.as_bytes(), bytes].concat()
}

fn f32s(numbers: impl IntoIterator<Item = f32>) -> Vec<u8> {
    numbers.into_iter().flat_map(f32::to_le_bytes).collect()
}

impl Videos {
    pub(crate) fn make(count: usize) -> Self {
        let videos = Videos(Room::new());
        for i in 0..count {
            let source = format!("testsrc2=size=64x48:rate=10:duration=1,hue=h={}", i * 30);
            ffmpeg_videos::make(&format!("-f lavfi -i {source} -c:v mpeg4"), videos.path(&format!("in/{i}.mp4")));
        }
        videos
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(&format!("in/{name}")), bytes).unwrap();
    }

    /// A list of these rows.
    pub(crate) fn list(&self, rows: impl IntoIterator<Item = Value>) {
        let lines: String = rows.into_iter().map(|row| format!("{row}\n")).collect();
        self.write("list.jsonl", lines);
    }

    fn command(&self, out: &str, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vidrec"));
        command.current_dir(self.path("")).args(["pack", "in/list.jsonl", "-o", out, "-n", "4"]).args(more);
        command
    }

    pub(crate) fn pack(&self, out: &str, more: &[&str]) -> Output {
        self.command(out, more).output().unwrap()
    }

    /// Packs all videos, and proves the data set.
    #[track_caller]
    pub(crate) fn whole(&self, out: &str, more: &[&str]) -> Dataset {
        let run = self.pack(out, more);
        assert_eq!(run.status.code(), Some(0), "{}", show(&run));
        assert_verifies(&self.path(out));
        Dataset::open(self.path(out)).unwrap()
    }
}

fn f32_values(clip: &Clip<'_>, name: &str) -> Vec<f32> {
    clip.track(name).unwrap().unwrap().numbers::<f32>().unwrap().to_vec()
}

fn times(clip: &Clip<'_>, name: &str) -> Vec<i64> {
    let track = clip.track(name).unwrap().unwrap();
    (0..track.len()).map(|i| track.time_ns(i).unwrap()).collect()
}

/// A list with a track of every timing, with other values for each video; video 1 has one track only.
fn every_timing(videos: &Videos, count: usize) -> Vec<&'static str> {
    let row = |i: usize| {
        videos.write(&format!("action{i}.npy"), npy("<f4", "20, 2", &f32s((0..40).map(|k| (100 * i + k) as f32))));
        let state: Vec<u8> = (0..10).flat_map(|k| (10 * i as i64 + k).to_le_bytes()).collect();
        videos.write(&format!("state{i}.npy"), npy("<i8", "10,", &state));
        let gaze: String = (0..5).map(|k| format!("{},{},{k}\n", 200_000 * k, i)).collect();
        videos.write(&format!("gaze{i}.csv"), format!("t,x,y\n{gaze}"));
        let words = json!([[0, 0.5, format!("first {i}")], {"start": 0.5, "end": 0.95, "text": "then ü"}]);
        let weight: Vec<f64> = (0..10).map(|k| f64::from(k) / 8.0).collect();
        let mut row = json!({
            "path": format!("{i}.mp4"), "label": i, "fps": 10, "actions": format!("action{i}.npy"),
            "states": format!("state{i}.npy"), "gazes": format!("gaze{i}.csv"), "words": words, "weights": weight,
        });
        if i == 1 {
            row.as_object_mut().unwrap().retain(|key, _| ["path", "label", "fps", "states"].contains(&key.as_str()));
        }
        row
    };
    videos.list((0..count).map(row));
    let specs = [
        "action=actions,rate=20",
        "state=states,frames",
        "gaze=gazes,times=t,unit=us,type=f32",
        "caption=words,spans",
        "weight=weights,every-frame,type=f32",
    ];
    specs.into_iter().flat_map(|spec| ["--track", spec]).collect()
}

#[test]
fn tracks_of_every_timing_are_packed() {
    let videos = Videos::make(3);
    let specs = every_timing(&videos, 3);
    let set = videos.whole("set", &specs);
    for i in [0, 2] {
        let clip = set.clip(i as u64).unwrap();
        let action = clip.track("action").unwrap().unwrap();
        let schema = action.schema();
        assert_eq!(
            (schema.kind, schema.shape.as_slice(), schema.timing),
            (TrackType::F32, &[2][..], TrackTiming::Rate)
        );
        let expected: Vec<f32> = (0..40).map(|k| (100 * i + k) as f32).collect();
        assert_eq!(f32_values(&clip, "action"), expected);
        assert_eq!(times(&clip, "action")[..3], [0, 50 * MS, 100 * MS]);
        let state = clip.track("state").unwrap().unwrap();
        // The centers of four segments of ten frames.
        let expected: Vec<i64> = indexes(&clip).into_iter().map(|frame| 10 * i64::from(i) + i64::from(frame)).collect();
        assert_eq!(state.numbers::<i64>().unwrap()[..], expected);
        assert_eq!(f32_values(&clip, "gaze"), (0..5).flat_map(|k| [i as f32, k as f32]).collect::<Vec<_>>());
        assert_eq!(times(&clip, "gaze"), [0, 200, 400, 600, 800].map(|t| t * MS));
        let caption = clip.track("caption").unwrap().unwrap();
        assert_eq!([caption.text(0), caption.text(1)], [Some(format!("first {i}")), Some("then ü".into())]);
        assert_eq!(f32_values(&clip, "weight").len(), 10);
        assert_eq!(times(&clip, "weight")[9], 900 * MS);
        let attributes = clip.attributes().unwrap();
        let has = |key: &str| attributes.get::<Value>(key).unwrap().is_some();
        assert!(has("fps") && !has("words"), "{attributes:?}");
    }
    let clip = set.clip(1).unwrap();
    assert!(clip.track("state").unwrap().is_some() && clip.track("action").unwrap().is_none());
    let settings: Vec<String> = set.to_json().settings.get("track").unwrap().unwrap();
    assert_eq!(settings[0], "action=actions,rate=20");
    let said = stderr(&videos.pack("set", &[&specs[..], &["--if-exists", "replace"]].concat()));
    assert!(said.contains(r#"tracks from "actions""#) && said.contains(r#"attributes "fps""#), "{said}");
    let report = Command::new("python3").arg("format-spec/verify.py").arg(videos.path("set")).output().unwrap();
    assert!(report.status.success(), "{}", String::from_utf8_lossy(&report.stdout));
}

#[test]
fn segments_have_their_part_of_the_tracks() {
    let videos = Videos::make(1);
    videos.write("a.npy", npy("<f4", "100,", &f32s((0..100).map(|k| k as f32))));
    videos.write("own.npy", npy("<f4", "4,", &f32s([1.0, 2.0, 3.0, 4.0])));
    let row = json!({"path": "0.mp4", "start": 0.4, "end": 0.8, "a": "a.npy", "own": "own.npy",
        "words": [[0.1, 0.45, "x"], [0.5, 0.6, "y"], [0.8, 0.9, "z"]]});
    videos.list([row]);
    let set = videos.whole(
        "set",
        &["--track", "a=a,rate=100", "--track", "own=own,frames,clock=segment", "--track", "words=words,spans"],
    );
    let clip = set.clip(0).unwrap();
    assert_eq!(f32_values(&clip, "a"), (40..80).map(|k| k as f32).collect::<Vec<_>>());
    assert_eq!(times(&clip, "a")[..2], [400 * MS, 410 * MS]);
    assert_eq!((indexes(&clip), f32_values(&clip, "own")), (vec![4, 5, 6, 7], vec![1.0, 2.0, 3.0, 4.0]));
    let words = clip.track("words").unwrap().unwrap();
    assert_eq!((words.len(), words.text(0), words.text(1)), (2, Some("x".into()), Some("y".into())));
    assert_eq!(words.time_ns(0).unwrap(), 400 * MS, "cut at the start of the segment");
}

#[test]
fn values_come_from_tables_and_npz() {
    let videos = Videos::make(1);
    let rows: String = (0..10).map(|i| format!("{:.1},{i},{i}.5\n", f64::from(i) / 10.0)).collect();
    videos.write("a.csv", format!("t,x,y\n{rows}"));
    videos.write("x.npy", npy("<f8", "3,", &[0.5f64, 1.5, 2.5].map(f64::to_le_bytes).concat()));
    videos.write("t.npy", npy("<i4", "3,", &[0i32, 400, 900].map(i32::to_le_bytes).concat()));
    let mut python = Command::new("python3");
    python.args(["-c", ZIP]).args(["b.npz", "x.npy", "t.npy"].map(|name| videos.path("in").join(name)));
    assert!(python.status().unwrap().success());
    videos.list([json!({"path": "0.mp4", "a": "a.csv", "b": "b.npz"})]);
    let set = videos.whole("set", &["--track", "a=a,times=t,values=x+y", "--track", "b=b,times=t,unit=ms,values=x"]);
    let clip = set.clip(0).unwrap();
    let a = clip.track("a").unwrap().unwrap();
    assert_eq!((a.schema().kind, &a.schema().shape[..]), (TrackType::F64, &[2][..]));
    assert_eq!(a.numbers::<f64>().unwrap()[..4], [0.0, 0.5, 1.0, 1.5]);
    assert_eq!(times(&clip, "a")[..2], [0, 100 * MS]);
    let b = clip.track("b").unwrap().unwrap();
    assert_eq!((b.numbers::<f64>().unwrap().to_vec(), times(&clip, "b")[2]), (vec![0.5, 1.5, 2.5], 900 * MS));
}

/// Makes an archive as `numpy.savez_compressed` does.
const ZIP: &str = "import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as z:
    for path in sys.argv[2:]:
        with z.open(path.rsplit('/')[-1], 'w', force_zip64=True) as f: f.write(open(path, 'rb').read())
";

#[test]
fn values_that_do_not_go_with_their_video_fail_it_by_name() {
    let videos = Videos::make(2);
    videos.write("good.npy", npy("<f4", "10,", &f32s([0.0; 10])));
    videos.write("nine.npy", npy("<f4", "9,", &f32s([0.0; 9])));
    videos.write("long.npy", npy("<f4", "90,", &f32s([0.0; 90])));
    videos.write("nan.npy", npy("<f4", "10,", &f32s([0.0, 0.0, 0.0, f32::NAN, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])));
    videos.write("double.npy", npy("<f8", "10,", &[0; 80]));
    videos.write("pairs.npy", npy("<f4", "10, 2", &[0; 80]));
    videos.write("short.npy", &npy("<f4", "10,", &f32s([0.0; 10]))[..140]);
    videos.write("odd.xyz", "");
    let good = json!((0..10).collect::<Vec<_>>());
    let back = json!([0.0, 0.1, 0.2, 0.15, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]);
    let t = json!((0..10).map(|i| f64::from(i) / 10.0).collect::<Vec<_>>());
    for (spec, cell, times, parts) in [
        ("a=a,frames", json!("nine.npy"), &t, &["nine.npy", "expected 10 values", "found 9"][..]),
        ("a=a,rate=10", json!("nine.npy"), &t, &[]),
        ("a=a,rate=10,tolerance=0.05", json!("nine.npy"), &t, &["shorter than the video", "0 to 1 s", "9 values"]),
        ("a=a,rate=10,tolerance=0.05,partial", json!("nine.npy"), &t, &[]),
        (
            "a=a,spans",
            json!([[0.1, 0.2, "x"], [0.9, 1.6, "y"]]),
            &t,
            &["outside the video", "value 1 from 0.9 to 1.6 s"],
        ),
        ("a=a,spans", json!([[0.5, 0.4, "x"]]), &t, &["ends before"]),
        ("a=a,spans", json!([[0.5, 0.6, "x"], [0.4, 0.9, "y"]]), &t, &["starts run backwards"]),
        ("a=a,rate=10", json!("long.npy"), &t, &["longer than the video", "90 values from 0 to 9 s"]),
        ("a=a,frames", json!("nan.npy"), &t, &["nan.npy", "not a number", "value"]),
        ("a=a,frames,nan", json!("nan.npy"), &t, &[]),
        (
            "a=a,frames",
            json!("double.npy"),
            &t,
            &["differ in type or shape from those of the first row", "expected f32 []", "found f64 []"],
        ),
        ("a=a,frames,type=f32", json!("double.npy"), &t, &[]),
        (
            "a=a,frames",
            json!("pairs.npy"),
            &t,
            &["differ in type or shape from those of the first row", "found f32 [2]"],
        ),
        ("a=a,frames", json!("short.npy"), &t, &["short.npy", "cut off"]),
        ("a=a,frames", json!("odd.xyz"), &t, &["odd.xyz", "expected .npy, .npz, .csv, .tsv, .json or .png"]),
        ("a=a,frames", json!("gone.npy"), &t, &["gone.npy", "No such file"]),
        ("a=a,frames", json!("s3://bucket/a.npy"), &t, &["must be on this machine"]),
        ("a=a,times=t", json!("good.npy"), &back, &["times run backwards", "0.15 s at value 3, after 0.2 s"]),
        ("a=a,times=t", json!("good.npy"), &good, &["longer than the video"]),
        ("a=a,times=t", json!("nine.npy"), &t, &["one time for each value", "expected 9 times", "found 10"]),
    ] {
        let values = if spec == "a=a,spans" { json!([[0, 1, "x"]]) } else { json!("good.npy") };
        let first = json!({"path": "0.mp4", "a": values, "t": t});
        videos.list([first, json!({"path": "1.mp4", "a": cell, "t": times})]);
        let run = videos.pack("set", &["--if-exists", "replace", "--track", spec]);
        let said = stderr(&run);
        if parts.is_empty() {
            assert_eq!(run.status.code(), Some(0), "{spec} {cell}: {said}");
            continue;
        }
        assert_eq!(run.status.code(), Some(3), "{spec} {cell}: {said}");
        let failures = tree(&videos.path("set")).into_iter().find(|(name, _)| name.starts_with("failures")).unwrap().1;
        let failure: Value = serde_json::from_slice(&failures).unwrap();
        assert_eq!((&failure["source"], &failure["stage"]), (&json!("1.mp4"), &json!("track")), "{failure}");
        let error = failure["error"].as_str().unwrap();
        for part in parts.iter().chain(&["track \"a\"", "line 2 of in/list.jsonl"]) {
            assert!(error.contains(part), "{spec} {cell}: {error:?} lacks {part:?}");
        }
    }
}

#[test]
fn specs_that_make_no_sense_are_refused_before_the_work() {
    let videos = Videos::make(1);
    videos.write("a.npy", npy("<f4", "10,", &f32s([0.0; 10])));
    videos.list([json!({"path": "0.mp4", "a": "a.npy", "n": 3})]);
    for (more, part) in [
        (&["--track", "a=b,frames"][..], "no row of a manifest has a column \"b\""),
        (&["--track", "a=path,frames"], "has another meaning"),
        (&["--track", "a=a,frames", "--track", "a=a,every-frame"], "two tracks have this name"),
        (&["--track", "a=n,frames"], "expected the name of a file or a list, found 3"),
        (&["--track", "a=a"], "needs one of rate=RATE"),
        (&["--track", "a=a,frames,clock=segment", "--segments", "ignore"], "--segments"),
    ] {
        let run = videos.pack("set", more);
        let said = stderr(&run);
        assert!(matches!(run.status.code(), Some(1 | 2)) && said.contains(part), "{more:?}: {said}");
        assert!(!videos.path("set").exists());
    }
}

#[test]
fn a_pack_of_tracks_is_resumed_unless_a_file_of_values_changed() {
    if !has_decoder_faults() {
        return;
    }
    let videos = Videos::make(4);
    let specs = every_timing(&videos, 4);
    let with = |more: &[&'static str]| [&specs[..], &["--shards", "4", "-j", "1"], more].concat();
    videos.whole("whole", &with(&[]));
    let mut child = videos.command("set", &with(&[])).env("VIDREC_DECODER_FAULT", "hang:2.mp4").spawn().unwrap();
    let receipt = videos.path("set").join(".vidrec.pack/parts/00001.json");
    until("two shards are finished", || receipt.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    let path = videos.path("in/action0.npy");
    let (values, time) = (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap());
    videos.write("action0.npy", npy("<f4", "21, 2", &f32s([0.0; 42])));
    let resumed = videos.pack("set", &with(&["--if-exists", "resume"]));
    let said = stderr(&resumed);
    assert!(resumed.status.code() == Some(1) && said.contains("action0.npy changed"), "{said}");
    fs::write(&path, values).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    videos.whole("set", &with(&["--if-exists", "resume"]));
    assert!(tree(&videos.path("set")) == tree(&videos.path("whole")));
}

#[test]
fn each_draw_has_the_values_of_its_own_frames() {
    let videos = Videos::make(2);
    let row = |i: usize| {
        videos.write(&format!("n{i}.npy"), npy("<f4", "10,", &f32s((0..10).map(|k| (100 * i + k) as f32))));
        json!({"path": format!("{i}.mp4"), "n": format!("n{i}.npy")})
    };
    videos.list((0..2).map(row));
    let more = ["--draws", "3", "--sample", "random", "--track", "n=n,frames", "--track", "all=n,every-frame"];
    let set = videos.whole("set", &more);
    assert_eq!(set.len(), 6);
    let mut chosen = Vec::new();
    for (clip, i) in set.clips().map(Result::unwrap).zip([0, 0, 0, 1, 1, 1]) {
        let frames = indexes(&clip);
        let wanted: Vec<f32> = frames.iter().map(|&frame| (100 * i + frame) as f32).collect();
        assert_eq!(f32_values(&clip, "n"), wanted);
        let all: Vec<f32> = (0..10).map(|k| (100 * i + k) as f32).collect();
        assert_eq!(f32_values(&clip, "all"), all);
        chosen.push(frames);
    }
    assert!(chosen.windows(2).any(|two| two[0] != two[1]), "{chosen:?}");
}

/// A transport stream's clock begins anywhere, with the sound before the pictures here. A player's begins with the first of
/// both, and so do the times that people give.
#[test]
fn times_follow_a_clock_that_begins_elsewhere() {
    let videos = Videos::make(0);
    let sources = "-f lavfi -i sine=d=1.3 -itsoffset 0.3 -f lavfi -i testsrc2=s=64x48:r=10:d=1";
    let how = "-map 1:v -map 0:a -c:v mpeg2video -c:a mp2 -muxdelay 0 -output_ts_offset 100";
    ffmpeg_videos::make(&format!("{sources} {how}"), videos.path("in/late.ts"));
    let start = ffmpeg_videos::probe(&videos.path("in/late.ts"), "format=start_time")[0][0].clone();
    let start = (start.parse::<f64>().unwrap() * 1e9) as i64;
    assert!(start > 90_000 * MS, "{start}");
    let ramp: Vec<u32> = (0..13).collect();
    let t: Vec<f64> = ramp.iter().map(|&i| f64::from(i) / 10.0).collect();
    let row = |from: Option<f64>| {
        let mut row = json!({"path": "late.ts", "a": ramp, "t": t, "words": [[0.3, 0.8, "x"], [0.8, 1.3, "y"]]});
        if let Some(from) = from {
            row["start"] = json!(from);
            row["end"] = json!(1.0);
        }
        row
    };
    videos.list([row(None), row(Some(0.5))]);
    let tracks = ["--track", "rate=a,rate=10", "--track", "times=a,times=t", "--track", "words=words,spans"];
    let set = videos.whole("set", &[&tracks[..], &["--audio", "8000"]].concat());
    // What the program measures is rounded to a millionth.
    let near = |found: i64, seconds: f64| (found - start - (seconds * 1e9) as i64).abs() <= 2000;
    let [whole, part] = [0, 1].map(|i| set.clip(i).unwrap());
    let first = (whole.frame(0).unwrap().pts_seconds() * 1e9) as i64;
    assert!((start + 290 * MS..start + 500 * MS).contains(&first), "pictures begin later: {first}");
    for name in ["rate", "times"] {
        for (clip, values) in [(&whole, 0..13), (&part, 5..10)] {
            let found = times(clip, name);
            assert_eq!(found.len(), values.len(), "{name}");
            assert!(found.iter().zip(values).all(|(&t, i)| near(t, f64::from(i) / 10.0)), "{name}: {start} {found:?}");
        }
    }
    let spans = |clip: &Clip<'_>| {
        let track = clip.track("words").unwrap().unwrap();
        let ends = track.ends_ns().unwrap().to_vec();
        track.starts_ns().unwrap().iter().copied().zip(ends).collect::<Vec<_>>()
    };
    let (found, cut) = (spans(&whole), spans(&part));
    assert!(near(found[0].0, 0.3) && near(found[1].0, 0.8) && near(found[1].1, 1.3), "{start} {found:?}");
    assert!(near(cut[0].0, 0.5) && near(cut[0].1, 0.8) && near(cut[1].1, 1.0), "{start} {cut:?}");
    // Sound has times of its own, on the same clock.
    let sound = |clip: &Clip<'_>| (times(clip, "audio")[0], clip.track("audio").unwrap().unwrap().len());
    let ((at, samples), (from, cut)) = (sound(&whole), sound(&part));
    assert!((at - start).abs() < MS && (10_300..10_800).contains(&samples), "{start} {at} {samples}");
    assert!(near(from, 0.5) || (from - start - 500 * MS).abs() <= 125_000, "{start} {from}");
    assert_eq!(cut, 4000);
}
