//! Sizes, pixel shapes, and all eight ways to hold a camera.

use vidrec::video::FrameSize;

use crate::video::support::{all, clips, psnr, psnrs, some};

#[test]
fn sizes_follow_the_short_side() {
    let Some(clips) = clips() else { return };
    for (made, wanted, got) in [
        ("320x180", FrameSize::ShortSide(90), (160, 90)),
        ("180x320", FrameSize::ShortSide(90), (90, 160)),
        ("321x181", FrameSize::ShortSide(256), (321, 181)),
        ("321x181", FrameSize::Original, (321, 181)),
        ("321x181", FrameSize::Exact { width: 64, height: 33 }, (64, 33)),
        ("2x2", FrameSize::ShortSide(1), (1, 2)),
        ("1000x4", FrameSize::ShortSide(2), (500, 2)),
    ] {
        let path = clips.make(
            "s.mkv",
            &format!("-f lavfi -i testsrc2=s=640x480,scale={made},setsar=1 -frames:v 1 -pix_fmt yuv420p -c:v ffv1"),
        );
        let image = &all(&path, wanted).unwrap().frames[0].image;
        assert_eq!((image.width(), image.height()), got, "{made}");
    }
}

#[test]
fn pixels_become_square() {
    let Some(clips) = clips() else { return };
    for (sar, got) in [("2/1", (640, 240)), ("10/11", (291, 240)), ("640/639", (320, 240)), ("64/45", (455, 240))] {
        let path = clips.make(
            "sar.mkv",
            &format!(
                "-f lavfi -i testsrc2=s=320x240,gblur=sigma=9,setsar={sar} -frames:v 1 -pix_fmt yuv420p -c:v ffv1"
            ),
        );
        let video = all(&path, FrameSize::Original).unwrap();
        let image = &video.frames[0].image;
        assert_eq!((image.width(), image.height()), got, "{sar}");
        assert!(psnr(&path, &video) > 40.0, "{sar}: {}", psnr(&path, &video));
    }
}

/// Writes each matrix into the track header, and compares with ffmpeg's own turning, from and to odd sizes.
#[test]
fn pictures_are_turned_and_mirrored_as_ffmpeg_does() {
    let Some(clips) = clips() else { return };
    let filter = "testsrc2=s=161x97,gblur=sigma=9,format=yuv444p";
    let path = clips.make("turn.mp4", &format!("-f lavfi -i {filter} -frames:v 1 -c:v mjpeg -color_range pc -q:v 1"));
    let bytes = std::fs::read(&path).unwrap();
    let tkhd = bytes.windows(4).position(|w| w == b"tkhd").unwrap();
    for (matrix, facts) in [
        ([1i16, 0, 0, 1], (false, 0)),
        ([0, 1, -1, 0], (false, 90)),
        ([-1, 0, 0, -1], (false, 180)),
        ([0, -1, 1, 0], (false, 270)),
        ([-1, 0, 0, 1], (true, 0)),
        ([1, 0, 0, -1], (true, 180)),
        ([0, 1, 1, 0], (true, 270)),
        ([0, -1, -1, 0], (true, 90)),
    ] {
        let mut turned = bytes.clone();
        for (slot, value) in [0, 1, 3, 4].into_iter().zip(matrix) {
            let at = tkhd + 44 + slot * 4;
            turned[at..at + 4].copy_from_slice(&(i32::from(value) << 16).to_be_bytes());
        }
        let path = clips.write("turned.mp4", &turned);
        let sizes = [FrameSize::Original, FrameSize::ShortSide(64), FrameSize::ShortSide(63)];
        let videos = sizes.map(|size| some(&path, size, 1).unwrap());
        assert!(videos.iter().all(|video| (video.facts.mirrored, video.facts.rotation) == facts));
        for (size, db) in sizes.into_iter().zip(psnrs(&path, &videos)) {
            assert!(db > 37.0, "{matrix:?} {size:?}: {db} dB");
        }
    }
}
