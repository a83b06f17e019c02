//! `vidrec pack`: what it says of damaged videos, and what it keeps of them.

use std::fs;
use std::path::Path;

use crate::common::ffmpeg_videos;
use crate::common::names::file;
use crate::common::skip::skip;
use crate::pack::support::{Room, facts};

/// Makes a video in the folder `in`, if the `ffmpeg` program can.
fn make(room: &Room, name: &str, args: &str) -> bool {
    let made = ffmpeg_videos::try_make(&format!("-f lavfi -i {args}"), room.path(&format!("in/{name}"))).is_ok();
    if !made {
        skip(&format!("no ffmpeg program that makes {name}"));
    }
    made
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
    let room = Room::new();
    let source = "testsrc2=s=160x96:r=10:d=2";
    for (name, codec) in [
        ("good.avi", "ffv1 -level 3 -slicecrc 1"),
        ("good.mkv", "mpeg4"),
        ("logged.avi", "ffv1 -level 3 -slicecrc 1"),
        ("sum.mkv", "mpeg4"),
    ] {
        if !make(&room, name, &format!("{source} -c:v {codec}")) {
            return;
        }
    }
    change(&room.path("in/logged.avi"), |bytes| bytes.len() / 2);
    // The last bytes of the only cluster are a frame's; Cues and their head come after it.
    change(&room.path("in/sum.mkv"), |bytes| {
        bytes.windows(4).rposition(|w| w == [0x1c, 0x53, 0xbb, 0x6b]).unwrap() - 9
    });

    let report = room.report(3, "in", &["-n", "20"]);
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
    assert!(!report.to_string().contains(" @ 0x"), "{report}");

    // The damaged frame is left out, and intact clips say nothing of damage.
    let set = room.set();
    let facts: Vec<_> = set.clips().map(|clip| facts(&clip.unwrap())).collect();
    assert_eq!(facts.iter().map(|f| f["frames"].as_u64().unwrap()).collect::<Vec<_>>(), [20, 20, 19, 20]);
    for (facts, keys) in facts.iter().zip([&[][..], &[], &["logged_errors"], &["failed_checksums"]]) {
        for key in ["logged_errors", "failed_checksums", "size_changes"] {
            assert_eq!(facts.get(key).is_some(), keys.contains(&key), "{key} in {facts}");
        }
    }

    // Processes and threads change nothing.
    let files = || ["shard-00000.rec", "shard-00000.vidx"].map(|name| fs::read(file(room.path("set"), name)).unwrap());
    let first = files();
    for more in [&["-n", "20", "--no-isolate"][..], &["-n", "20", "--threads", "1"]] {
        let mut other = room.report(3, "in", more);
        other["seconds"] = report["seconds"].clone();
        assert_eq!(other, report, "{more:?}");
        assert!(files() == first, "{more:?}");
    }
}

/// A PNG of which only the header is there, which says how large it is.
#[test]
fn a_picture_that_is_too_large_is_refused_with_its_size() {
    let room = Room::new();
    let chunk = |kind: &[u8], data: &[u8]| {
        let body = [kind, data].concat();
        [&(data.len() as u32).to_be_bytes()[..], &body, &crc32fast::hash(&body).to_be_bytes()].concat()
    };
    let header = [&40_000u32.to_be_bytes()[..], &30_000u32.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
    let png = [b"\x89PNG\r\n\x1a\n".to_vec(), chunk(b"IHDR", &header), chunk(b"IDAT", &[0; 20]), chunk(b"IEND", &[])];
    let picture = room.write("in/large/1.png", png.concat());
    room.says(1, "in", &[], &["stage limit", "1.png", "too large", "40000x30000", "268435456"]);
    image::RgbImage::new(64, 48).save(picture).unwrap();
    room.says(1, "in", &["--max-pixels", "1000"], &["stage limit", "64x48", "1000"]);
}

/// Decoders that return -1 would otherwise quote an error of the system.
#[test]
fn what_a_decoder_refuses_is_no_error_of_the_system() {
    let room = Room::new();
    if !make(&room, "a.ogv", "testsrc2=s=96x64:r=25:d=1 -c:v libtheora") {
        return;
    }
    // The second header of the stream, in a page whose checksum no longer fits.
    change(&room.path("in/a.ogv"), |bytes| bytes.windows(7).position(|w| w == b"\x82theora").unwrap() + 60);
    let report = room.report(1, "in", &[]);
    let said = report["failures"][0]["error"].as_str().unwrap();
    assert!(said.contains("cannot decode theora: FFmpeg rejects the data") && !said.contains("permitted"), "{said}");
}

/// The file says less than the pictures do.
#[test]
fn a_picture_that_only_its_decoder_finds_too_large_is_refused_with_its_size() {
    let room = Room::new();
    if !make(&room, "a.mov", "testsrc2=s=1024x768:r=5:d=1 -c:v svq1") {
        return;
    }
    let path = room.path("in/a.mov");
    let bytes = fs::read(&path).unwrap();
    let replace = |bytes: &[u8], from: &[u8], to: &[u8]| -> Vec<u8> {
        let at = bytes.windows(from.len()).position(|w| w == from).expect("the size is there");
        [&bytes[..at], to, &bytes[at + from.len()..]].concat()
    };
    // In the header of the track, and in the description of its samples.
    let bytes = replace(&bytes, &[4, 0, 0, 0, 3, 0, 0, 0], &[0, 64, 0, 0, 0, 48, 0, 0]);
    fs::write(&path, replace(&bytes, &[4, 0, 3, 0], &[0, 64, 0, 48])).unwrap();
    room.says(1, "in", &["--max-pixels", "10000"], &["stage limit", "too large", "1024x768", "10000"]);
}

#[test]
fn times_that_are_guessed_or_out_of_order_are_counted() {
    let room = Room::new();
    let source = "testsrc2=s=96x64:r=25:d=1";
    let unordered = "-c:v libx264 -pix_fmt yuv420p -bf 2 -bsf:v setts=pts=DTS-STARTDTS:dts=DTS-STARTDTS";
    let made = make(&room, "a.avi", &format!("{source} -c:v mpeg4 -bf 2"));
    if !made || !make(&room, "b.mp4", &format!("{source} {unordered}")) {
        return;
    }
    // A container without times is no fault of the video.
    let guessed = room.report(0, "in/a.avi", &[]);
    assert!(guessed["guessed_times"].as_u64() > Some(0) && guessed["unordered_times"] == 0, "{guessed}");
    room.says(0, "in/a.avi", &["--json"], &["without times in their files"]);
    assert_eq!(facts(&room.set().clip(0).unwrap())["guessed_times"], guessed["guessed_times"]);

    let unordered = room.report(3, "in/b.mp4", &[]);
    assert!(unordered["unordered_times"].as_u64() > Some(0), "{unordered}");
    room.says(3, "in/b.mp4", &["--json"], &["times out of order"]);
    assert_eq!(facts(&room.set().clip(0).unwrap())["unordered_times"], unordered["unordered_times"]);
}
