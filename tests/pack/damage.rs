//! `vidrec pack`: what it says of damaged videos, and what it keeps of them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use vidrec::Dataset;

use crate::common::names::file;
use crate::common::skip::skip;

fn ffmpeg(args: &str, out: &Path) -> bool {
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-v", "error", "-nostdin", "-f", "lavfi", "-i"]).args(args.split_whitespace()).arg(out);
    let made = ffmpeg.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
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
    let run = pack(&dir.path().join("in"), &dir.path().join("set"), &["--max-pixels", "1000", "--force"]);
    let said = String::from_utf8(run.stderr).unwrap();
    assert!(["stage limit", "64x48", "1000"].iter().all(|word| said.contains(word)), "{said}");
}
