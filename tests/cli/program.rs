//! The `vidrec` program from outside: exit status, standard output, files.
#![cfg(feature = "pack")]

use std::fs;
use std::ops::Deref;

use serde_json::{Value, json};

use crate::common::ffmpeg_videos;
use crate::common::names::file;
use crate::common::program_runs::Place;

/// A folder of generated videos: two classes, sizes, rates, one portrait, one broken, one with an odd name.
struct Videos(Place);

impl Deref for Videos {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.0
    }
}

impl Videos {
    fn make() -> Self {
        let videos = Videos(Place::new());
        for (name, source) in [
            ("bars/a one.mp4", "smptebars=size=320x240:rate=25:duration=2"),
            ("bars/short.mp4", "smptebars=size=64x48:rate=5:duration=1"),
            ("test/-dash 'q' 50%.mkv", "testsrc2=size=400x300:rate=30:duration=1"),
            ("test/портрет.mp4", "testsrc2=size=180x320:rate=10:duration=3"),
        ] {
            let path = videos.at("videos").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            ffmpeg_videos::make(&format!("-f lavfi -i {source} -c:v libx264 -pix_fmt yuv420p"), path);
        }
        fs::write(videos.at("videos/test/broken.mp4"), b"<html>404</html>").unwrap();
        fs::write(videos.at("videos/notes.txt"), b"not a video").unwrap();
        videos
    }

    /// Packs all videos; the broken one is skipped, so the status is 3.
    fn pack(&self, out: &str, more: &str) -> Value {
        self.json(&format!("pack videos -o {out}{more}"), 3)
    }

    fn bench(&self, more: &str) -> Value {
        self.json(&format!("bench set {more}"), 0)
    }
}

fn has_keys(value: &Value, wanted: &[&str]) {
    for key in wanted {
        assert!(value.get(key).is_some(), "no \"{key}\" in {value}");
    }
}

fn indexes(clip: &Value) -> Vec<u64> {
    clip["frames"].as_array().unwrap().iter().map(|frame| frame["source_index"].as_u64().unwrap()).collect()
}

#[test]
fn packs_inspects_verifies_and_draws() {
    let videos = Videos::make();
    let packed = videos.pack("set", "");
    has_keys(&packed, &["clips", "frames", "failed", "short", "bytes", "seconds", "failures"]);
    assert_eq!((&packed["clips"], &packed["frames"], &packed["failed"]), (&4.into(), &32.into(), &1.into()));
    assert_eq!(packed["short"], 1, "5 frames are fewer than 8");
    assert_eq!(packed["failures"][0]["source"], "test/broken.mp4");
    assert_eq!(packed["failures"][0]["stage"], "open");
    assert!(packed["failures"][0]["error"].as_str().unwrap().contains("this is an HTML page"), "{packed}");

    let set = videos.at("set");
    let listed = fs::read_to_string(file(&set, "failures.jsonl")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&listed).unwrap(), packed["failures"][0]);

    let overview = videos.json("inspect set", 0);
    let wanted = ["format_version", "clips", "frames", "frames_per_clip", "bytes", "classes", "shards", "settings"];
    has_keys(&overview, &wanted);
    assert_eq!(overview["classes"], json!(["bars", "test"]));
    assert_eq!(overview["frames_per_clip"], 8);
    has_keys(&overview["shards"][0], &["record_file", "index_file", "clips", "frames", "bytes"]);
    assert_eq!(videos.json("inspect set --stats", 0)["classes"][1]["clips"], 2);

    let clip = videos.json("inspect set --clip 2", 0);
    has_keys(&clip, &["clip", "source", "label", "class", "width", "height", "attributes", "frames"]);
    assert_eq!(clip["source"], "test/-dash 'q' 50%.mkv");
    assert_eq!((&clip["label"], &clip["class"]), (&1.into(), &"test".into()));
    assert_eq!((&clip["width"], &clip["height"]), (&342.into(), &256.into()), "short side 256, long side even");
    let frames = clip["frames"].as_array().unwrap();
    has_keys(&frames[0], &["frame", "pts_seconds", "offset", "bytes", "crc32"]);
    assert_eq!(indexes(&clip), [1, 5, 9, 13, 16, 20, 24, 28], "centers of 8 equal segments of 30 frames");
    for f in frames {
        let expected = f["source_index"].as_f64().unwrap() / 30.0;
        assert!((f["pts_seconds"].as_f64().unwrap() - expected).abs() < 2e-3, "{f}");
    }

    for line in ["verify set", "verify set --deep"] {
        let verified = videos.json(line, 0);
        has_keys(&verified, &["ok", "clips", "frames", "problems"]);
        assert_eq!((&verified["ok"], &verified["frames"]), (&true.into(), &32.into()));
    }

    videos.run("view set -o sheet.png", 0);
    let picture = image::open(videos.at("sheet.png")).unwrap().to_rgb8();
    let colors: std::collections::HashSet<_> = picture.pixels().map(|p| p.0.map(|v| v / 32)).collect();
    assert!(picture.height() > 4 * 100 && colors.len() > 20, "{}x{}", picture.width(), picture.height());
}

