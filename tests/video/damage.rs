//! Broken files: nothing hangs, nothing crashes, and what decodes is given.

use vidrec::video::{FrameSize, Stage};

use crate::support::{all, clips, some};

const SIZE: FrameSize = FrameSize::ShortSide(24);

#[test]
fn a_cut_file_gives_what_is_left() {
    let Some(clips) = clips() else { return };
    for name in ["cut.mkv", "cut.avi", "cut.ts", "cut.flv"] {
        let codec = match name {
            "cut.ts" => "mpeg2video",
            "cut.flv" => "flv1",
            _ => "mpeg4",
        };
        let path = clips.make(name, &format!("-f lavfi -i testsrc2=s=96x64:r=25:d=2 -c:v {codec} -q:v 4"));
        let bytes = std::fs::read(&path).unwrap();
        let path = clips.write(name, &bytes[..bytes.len() * 6 / 10]);
        let video = all(&path, SIZE).unwrap();
        assert!((20..=40).contains(&video.frame_count), "{name}: {}", video.frame_count);
        assert_eq!(video.frames.len(), video.frame_count as usize);
    }
}

#[test]
fn a_file_without_its_index_does_not_open() {
    let Some(clips) = clips() else { return };
    let path = clips.make("m.mp4", "-f lavfi -i testsrc2=s=96x64:r=25:d=1 -c:v mpeg4");
    let bytes = std::fs::read(&path).unwrap();
    let e = all(&clips.write("cut.mp4", &bytes[..bytes.len() / 2]), SIZE).unwrap_err();
    assert_eq!(e.stage, Stage::Open);
    assert!(e.error.to_string().contains("Invalid data found when processing input"), "{}", e.error);
}

/// Sizes and pixel formats may change in the middle; the pictures keep the first one's size.
#[test]
fn a_change_of_size_in_the_middle() {
    let Some(clips) = clips() else { return };
    let make = |name: &str, size: &str, format: &str| {
        let args = format!("-f lavfi -i testsrc2=s={size}:r=5:d=1 -pix_fmt {format} -c:v mjpeg -f mjpeg");
        std::fs::read(clips.make(name, &args)).unwrap()
    };
    let joined =
        [make("a", "64x48", "yuvj420p"), make("b", "130x94", "yuvj422p"), make("c", "64x48", "yuvj444p")].concat();
    let video = all(&clips.write("joined.mjpeg", &joined), FrameSize::Original).unwrap();
    assert_eq!((video.frame_count, video.facts.format_changes), (15, 2));
    assert!(video.frames.iter().all(|f| (f.image.width(), f.image.height()) == (64, 48)));
}

/// A few hundred files with random damage, of many containers and codecs.
#[test]
fn random_damage_never_crashes_or_hangs() {
    let Some(clips) = clips() else { return };
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below as u64) as usize
    };
    for (name, codec) in [
        ("d.mp4", "mpeg4 -bf 2"),
        ("d.mov", "mjpeg"),
        ("d.mkv", "ffv1"),
        ("d.avi", "mpeg4"),
        ("d.ts", "mpeg2video -bf 2"),
        ("d.flv", "flv1"),
        ("d.gif", "gif"),
        ("d.nut", "huffyuv"),
    ] {
        let path = clips.make(name, &format!("-f lavfi -i testsrc2=s=64x48:r=10:d=1 -c:v {codec}"));
        let bytes = std::fs::read(&path).unwrap();
        for round in 0..40 {
            let mut broken = bytes.clone();
            // Headers first: the start and the end of a file hold them.
            let span = if round % 2 == 0 { broken.len() } else { broken.len().min(1500) };
            for _ in 0..1 + next(20) {
                let at = if next(4) == 0 { broken.len() - 1 - next(span) } else { next(span) };
                broken[at] = next(256) as u8;
            }
            if round % 5 == 0 {
                broken.truncate(next(broken.len()));
            }
            let path = clips.write(format!("broken-{name}"), &broken);
            match some(&path, SIZE, 4) {
                Ok(video) => assert!(video.frame_count > 0 && !video.frames.is_empty()),
                Err(e) => assert!(e.stage != Stage::Timeout, "{name} round {round}: {}", e.error),
            }
        }
    }
}
