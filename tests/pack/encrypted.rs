//! `vidrec pack` refuses what is encrypted, instead of packing what decoders make of it.

use std::fs;
use std::path::Path;

use crate::common::ffmpeg_videos;
use crate::common::program_runs::stderr;
use crate::pack::support::Room;

/// The name of a track, as long as what takes its place.
const NAME: &str = "a name of twenty-nine letters";

/// Makes a video with sound.
#[track_caller]
fn make(videos: &Room, args: &[&str], name: &str) {
    let how = "-f lavfi -i testsrc2=s=96x64:r=25:d=1 -f lavfi -i sine=d=1 -c:v mpeg4 -c:a aac";
    let args: Vec<&str> = how.split(' ').chain(args.iter().copied()).collect();
    ffmpeg_videos::make_in(Path::new("."), &args, videos.path(name)).unwrap();
}

/// Puts an encryption in the place of the name of a Matroska track.
fn encrypt(path: &Path, name: &str) {
    let element = |id: &[u8], data: &[u8]| [id, &[0x80 | data.len() as u8], data].concat();
    let cipher = [element(&[0x47, 0xe1], &[5]), element(&[0x47, 0xe2], b"key1")].concat();
    let parts = [
        element(&[0x50, 0x31], &[0]), // its place among the encodings
        element(&[0x50, 0x32], &[1]), // of all frames
        element(&[0x50, 0x33], &[1]), // an encryption
        element(&[0x50, 0x35], &cipher),
    ];
    let encodings = element(&[0x6d, 0x80], &element(&[0x62, 0x40], &parts.concat()));
    let title = element(&[0x53, 0x6e], name.as_bytes());
    assert_eq!(encodings.len(), title.len());
    let mut bytes = fs::read(path).unwrap();
    let at = bytes.windows(title.len()).position(|window| window == title).expect("the track has a name");
    bytes[at..at + title.len()].copy_from_slice(&encodings);
    fs::write(path, bytes).unwrap();
}

#[test]
fn common_encryption_in_mp4() {
    let videos = Room::new();
    let key = ["-encryption_key", "76a6c65c5ea762046bd749a2e632ccbb"];
    let cenc = ["-encryption_scheme", "cenc-aes-ctr", "-encryption_kid", "a7e61c373e219033c21091fa607bf3b8"];
    make(&videos, &[&key[..], &cenc].concat(), "cenc.mp4");
    let words = ["stage stream", "the video is encrypted", "decrypt it"];
    for more in [&[][..], &["--no-isolate"], &["--decode-all"]] {
        videos.says(1, "cenc.mp4", more, &words);
    }
    // The same with the index before the pictures, and in fragments.
    make(&videos, &[&key[..], &cenc, &["-movflags", "faststart"]].concat(), "first.mp4");
    videos.says(1, "first.mp4", &[], &words);
    make(&videos, &[&key[..], &cenc, &["-movflags", "frag_keyframe+empty_moov"]].concat(), "fragments.mp4");
    videos.says(1, "fragments.mp4", &[], &words);
}

#[test]
fn encryption_in_matroska() {
    let videos = Room::new();
    make(&videos, &["-write_crc32", "0", "-metadata:s:v", &format!("title={NAME}")], "video.mkv");
    assert!(videos.pack("video.mkv", &[]).status.success());
    encrypt(&videos.path("video.mkv"), NAME);
    videos.says(1, "video.mkv", &[], &["stage stream", "the video is encrypted", "ContentEncryption"]);
}

#[test]
fn encrypted_sound_matters_where_sound_is_asked_for() {
    let videos = Room::new();
    make(&videos, &["-write_crc32", "0", "-metadata:s:a", &format!("title={NAME}")], "sound.mkv");
    encrypt(&videos.path("sound.mkv"), NAME);
    let run = videos.pack("sound.mkv", &[]);
    assert!(run.status.success(), "{}", stderr(&run));
    let words = ["stage track", "the sound is encrypted", "ContentEncryption"];
    videos.says(1, "sound.mkv", &["--audio", "16000"], &words);
}
