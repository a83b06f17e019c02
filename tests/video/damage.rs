//! Broken files: nothing hangs, nothing crashes, and what decodes is given.

use vidrec::video::{FrameSize, Stage};

use crate::video::support::{all, clips, random, some};

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

/// As a broadcast that changes its format: the later pictures keep their shape, in the middle of black.
#[test]
fn another_shape_in_the_middle_gets_black_bars() {
    let Some(clips) = clips() else { return };
    for codec in ["mpeg2video", "libx264"] {
        if !clips.can_encode(codec) {
            continue;
        }
        let make = |name: &str, size: &str| {
            let args = format!("-f lavfi -i testsrc2=s={size}:r=25:d=0.4 -pix_fmt yuv420p -c:v {codec} -bf 0");
            clips.make(name, &args)
        };
        let (wide, tall) = (make("wide.ts", "160x96"), make("tall.ts", "96x96"));
        let joined = [std::fs::read(&wide).unwrap(), std::fs::read(&tall).unwrap()].concat();
        let joined = clips.write("joined.ts", &joined);
        let [wide, tall, video] = [&wide, &tall, &joined].map(|path| all(path, FrameSize::Original).unwrap());
        assert_eq!((wide.facts.size_changes, video.facts.size_changes), (0, 1), "{codec}");
        // A decoder that still holds a picture back drops it at the change.
        let (first, later) = video.frames.split_at(video.frames.len() - tall.frames.len());
        assert!((9..=10).contains(&first.len()), "{codec}: {}", video.frame_count);
        assert!(first.iter().zip(&wide.frames).all(|(a, b)| a.image == b.image), "{codec}");
        for (framed, plain) in later.iter().zip(&tall.frames) {
            let rows = |plane: &[u8], own: &[u8], width: usize, bar: usize, black: u8| {
                for (row, own) in plane.chunks_exact(width).zip(own.chunks_exact(width - 2 * bar)) {
                    assert_eq!(&row[bar..width - bar], own, "{codec}");
                    assert!(row[..bar].iter().chain(&row[width - bar..]).all(|&v| v == black), "{codec}");
                }
            };
            rows(&framed.image.y, &plain.image.y, 160, 32, 0);
            rows(&framed.image.cb, &plain.image.cb, 80, 16, 128);
            rows(&framed.image.cr, &plain.image.cr, 80, 16, 128);
        }
        // Whoever asks for an exact size gets it filled.
        let exact = all(&joined, FrameSize::Exact { width: 64, height: 64 }).unwrap();
        let last = &exact.frames.last().unwrap().image;
        assert!(last.y.chunks_exact(64).any(|row| row[0] > 0), "{codec}");
    }
}

/// The four letters of the codec are changed to some that nobody uses.
#[test]
fn a_codec_that_ffmpeg_does_not_know_is_named_by_its_tag() {
    let Some(clips) = clips() else { return };
    let path = clips.make("m.avi", "-f lavfi -i testsrc2=s=96x64:r=25:d=1 -c:v mpeg4");
    let mut bytes = std::fs::read(&path).unwrap();
    let places: Vec<_> = bytes.windows(4).enumerate().filter(|(_, w)| *w == b"FMP4").map(|(i, _)| i).collect();
    for at in places {
        bytes[at..at + 4].copy_from_slice(b"zq_9");
    }
    let e = all(&clips.write("unknown.avi", &bytes), SIZE).map(|_| ()).unwrap_err();
    assert_eq!(e.stage, Stage::Decode);
    assert!(e.message.contains("the tag 'zq_9' in avi"), "{}", e.message);
}

/// A few hundred files with random damage, of many containers and codecs.
#[test]
fn random_damage_never_crashes_or_hangs() {
    let Some(clips) = clips() else { return };
    let mut next = random(0x9e37_79b9_7f4a_7c15);
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
                Err(e) => assert!(e.stage != Stage::Timeout, "{name} round {round}: {}", e.message),
            }
        }
    }
}
