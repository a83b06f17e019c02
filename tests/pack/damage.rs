//! `vidrec pack`: what it says of damaged videos, and what it keeps of them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use vidrec::Dataset;

use crate::common::ffmpeg_videos;
use crate::common::names::file;
use crate::common::skip::skip;

fn ffmpeg(args: &str, out: &Path) -> bool {
    let made = ffmpeg_videos::try_make(&format!("-f lavfi -i {args}"), out).is_ok();
    if !made {
        skip(&format!("no ffmpeg program that makes {}", out.display()));
    }
    made
}

fn pack(videos: &Path, out: &Path, options: &[&str]) -> Output {
    let mut vidrec = Command::new(env!("CARGO_BIN_EXE_vidrec"));
    vidrec.arg("pack").args([videos, Path::new("-o"), out]).args(["--json"]).args(options).output().unwrap()
}

fn change(path: &Path, at: impl Fn(&[u8]) -> usize) {
    let mut bytes = fs::read(path).unwrap();
    let at = at(&bytes);
    bytes[at] ^= 0x10;
    fs::write(path, bytes).unwrap();
}

/// FFV1 has checksums in its slices, Matroska in its clusters.
#[test]
fn logged_errors_and_failed_checksums_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let videos = dir.path().join("videos");
    fs::create_dir(&videos).unwrap();
    let source = "testsrc2=s=160x96:r=10:d=2";
    for (name, codec) in [
        ("good.avi", "ffv1 -level 3 -slicecrc 1"),
        ("good.mkv", "mpeg4"),
        ("logged.avi", "ffv1 -level 3 -slicecrc 1"),
        ("sum.mkv", "mpeg4"),
    ] {
        if !ffmpeg(&format!("{source} -c:v {codec}"), &videos.join(name)) {
            return;
        }
    }
    change(&videos.join("logged.avi"), |bytes| bytes.len() / 2);
    // The last bytes of the only cluster are a frame's; Cues and their head come after it.
    change(&videos.join("sum.mkv"), |bytes| bytes.windows(4).rposition(|w| w == [0x1c, 0x53, 0xbb, 0x6b]).unwrap() - 9);

    let out = dir.path().join("set");
    let run = pack(&videos, &out, &["-n", "20"]);
    assert_eq!(run.status.code(), Some(3));
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((&report["clips"], &report["failed"], &report["failed_checksums"]), (&4.into(), &0.into(), &1.into()));
    assert!(report["logged_errors"].as_u64() > Some(0), "{report}");
    let warnings = report["warnings"].as_array().unwrap();
    let of = |source: &str| {
        warnings.iter().find(|w| w["source"] == source).map(|w| w["message"].as_str().unwrap().to_owned())
    };
    assert_eq!((of("good.avi"), of("good.mkv"), warnings.len()), (None, None, 2), "{report}");
    let (logged, sum) = (of("logged.avi").unwrap(), of("sum.mkv").unwrap());
    assert!(logged.contains("1 damaged frame") && logged.contains("CRC mismatch"), "{logged}");
    assert!(sum.contains("1 failed checksum") && sum.contains("Cluster at byte"), "{sum}");
    let said = String::from_utf8(run.stderr).unwrap();
    assert!(said.lines().all(|line| line.starts_with("vidrec: ")) && !said.contains(" @ 0x"), "{said}");

    // The damaged frame is left out, and intact clips say nothing of damage.
    let set = Dataset::open(&out).unwrap();
    let facts: Vec<Value> =
        set.clips().map(|c| c.unwrap().attributes().unwrap().get("video").unwrap().unwrap()).collect();
    assert_eq!(facts.iter().map(|f| f["frames"].as_u64().unwrap()).collect::<Vec<_>>(), [20, 20, 19, 20]);
    for (facts, keys) in facts.iter().zip([&[][..], &[], &["logged_errors"], &["failed_checksums"]]) {
        for key in ["logged_errors", "failed_checksums", "size_changes"] {
            assert_eq!(facts.get(key).is_some(), keys.contains(&key), "{key} in {facts}");
        }
    }

    // Processes and threads change nothing.
    for (name, options) in [("together", &["-n", "20", "--no-isolate"][..]), ("alone", &["-n", "20", "--threads", "1"])]
    {
        let other = dir.path().join(name);
        let run = pack(&videos, &other, options);
        let mut other_report: Value = serde_json::from_slice(&run.stdout).unwrap();
        other_report["seconds"] = report["seconds"].clone();
        assert_eq!(other_report, report, "{name}");
        for name_of in ["shard-00000.rec", "shard-00000.vidx"] {
            let read = |dir| fs::read(file(dir, name_of)).unwrap();
            assert!(read(&out) == read(&other), "{name}: {name_of}");
        }
    }
}

