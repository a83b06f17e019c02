//! The `vidrec` program from outside: exit status, standard output, files.
#![cfg(feature = "pack")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::ffmpeg_videos;
use crate::common::names::file;
use crate::common::program_runs::show;
use serde_json::Value;

/// A folder of generated videos: two classes, sizes, rates, one portrait, one broken, one with an odd name.
struct Videos {
    temp: tempfile::TempDir,
}

impl Videos {
    fn make() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let videos = Videos { temp };
        videos.clip("bars/a one.mp4", "smptebars=size=320x240:rate=25:duration=2");
        videos.clip("bars/short.mp4", "smptebars=size=64x48:rate=5:duration=1");
        videos.clip("test/-dash 'q' 50%.mkv", "testsrc2=size=400x300:rate=30:duration=1");
        videos.clip("test/портрет.mp4", "testsrc2=size=180x320:rate=10:duration=3");
        fs::write(videos.path().join("test/broken.mp4"), b"<html>404</html>").unwrap();
        fs::write(videos.path().join("notes.txt"), b"not a video").unwrap();
        videos
    }

    fn clip(&self, name: &str, source: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        ffmpeg_videos::make(&format!("-f lavfi -i {source} -c:v libx264 -pix_fmt yuv420p"), path);
    }

    fn path(&self) -> PathBuf {
        self.temp.path().join("videos")
    }

    fn out(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    /// Packs all videos; the broken one is skipped, so the status is 3.
    fn pack(&self, out: &str, more: &[&str]) -> Value {
        let out = self.out(out);
        let run = vidrec().arg("pack").arg(self.path()).arg("-o").arg(out).arg("--json").args(more).output().unwrap();
        json(&run, 3)
    }
}

fn vidrec() -> Command {
    Command::new(env!("CARGO_BIN_EXE_vidrec"))
}

