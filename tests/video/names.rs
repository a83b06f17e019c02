//! Files that are named oddly, and files that are no videos.

use std::ffi::OsString;

use vidrec::ErrorKind;
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
fn what_is_no_video_is_named() {
    let Some(clips) = clips() else { return };
    clips.make("good.mkv", "-f lavfi -i testsrc2=s=32x32 -frames:v 2 -c:v ffv1");
    let audio = clips.make("audio.mkv", "-f lavfi -i sine=d=1 -c:a pcm_s16le");
    let e = all(&audio, FrameSize::Original).unwrap_err();
    assert_eq!(e.stage, Stage::Stream);
    assert!(
        e.error.to_string().contains("no video stream") && e.error.to_string().contains("audio.mkv"),
        "{}",
        e.error
    );

    for (name, bytes) in [
        ("text.mp4", &b"<!DOCTYPE html><html><body>404 not found</body></html>"[..]),
        ("empty.mp4", b""),
        ("list.m3u8", b"#EXTM3U\n#EXTINF:1,\ngood.mkv\n"),
        ("list.ffconcat", b"ffconcat version 1.0\nfile good.mkv\n"),
        ("session.sdp", b"v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\n"),
        ("list.mpd", b"<?xml version=\"1.0\"?>\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\"><Period/></MPD>"),
        ("blank-first.m3u8", b"\n\n#EXTM3U\n#EXTINF:1,\ngood.mkv\n"),
    ] {
        let e = all(&clips.write(name, bytes), FrameSize::Original).unwrap_err();
        assert_eq!(e.stage, Stage::Open, "{name}: {}", e.error);
        assert!(e.error.to_string().contains(name), "{}", e.error);
    }
    let e = all(&clips.write("list.m3u8", b"#EXTM3U\n"), FrameSize::Original).unwrap_err();
    assert!(e.error.to_string().contains("HLS playlist"), "{}", e.error);

    for path in [clips.dir.path().join("missing"), clips.dir.path().to_owned(), "/dev/zero".into()] {
        let e = all(&path, FrameSize::Original).unwrap_err();
        assert_eq!(e.stage, Stage::Open, "{}", e.error);
        assert!(matches!(e.error.kind(), ErrorKind::Io | ErrorKind::Usage), "{}", e.error);
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
    assert!(e.error.to_string().contains("cover picture"), "{}", e.error);
}
