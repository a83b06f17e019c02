//! `vidrec pack --audio`: the sound of videos, beside what the `ffmpeg` program makes of it.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use vidrec::{Dataset, TrackCoding, TrackTiming, TrackType};

use crate::common::rich::assert_verifies;
use crate::pack::support::{Room, facts};

/// Packs, with this status, and proves the data set.
#[track_caller]
fn packed(videos: &Room, status: i32, input: &str, more: &[&str]) -> (Dataset, Value) {
    let report = videos.report(status, input, more);
    assert_verifies(&videos.path("set"));
    (videos.set(), report)
}

/// What `ffmpeg` makes of the sound of a file.
fn reference(videos: &Room, file: &str, rate: u32, channels: u32) -> Vec<i16> {
    let raw = videos.make("reference.raw", &format!("-i {file} -vn -ar {rate} -ac {channels} -f s16le"));
    fs::read(raw).unwrap().chunks_exact(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect()
}

/// The sound of a clip, and the time of its first sample.
fn sound(set: &Dataset, clip: u64) -> (Vec<i16>, i64) {
    let clip = set.clip(clip).unwrap();
    let track = clip.track("audio").unwrap().unwrap();
    assert_eq!((track.schema().kind, track.schema().timing), (TrackType::I16, TrackTiming::Rate));
    (track.numbers::<i16>().unwrap().to_vec(), track.time_ns(0).unwrap())
}

/// How much louder a sound is than its difference from another, in decibels.
fn snr(found: &[i16], wanted: &[i16]) -> f64 {
    let square = |n: f64| n * n;
    let signal: f64 = wanted.iter().map(|&n| square(n.into())).sum();
    let noise: f64 = found.iter().zip(wanted).map(|(&a, &b)| square(f64::from(a) - f64::from(b))).sum();
    10.0 * (signal / noise.max(1e-9)).log10()
}

/// A tone that rises, with a video of ten frames a second.
const SWEEP: &str = "-f lavfi -i testsrc2=size=64x48:rate=10:duration=2 \
    -f lavfi -i aevalsrc=0.5*sin(2*PI*(200+400*t)*t)|0.3*sin(2*PI*500*t):s=44100:d=2";

#[test]
fn sound_is_what_ffmpeg_makes_of_it() {
    let videos = Room::new();
    for (codec, file, rate, channels, words) in [
        ("pcm_s16le", "a.mov", 16_000, 1, "mono"),
        ("flac", "a.mkv", 48_000, 2, "stereo"),
        ("aac", "a.mp4", 44_100, 1, "mono"),
        ("mp2", "a.ts", 16_000, 1, "mono"),
        ("libopus", "b.mkv", 44_100, 2, "stereo"),
    ] {
        videos.make(file, &format!("{SWEEP} -c:v mpeg4 -c:a {codec} -ar 48000"));
        let (set, report) = packed(&videos, 0, file, &["--audio", &format!("{rate}:{words}")]);
        assert_eq!((&report["without_audio"], &report["audio_errors"]), (&json!(0), &json!(0)));
        let (found, _) = sound(&set, 0);
        let wanted = reference(&videos, file, rate, channels);
        let spare = i64::from(rate / 100 * channels);
        assert!((found.len() as i64 - wanted.len() as i64).abs() <= spare, "{file}: {} {}", found.len(), wanted.len());
        let decibels = snr(&found, &wanted);
        assert!(decibels > 50.0, "{file} {rate} {words}: {decibels} dB");
    }
}

#[test]
fn sound_in_flac_is_the_same_sound_in_fewer_bytes() {
    let videos = Room::new();
    videos.make("a.mp4", &format!("{SWEEP} -c:v mpeg4 -c:a aac -ar 48000"));
    for audio in ["16000", "44100:stereo"] {
        let of = |audio: &str| {
            let (set, report) = packed(&videos, 0, "a.mp4", &["--audio", audio]);
            let coding = set.clip(0).unwrap().track("audio").unwrap().unwrap().coding();
            (coding, report["track_bytes"].as_u64().unwrap(), sound(&set, 0))
        };
        let (flac, raw) = (of(audio), of(&format!("{audio}:raw")));
        assert_eq!((flac.0, raw.0), (TrackCoding::Flac, TrackCoding::Raw));
        assert!(flac.2 == raw.2 && flac.1 < raw.1 * 3 / 4, "{audio}: {} of {} bytes", flac.1, raw.1);
    }
    let settings = Dataset::open(videos.path("set")).unwrap().meta().settings.to_string();
    assert!(settings.contains(r#""audio":"44100:stereo:raw""#), "{settings}");
}

/// A real video if there is one, and a tone that rises.
#[test]
fn sound_in_opus_is_nearly_the_same_sound_in_fewer_bytes() {
    let videos = Room::new();
    videos.make("a.mp4", &format!("{SWEEP} -c:v mpeg4 -c:a aac -ar 48000"));
    let real =
        std::env::var_os("VIDREC_VIDEOS").map(|folder| PathBuf::from(folder).join("real/kinetics_R6llTwEh07w.mp4"));
    let real = real.filter(|path| path.exists()).map(|path| path.display().to_string());
    for file in ["a.mp4".to_owned()].into_iter().chain(real) {
        for audio in ["48000:stereo", "16000"] {
            let of = |audio: &str| {
                let (set, report) = packed(&videos, 0, &file, &["--audio", audio]);
                let clip = set.clip(0).unwrap();
                let track = clip.track("audio").unwrap().unwrap();
                let facts = (track.len(), track.rate());
                (track.coding(), report["track_bytes"].as_u64().unwrap(), sound(&set, 0).0, facts)
            };
            let (flac, opus) = (of(audio), of(&format!("{audio}:opus")));
            assert_eq!((opus.0, opus.3), (TrackCoding::Opus, flac.3), "{file} {audio}");
            let decibels = snr(&opus.2, &flac.2);
            println!("{file} {audio}: {} bytes in Opus, {} as FLAC; {decibels:.1} dB", opus.1, flac.1);
            assert!(decibels > 10.0 && opus.1 < flac.1 * 3 / 4, "{file} {audio}: {decibels} dB, {} bytes", opus.1);
            assert!(opus == of(&format!("{audio}:opus")), "the same sound gives the same bytes");
        }
    }
}

#[test]
fn segments_have_their_sound_on_the_clock_of_the_frames() {
    let videos = Room::new();
    videos.make("a.mov", &format!("{SWEEP} -c:v mpeg4 -c:a pcm_s16le"));
    videos.write("list.csv", "path,start,end\na.mov,,\na.mov,0.5,1.25\n");
    let (set, _) = packed(&videos, 0, "list.csv", &["--audio", "8000", "-j", "2"]);
    let ((whole, first), (part, at)) = (sound(&set, 0), sound(&set, 1));
    assert_eq!((first, at, part.len()), (0, 500_000_000, 6000));
    assert_eq!(part, whole[4000..10_000]);
    // The sound begins 0.3 s after the pictures, and is at its own time.
    videos.make("late.mkv", "-i a.mov -itsoffset 0.3 -i a.mov -map 0:v -map 1:a -c copy");
    let (set, _) = packed(&videos, 0, "late.mkv", &["--audio", "8000"]);
    let (late, at) = sound(&set, 0);
    assert!((at - 300_000_000).abs() <= 1_000_000, "{at}");
    assert!(snr(&late, &whole) > 50.0);
}

#[test]
fn gaps_are_silent_and_counted() {
    let videos = Room::new();
    let cut = "aselect='lt(t,0.5)+gte(t,1)'";
    videos.make("gap.mkv", &format!("{SWEEP} -af {cut} -c:v mpeg4 -c:a pcm_s16le"));
    let (set, report) = packed(&videos, 3, "gap.mkv", &["--audio", "16000"]);
    assert_eq!(report["audio_gaps"], 1, "{report}");
    assert!(report["warnings"][0]["message"].as_str().unwrap().contains("gap or overlap in the sound"));
    let (found, _) = sound(&set, 0);
    assert!((found.len() as i64 - 32_000).abs() < 800, "in step with the frames: {}", found.len());
    let silent = found[9000..15_000].iter().all(|&n| n == 0);
    assert!(silent && found[17_000..18_000].iter().any(|n| n.abs() > 1000));
    let video = facts(&set.clip(0).unwrap());
    let silent = video["audio"]["silent_samples"].as_i64().unwrap();
    assert!((silent - 22_050).abs() < 2000 && video["audio"]["gaps"] == 1, "{video}");
}

#[test]
fn videos_without_sound_have_no_track_and_are_counted() {
    let videos = Room::new();
    videos.make("a.mp4", &format!("{SWEEP} -c:v mpeg4 -c:a aac"));
    videos.make("mute.mp4", "-i a.mp4 -an -c copy");
    let (set, report) = packed(&videos, 0, "a.mp4", &["mute.mp4", "--audio", "16000"]);
    assert_eq!((&report["clips"], &report["without_audio"]), (&json!(2), &json!(1)));
    assert!(set.clip(0).unwrap().track("audio").unwrap().is_some());
    assert!(set.clip(1).unwrap().track("audio").unwrap().is_none());
}

#[test]
fn damaged_sound_is_counted_and_its_place_kept() {
    let videos = Room::new();
    videos.make("a.mkv", &format!("{SWEEP} -c:v mpeg4 -c:a flac"));
    let (clean, _) = packed(&videos, 0, "a.mkv", &["--audio", "16000"]);
    let whole = sound(&clean, 0).0;
    drop(clean);
    // The sound alone, of which some bytes are changed, and the pictures.
    videos.make("noise.mkv", "-i a.mkv -vn -c copy -bsf:a noise=amount=25000");
    videos.make("bad.mkv", "-i a.mkv -i noise.mkv -map 0:v -map 1:a -c copy");
    let (set, report) = packed(&videos, 3, "bad.mkv", &["--audio", "16000"]);
    assert!(report["audio_errors"].as_u64().unwrap() > 0, "{report}");
    assert!(report["warnings"][0]["message"].as_str().unwrap().contains("in the sound"), "{report}");
    // What is lost is silent, and takes as long as it did.
    let (found, first) = sound(&set, 0);
    assert_eq!((first, &found[..1000]), (0, &whole[..1000]));
    assert!((found.len() as i64 - whole.len() as i64).abs() <= 16, "{} of {}", found.len(), whole.len());
}

#[test]
fn the_bytes_are_the_same_however_sound_is_packed() {
    let videos = Room::new();
    videos.make("a.mp4", &format!("{SWEEP} -c:v mpeg4 -c:a aac"));
    videos.make("b.mkv", &format!("{SWEEP} -c:v mpeg4 -c:a libopus"));
    let digest = |more: &[&str]| {
        let (set, _) = packed(&videos, 0, "a.mp4", &[&["b.mkv", "a.mp4", "--audio", "16000"], more].concat());
        set.to_json().shards.into_iter().map(|shard| shard.track_file.unwrap().sha256).collect::<Vec<_>>()
    };
    let one = digest(&["-j", "1"]);
    assert_eq!(one, digest(&["-j", "3"]));
    assert_eq!(one, digest(&["--no-isolate"]));
}

#[test]
fn sound_and_its_channels_are_refused_where_they_make_no_sense() {
    let videos = Room::new();
    videos.make("a.mp4", &format!("{SWEEP} -c:v mpeg4 -c:a aac"));
    videos.write("list.jsonl", "{\"path\": \"a.mp4\", \"x\": [1, 2]}\n");
    videos.says(2, "list.jsonl", &["--audio", "10"], &["1000 to 384000"]);
    videos.says(2, "list.jsonl", &["--audio", "8000", "--track", "audio=x,frames"], &["--track"]);
}