#[test]
fn rules_for_short_videos_hold() {
    let videos = Videos::make();
    videos.pack("loop", " --short loop");
    let clip = videos.json("inspect loop --clip 1", 0);
    assert_eq!(clip["source"], "bars/short.mp4");
    assert_eq!(indexes(&clip), [0, 1, 2, 3, 4, 0, 1, 2]);
    let skipped = videos.pack("skip", " --short skip");
    assert_eq!((&skipped["clips"], &skipped["failed"]), (&3.into(), &2.into()));
    assert_eq!(skipped["failures"][0]["stage"], "short");
    let failed = videos.pack("error", " --short error");
    assert_eq!(failed["failures"][0]["stage"], "sample");
    videos.run("verify loop --deep", 0);
}

#[test]
fn bench_measures_what_was_asked_for() {
    let videos = Videos::make();
    videos.pack("set", " --size 80x60");
    let bench = videos.bench("batch_size=3 crop=32 layout=BTHWC threads=2 last=wrap --seconds 0.1");
    let wanted = [
        "frames_per_second",
        "clips_per_second",
        "threads",
        "first_batch_ms",
        "peak_rss_bytes",
        "cpu_seconds_per_1000_frames",
    ];
    has_keys(&bench, &wanted);
    assert_eq!(bench["shape"], json!([3, 8, 32, 32, 3]));
    assert_eq!(bench["bytes_per_frame"], 3072.0);
    assert_eq!(bench["threads"], 2);
    assert!(wanted.iter().all(|k| bench[k].as_f64().unwrap() > 0.0), "{bench}");
    assert!(bench["stats"]["frames"].as_u64().unwrap() >= 24);
    let said = videos.error("bench set dtype=uint8 normalize=imagenet", 1);
    assert!(said.ends_with("; omit normalize=\n"), "options of the loader are no flags: {said}");
    assert!(videos.error("bench nowhere", 1).contains("No such file"), "the cause is told");
}

#[test]
#[ignore = "full: many runs"]
fn bench_takes_epochs_and_cold_files_and_keeps_decoded_frames() {
    let videos = Videos::make();
    videos.pack("set", " --size 80x60");
    let bench = videos.bench("batch_size=2 --epochs 3");
    assert_eq!(bench["batches"], 6, "three epochs of four clips");
    if cfg!(target_os = "linux") {
        let cold = videos.bench("batch_size=2 --cold --epochs 1");
        assert_eq!(cold["batches"], 2, "{cold}");
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let dir = folder.path().display();
        let cached = format!(r#"batch_size=2 crop=32 --epochs 3 decoded_cache={{"size":8000000,"dir":"{dir}"}}"#);
        let bench = videos.bench(&cached);
        let found = &bench["stats"]["decoded_cache"];
        assert!(bench["batches"] == 6 && found["misses"] == 32 && found["hits"] == 64, "{found}");
        let text = videos.text(&format!("bench set {cached}"), 0);
        assert!(text.contains("decoded frames: ") && text.contains("no room for 0"), "{text}");
        assert_eq!(folder.path().read_dir().unwrap().count(), 0, "nothing stays");
    }
}

#[test]
fn wrong_usage_is_status_2_and_missing_paths_status_1() {
    let place = Place::new();
    for line in ["pack", "pack x", "pack x -o y --size 3x", "fly", "bench x --io", "pack x -o y --all --fps 5"] {
        place.run(line, 2);
    }
    assert!(place.error("import webdataset shards -o x", 1).contains("vidrec.convert.from_lerobot"));
    for command in ["inspect", "verify", "bench"] {
        assert!(place.error(&format!("{command} no/such/set"), 1).contains("no/such/set"));
    }
}

#[test]
fn results_go_to_stdout_and_nothing_else_does() {
    let run = Videos::make().run("pack videos -o set", 3);
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(out.starts_with("packed 4 clips, 32 frames"), "{out}");
    assert!(err.contains("test/broken.mp4: skipped (stage open)"), "{err}");
    assert!(!err.contains('\r') && !err.contains('\u{1b}'), "no progress bar without a terminal: {err:?}");
}