fn json(run: &Output, status: i32) -> Value {
    assert_eq!(run.status.code(), Some(status), "{}", show(run));
    serde_json::from_slice(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", show(run)))
}

/// Runs a subcommand on a data set and reads the JSON that it prints.
fn report(command: &str, set: &Path, more: &[&str]) -> Value {
    let run = vidrec().arg(command).arg(set).arg("--json").args(more).output().unwrap();
    json(&run, 0)
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn has_keys(value: &Value, wanted: &[&str]) {
    for key in wanted {
        assert!(keys(value).contains(key), "no \"{key}\" in {:?}", keys(value));
    }
}

#[test]
fn packs_inspects_verifies_and_draws() {
    let videos = Videos::make();
    let packed = videos.pack("set", &[]);
    has_keys(&packed, &["clips", "frames", "failed", "short", "bytes", "seconds", "failures"]);
    assert_eq!((&packed["clips"], &packed["frames"], &packed["failed"]), (&4.into(), &32.into(), &1.into()));
    assert_eq!(packed["short"], 1, "5 frames are fewer than 8");
    assert_eq!(packed["failures"][0]["source"], "test/broken.mp4");
    assert_eq!(packed["failures"][0]["stage"], "open");
    assert!(packed["failures"][0]["error"].as_str().unwrap().contains("this is an HTML page"), "{packed}");

    let set = videos.out("set");
    let listed = fs::read_to_string(file(&set, "failures.jsonl")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&listed).unwrap(), packed["failures"][0]);

    let overview = report("inspect", &set, &[]);
    let wanted = ["format_version", "clips", "frames", "frames_per_clip", "bytes", "classes", "shards", "settings"];
    has_keys(&overview, &wanted);
    assert_eq!(overview["classes"], serde_json::json!(["bars", "test"]));
    assert_eq!(overview["frames_per_clip"], 8);
    has_keys(&overview["shards"][0], &["record_file", "index_file", "clips", "frames", "bytes"]);
    assert_eq!(report("inspect", &set, &["--stats"])["classes"][1]["clips"], 2);

    let clip = report("inspect", &set, &["--clip", "2"]);
    has_keys(&clip, &["clip", "source", "label", "class", "width", "height", "attributes", "frames"]);
    assert_eq!(clip["source"], "test/-dash 'q' 50%.mkv");
    assert_eq!((&clip["label"], &clip["class"]), (&1.into(), &"test".into()));
    assert_eq!((&clip["width"], &clip["height"]), (&342.into(), &256.into()), "short side 256, long side even");
    let frames = clip["frames"].as_array().unwrap();
    has_keys(&frames[0], &["frame", "pts_seconds", "offset", "bytes", "crc32"]);
    let indexes: Vec<_> = frames.iter().map(|f| f["source_index"].as_u64().unwrap()).collect();
    assert_eq!(indexes, [1, 5, 9, 13, 16, 20, 24, 28], "centers of 8 equal segments of 30 frames");
    for f in frames {
        let expected = f["source_index"].as_f64().unwrap() / 30.0;
        assert!((f["pts_seconds"].as_f64().unwrap() - expected).abs() < 2e-3, "{f}");
    }

    for deep in [&[][..], &["--deep"]] {
        let verified = report("verify", &set, deep);
        has_keys(&verified, &["ok", "clips", "frames", "problems"]);
        assert_eq!((&verified["ok"], &verified["frames"]), (&true.into(), &32.into()));
    }

    let sheet = videos.out("sheet.png");
    let run = vidrec().arg("view").arg(&set).arg("-o").arg(&sheet).output().unwrap();
    assert!(run.status.success(), "{}", show(&run));
    let picture = image::open(&sheet).unwrap().to_rgb8();
    let colors: std::collections::HashSet<_> = picture.pixels().map(|p| p.0.map(|v| v / 32)).collect();
    assert!(picture.height() > 4 * 100 && colors.len() > 20, "{}x{}", picture.width(), picture.height());
}

#[test]
fn rules_for_short_videos_hold() {
    let videos = Videos::make();
    let indexes = |out: &str, more: &[&str]| -> Vec<u64> {
        videos.pack(out, more);
        let clip = report("inspect", &videos.out(out), &["--clip", "1"]);
        assert_eq!(clip["source"], "bars/short.mp4");
        clip["frames"].as_array().unwrap().iter().map(|f| f["source_index"].as_u64().unwrap()).collect()
    };
    assert_eq!(indexes("loop", &["--short", "loop"]), [0, 1, 2, 3, 4, 0, 1, 2]);
    let skipped = videos.pack("skip", &["--short", "skip"]);
    assert_eq!((&skipped["clips"], &skipped["failed"]), (&3.into(), &2.into()));
    assert_eq!(skipped["failures"][0]["stage"], "short");
    let failed = videos.pack("error", &["--short", "error"]);
    assert_eq!(failed["failures"][0]["stage"], "sample");
    assert_eq!(report("verify", &videos.out("loop"), &["--deep"])["ok"], true);
}

#[test]
fn bench_measures_what_was_asked_for() {
    let videos = Videos::make();
    videos.pack("set", &["--size", "80x60"]);
    let more = ["batch_size=3", "crop=32", "layout=BTHWC", "threads=2", "last=wrap", "--seconds", "0.1"];
    let bench = report("bench", &videos.out("set"), &more);
    let wanted = [
        "frames_per_second",
        "clips_per_second",
        "threads",
        "first_batch_ms",
        "peak_rss_bytes",
        "cpu_seconds_per_1000_frames",
    ];
    has_keys(&bench, &wanted);
    assert_eq!(bench["shape"], serde_json::json!([3, 8, 32, 32, 3]));
    assert_eq!(bench["bytes_per_frame"], 3072.0);
    assert_eq!(bench["threads"], 2);
    assert!(wanted.iter().all(|k| bench[k].as_f64().unwrap() > 0.0), "{bench}");
    assert!(bench["stats"]["frames"].as_u64().unwrap() >= 24);
    let run =
        vidrec().arg("bench").arg(videos.out("set")).args(["dtype=uint8", "normalize=imagenet"]).output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(said.ends_with("; omit normalize=\n"), "options of the loader are no flags: {said}");
}

#[test]
#[ignore = "full: every way of loading"]
fn bench_takes_every_way_of_loading() {
    let videos = Videos::make();
    videos.pack("set", &["--size", "80x60"]);
    let small = ["batch_size=2", "--seconds", "0.02"];
    for more in [
        &[r#"{"frames": {"Run": {"count": 3, "stride": 2}}, "color": {"brightness": 0.4}}"#, "crop=32"][..],
        &[r#"crop={"ThreeCrop": {"size": 32, "resize": [40, 50]}}"#, r#"order={"Blocks": {"block": 2, "window": 2}}"#],
        &[r#"frames={"Views": {"views": 3, "count": 2}}"#, "on_bad_frame=substitute", "--io", "read"],
        &[r#"order={"Homes": {"homes": 2, "exchange": 0.1, "block": 1, "window": 2}}"#],
        &[r#"batching={"Buckets": {"lengths": [8]}}"#, r#"frames={"AllFrames": {}}"#, "prefetch=1"],
    ] {
        let bench = report("bench", &videos.out("set"), &[&small[..], more].concat());
        assert!(bench["frames_per_second"].as_f64().unwrap() > 0.0, "{more:?}: {bench}");
    }
    let bench = report("bench", &videos.out("set"), &["batch_size=2", "--epochs", "3"]);
    assert_eq!(bench["batches"], 6, "three epochs of four clips");
    let tuning = report("bench", &videos.out("set"), &[&small[..], &["--tune"]].concat());
    assert!(tuning["best_threads"].as_u64().unwrap() >= 1 && tuning["runs"].as_array().unwrap().len() >= 2);
    if cfg!(target_os = "linux") {
        let cold = report("bench", &videos.out("set"), &["batch_size=2", "--cold", "--epochs", "1"]);
        assert_eq!(cold["batches"], 2, "{cold}");
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let cache = format!(r#"decoded_cache={{"size": 8000000, "dir": {:?}}}"#, folder.path());
        let cache = [cache.as_str()];
        let crop = ["batch_size=2", "crop=32", "--epochs", "3"];
        let bench = report("bench", &videos.out("set"), &[&crop[..], &cache].concat());
        let cached = &bench["stats"]["decoded_cache"];
        assert!(bench["batches"] == 6 && cached["misses"] == 32 && cached["hits"] == 64, "{cached}");
        let text = vidrec().arg("bench").arg(videos.out("set")).args(crop).args(cache).output().unwrap();
        let text = String::from_utf8_lossy(&text.stdout).into_owned();
        assert!(text.contains("decoded frames: ") && text.contains("no room for 0"), "{text}");
        assert_eq!(folder.path().read_dir().unwrap().count(), 0, "nothing stays");
    }
}

#[test]
fn wrong_usage_is_status_2_and_missing_paths_status_1() {
    for args in
        [&["pack"][..], &["pack", "x"], &["pack", "x", "-o", "y", "--size", "3x"], &["fly"], &["bench", "x", "--io"]]
    {
        assert_eq!(vidrec().args(args).output().unwrap().status.code(), Some(2), "{args:?}");
    }
    let run = vidrec().args(["import", "webdataset", "shards", "-o", "x"]).output().unwrap();
    let text = String::from_utf8(run.stderr).unwrap();
    assert!(run.status.code() == Some(1) && text.contains("vidrec.convert.from_lerobot"), "{text}");
    let both = ["pack", "x", "-o", "y", "--all", "--fps", "5"];
    assert_eq!(vidrec().args(both).output().unwrap().status.code(), Some(2), "one choice of frames at a time");
    for command in ["inspect", "verify", "bench"] {
        let run = vidrec().args([command, "no/such/set"]).output().unwrap();
        assert_eq!(run.status.code(), Some(1));
        assert!(run.stdout.is_empty() && String::from_utf8_lossy(&run.stderr).contains("no/such/set"));
    }
}

#[test]
fn results_go_to_stdout_and_nothing_else_does() {
    let videos = Videos::make();
    let run = vidrec().arg("pack").arg(videos.path()).arg("-o").arg(videos.out("set")).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(out.starts_with("packed 4 clips, 32 frames"), "{out}");
    assert!(err.contains("test/broken.mp4: skipped (stage open)"), "{err}");
    assert!(!err.contains('\r') && !err.contains('\u{1b}'), "no progress bar without a terminal: {err:?}");
}
