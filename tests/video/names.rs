//! Files that are named oddly, and files that are no videos.

use std::ffi::OsString;

use vidrec::video::{FrameSize, Stage};

use crate::video::support::{all, clips};

#[test]
fn any_file_name_will_do() {
    let Some(clips) = clips() else { return };
    let path = clips.make("plain.mkv", "-f lavfi -i testsrc2=s=32x32 -frames:v 2 -c:v ffv1");
    let bytes = std::fs::read(&path).unwrap();
    let mut names: Vec<OsString> = [
        "-dash",
        "-i",
        "%05d.jpg",
        "a?b#c.mkv",
        "it's \"x\".mp4",
        "http:x",
        "pipe:0",
        "concat:a|b",
        "имя 视频.avi",
        "noextension",
        "x.m3u8",
    ]
    .map(OsString::from)
    .to_vec();
    #[cfg(unix)]
    names.push(std::os::unix::ffi::OsStringExt::from_vec(b"not\xffutf8.mkv".to_vec()));
    for name in names {
        let path = clips.write(&name, &bytes);
        assert_eq!(all(&path, FrameSize::Original).unwrap().frame_count, 2, "{name:?}");
    }
}

#[test]
fn a_cover_picture_is_no_video() {
    let Some(clips) = clips() else { return };
    clips.make("cover.jpg", "-f lavfi -i testsrc2=s=600x600 -frames:v 1");
    clips.make("small.mp4", "-f lavfi -i testsrc2=s=64x48:r=5:d=1 -c:v mpeg4");
    let both = clips.make("both.mp4", "-i cover.jpg -i small.mp4 -map 0 -map 1 -c copy -disposition:v:0 attached_pic");
    let video = all(&both, FrameSize::Original).unwrap();
    assert_eq!((video.frame_count, video.facts.coded_width), (5, 64));
    let song = clips.make(
        "song.mp4",
        "-i cover.jpg -f lavfi -i sine=d=1 -map 0 -map 1 -c:v copy -c:a aac -disposition:v:0 attached_pic",
    );
    let e = all(&song, FrameSize::Original).unwrap_err();
    assert_eq!(e.stage, Stage::Stream);
    assert!(e.message.contains("cover picture"), "{}", e.message);
}