/// A PNG of which only the header is there, which says how large it is.
#[test]
fn a_picture_that_is_too_large_is_refused_with_its_size() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("in/large");
    fs::create_dir_all(&folder).unwrap();
    let chunk = |kind: &[u8], data: &[u8]| {
        let body = [kind, data].concat();
        [&(data.len() as u32).to_be_bytes()[..], &body, &crc32fast::hash(&body).to_be_bytes()].concat()
    };
    let header = [&40_000u32.to_be_bytes()[..], &30_000u32.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
    let png = [b"\x89PNG\r\n\x1a\n".to_vec(), chunk(b"IHDR", &header), chunk(b"IDAT", &[0; 20]), chunk(b"IEND", &[])];
    fs::write(folder.join("1.png"), png.concat()).unwrap();
    let run = pack(&dir.path().join("in"), &dir.path().join("set"), &[]);
    let said = String::from_utf8(run.stderr).unwrap();
    let words = ["stage limit", "1.png", "too large", "40000x30000", "268435456"];
    assert!(words.iter().all(|word| said.contains(word)), "{said}");

    image::RgbImage::new(64, 48).save(folder.join("1.png")).unwrap();
    let run =
        pack(&dir.path().join("in"), &dir.path().join("set"), &["--max-pixels", "1000", "--if-exists", "replace"]);
    let said = String::from_utf8(run.stderr).unwrap();
    assert!(["stage limit", "64x48", "1000"].iter().all(|word| said.contains(word)), "{said}");
}

/// Decoders that return -1 would otherwise quote an error of the system.
#[test]
fn what_a_decoder_refuses_is_no_error_of_the_system() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("in");
    fs::create_dir(&folder).unwrap();
    let path = folder.join("a.ogv");
    if !ffmpeg("testsrc2=s=96x64:r=25:d=1 -c:v libtheora", &path) {
        return;
    }
    // The second header of the stream, in a page whose checksum no longer fits.
    change(&path, |bytes| bytes.windows(7).position(|w| w == b"\x82theora").unwrap() + 60);
    let run = pack(&folder, &dir.path().join("set"), &[]);
    let said = String::from_utf8(run.stderr).unwrap();
    assert!(said.contains("cannot decode theora: FFmpeg rejects the data") && !said.contains("permitted"), "{said}");
}

/// The file says less than the pictures do.
#[test]
fn a_picture_that_only_its_decoder_finds_too_large_is_refused_with_its_size() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("in");
    fs::create_dir(&folder).unwrap();
    let path = folder.join("a.mov");
    if !ffmpeg("testsrc2=s=1024x768:r=5:d=1 -c:v svq1", &path) {
        return;
    }
    let bytes = fs::read(&path).unwrap();
    let replace = |bytes: &[u8], from: &[u8], to: &[u8]| -> Vec<u8> {
        let at = bytes.windows(from.len()).position(|w| w == from).expect("the size is there");
        [&bytes[..at], to, &bytes[at + from.len()..]].concat()
    };
    // In the header of the track, and in the description of its samples.
    let bytes = replace(&bytes, &[4, 0, 0, 0, 3, 0, 0, 0], &[0, 64, 0, 0, 0, 48, 0, 0]);
    fs::write(&path, replace(&bytes, &[4, 0, 3, 0], &[0, 64, 0, 48])).unwrap();
    let run = pack(&folder, &dir.path().join("set"), &["--max-pixels", "10000"]);
    let said = String::from_utf8(run.stderr).unwrap();
    let words = ["stage limit", "too large", "1024x768", "10000"];
    assert!(words.iter().all(|word| said.contains(word)), "{said}");
}

#[test]
fn times_that_are_guessed_or_out_of_order_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("in");
    fs::create_dir(&folder).unwrap();
    if !ffmpeg("testsrc2=s=96x64:r=25:d=1 -c:v mpeg4 -bf 2", &folder.join("a.avi")) {
        return;
    }
    let counts = |out: &str, status: i32| -> (Value, String) {
        let run = pack(&folder, &dir.path().join(out), &[]);
        let said = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(status), "{said}");
        (serde_json::from_slice(&run.stdout).unwrap(), said)
    };
    // A container without times is no fault of the video.
    let (report, said) = counts("guessed", 0);
    assert!(report["guessed_times"].as_u64().unwrap() > 0 && report["unordered_times"] == 0, "{report}");
    assert!(said.contains("without times in their files"), "{said}");
    let attributes = |out: &str| -> Value {
        let set = Dataset::open(dir.path().join(out)).unwrap();
        set.clip(0).unwrap().attributes().unwrap().get("video").unwrap().unwrap()
    };
    assert_eq!(attributes("guessed")["guessed_times"], report["guessed_times"]);

    fs::remove_file(folder.join("a.avi")).unwrap();
    if !ffmpeg(
        "testsrc2=s=96x64:r=25:d=1 -c:v libx264 -pix_fmt yuv420p -bf 2 -bsf:v setts=pts=DTS-STARTDTS:dts=DTS-STARTDTS",
        &folder.join("a.mp4"),
    ) {
        return;
    }
    let (report, said) = counts("unordered", 3);
    assert!(report["unordered_times"].as_u64().unwrap() > 0, "{report}");
    assert!(said.contains("times out of order"), "{said}");
    assert_eq!(attributes("unordered")["unordered_times"], report["unordered_times"]);
}
