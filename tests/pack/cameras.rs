//! The frames of an episode's cameras, paired by a loader, however they came in: each frame shows its number, and both
//! cameras show the same moment.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};
use vidrec::jpeg::Encoder;
use vidrec::{Cameras, Crop, Dataset, Frames, Loader, LoaderOptions, Planes};

use crate::common::ffmpeg_videos;
use crate::common::program_runs::show;
use crate::pack::support::Room;

const LENGTHS: [u32; 4] = [7, 1, 30, 12];
const CAMERAS: [&str; 2] = ["front", "wrist"];

/// Videos of two cameras at 30 frames a second, in a folder of their own, and what is packed of them.
struct Robot(Room);

impl Deref for Robot {
    type Target = Room;

    fn deref(&self) -> &Room {
        &self.0
    }
}

/// A picture with a number in bars, of which the brightest are ones.
fn picture(number: u32) -> Vec<u8> {
    let mut picture = Planes::new(64, 48).unwrap();
    picture.y.iter_mut().enumerate().for_each(|(i, y)| *y = if number >> (i % 64 / 8) & 1 == 1 { 220 } else { 30 });
    let mut jpeg = Vec::new();
    Encoder::new(90).unwrap().encode(&picture, &mut jpeg).unwrap();
    jpeg
}

/// The number that a frame shows.
fn shown(episode: usize, camera: usize, t: u32) -> u32 {
    (before(episode) + t) ^ (camera as u32 * 255)
}

impl Robot {
    /// Each camera has all episodes in one file.
    fn new() -> Self {
        let robot = Robot(Room::new());
        (0..CAMERAS.len()).for_each(|camera| robot.write(camera, 0..LENGTHS.len(), &robot.video(CAMERAS[camera])));
        robot
    }

    fn video(&self, camera: &str) -> PathBuf {
        self.path(&format!("robot/{camera}/all.mp4"))
    }

    /// Writes the video of some episodes.
    fn write(&self, camera: usize, episodes: std::ops::Range<usize>, to: &Path) {
        let stream = episodes.flat_map(|e| (0..LENGTHS[e]).flat_map(move |t| picture(shown(e, camera, t))));
        Room::write(self, "stream.mjpeg", stream.collect::<Vec<u8>>());
        let args = ["-f", "mjpeg", "-framerate", "30", "-i", "stream.mjpeg", "-c", "copy"];
        ffmpeg_videos::make_in(&self.path(""), &args, to).unwrap();
    }

    /// Writes the video of each episode of a camera.
    fn write_each(&self, camera: usize) {
        for e in 0..LENGTHS.len() {
            self.write(camera, e..e + 1, &self.path(&format!("robot/{}/{e}.mp4", CAMERAS[camera])));
        }
    }

    /// Packs episodes, of which those of the wrist have files of their own, with a value for each frame.
    fn pack_episodes(&self, more: &[&str]) -> Output {
        let row = |e: usize, camera: usize| {
            let (file, start) = if camera == 0 { ("all".to_owned(), before(e)) } else { (e.to_string(), 0) };
            let frames = json!({ "count": LENGTHS[e], "fps": 30, "start": f64::from(start) / 30.0 });
            let action: Vec<_> = (0..LENGTHS[e]).map(|t| vec![f64::from(shown(e, 0, t)); 7]).collect();
            let path = format!("robot/{}/{file}.mp4", CAMERAS[camera]);
            json!({ "path": path, "episode_frames": frames, "action": action })
        };
        let track = "action=action,every-frame,clock=segment,type=f32";
        write_rows(self, row);
        self.vidrec(&[&["pack", "rows.jsonl", "-o", "set", "--if-exists", "replace", "--track", track], more].concat())
    }
}

/// The numbers that both cameras show in each sample.
fn pairs(set: &Dataset) -> vidrec::Result<Vec<[u32; 2]>> {
    let cameras = Some(Cameras::new(CAMERAS));
    let (frames, crop) = (Frames::windows(1), Crop::center((64, 48)));
    let options = LoaderOptions { cameras, frames, crop, batch_size: 1, threads: Some(1), ..LoaderOptions::default() };
    let number = |pixels: &[u8]| (0..8).map(|bar| u32::from(pixels[24 * 64 + bar * 8 + 4] > 127) << bar).sum();
    let mut numbers = Vec::new();
    for batch in Loader::new(set, options)?.iter(0)? {
        let batch = batch?.into_batch();
        let (front, wrist) = batch.u8().unwrap().split_at(batch.u8().unwrap().len() / 2);
        numbers.push([front, wrist].map(number));
    }
    Ok(numbers)
}

/// Every frame of every episode is beside the frame of the same moment.
#[track_caller]
fn check(robot: &Robot, set: &str) {
    let count = LENGTHS.iter().sum::<u32>();
    let expected: Vec<_> = (0..count).map(|n| [n, n ^ 255]).collect();
    assert_eq!(pairs(&Dataset::open(robot.path(set)).unwrap()).unwrap(), expected);
}

/// A loader takes the clocks of cameras for one, whatever else there is about the frames.
#[track_caller]
fn accepted(robot: &Robot, set: &str) {
    if let Err(e) = pairs(&Dataset::open(robot.path(set)).unwrap()) {
        assert!(!e.to_string().contains("share a clock"), "{e}");
    }
}

/// No loader pairs the frames.
#[track_caller]
fn refused(robot: &Robot, set: &str, why: &str) {
    let e = pairs(&Dataset::open(robot.path(set)).unwrap()).unwrap_err().to_string();
    assert!(e.contains("not known to share a clock") && e.contains(why) && e.contains("it is of episode"), "{e}");
}

#[track_caller]
fn done(run: &Output) {
    assert_eq!(run.status.code(), Some(0), "{}", show(run));
}

#[test]
fn of_episodes_whose_files_end_at_other_ones() {
    let robot = Robot::new();
    robot.write_each(1);
    for frames in [&["--all"][..], &["--fps", "30"]] {
        done(&robot.pack_episodes(frames));
        check(&robot, "set");
    }
    // Frames that differ between cameras are still paired by time, because the values beside them say that clocks are one.
    done(&robot.pack_episodes(&["-n", "5", "--sample", "random"]));
    let some = Dataset::open(robot.path("set")).unwrap();
    let clip = |i| some.clip(i).unwrap();
    assert_ne!(clip(4).frame(0).unwrap().pts(), clip(5).frame(0).unwrap().pts(), "another draw");
    accepted(&robot, "set");
}

#[test]
fn episodes_have_exactly_their_frames() {
    let robot = Robot::new();
    let pack = |frames: Value| {
        let row = json!({"path": "robot/front/all.mp4", "episode_frames": frames});
        Room::write(&robot, "one.jsonl", row.to_string());
        robot.vidrec(&["pack", "one.jsonl", "-o", "one", "--all", "--if-exists", "replace"])
    };
    // All of a file, and a part of it whose seams are rounded.
    done(&pack(json!({ "count": 50, "fps": 30 })));
    done(&pack(json!({ "count": 30, "fps": 30, "start": 0.27 })));
    let one = Dataset::open(robot.path("one")).unwrap();
    let clip = one.clip(0).unwrap();
    assert_eq!(
        (clip.frame_count(), clip.frame(0).unwrap().pts(), clip.frame(0).unwrap().source_index()),
        (30, 0, Some(8))
    );
    for (frames, why) in [
        (json!({ "count": 49, "fps": 30 }), "expected 49 frames"),
        (json!({ "count": 30, "fps": 30, "start": 1.0 }), "found 20 frames"),
        (json!({ "count": 50, "fps": 25 }), "has the wrong time"),
        (json!({ "count": 0, "fps": 30 }), "expected the count and the fps of frames"),
        (json!({ "count": 5, "fps": -1 }), "expected the count and the fps of frames"),
        (json!("the rows are missing"), "found \"the rows are missing\""),
    ] {
        let run = pack(frames);
        assert!(!run.status.success() && show(&run).contains(why), "{why}: {}", show(&run));
    }
}

#[test]
fn a_data_set_of_lerobot_is_refused() {
    let robot = Robot::new();
    Room::write(&robot, "robot/meta/info.json", "{\"codebase_version\": \"v3.0\"}");
    robot.says(1, "robot", &[], &["vidrec.convert.from_lerobot"]);
}

/// Writes a manifest of each camera of each episode.
fn write_rows(robot: &Robot, row: impl Fn(usize, usize) -> Value) {
    let row = |(episode, camera): (usize, usize)| {
        let mut row = row(episode, camera);
        let all = row.as_object_mut().unwrap();
        all.extend([("episode".into(), episode.into()), ("camera".into(), CAMERAS[camera].into())]);
        row.to_string()
    };
    let episodes = (0..LENGTHS.len()).flat_map(|episode| [(episode, 0), (episode, 1)]);
    Room::write(robot, "rows.jsonl", episodes.map(row).collect::<Vec<_>>().join("\n"));
}

/// Packs one.
fn pack(robot: &Robot, row: impl Fn(usize, usize) -> Value, more: &[&str]) {
    write_rows(robot, row);
    let arguments = ["pack", "rows.jsonl", "-o", "set", "--all", "--quality", "95", "--if-exists", "replace"];
    done(&robot.vidrec(&[&arguments, more].concat()));
}

fn before(episode: usize) -> u32 {
    LENGTHS[..episode].iter().sum()
}

#[test]
fn of_manifests_with_segments() {
    let robot = Robot::new();
    let seconds = |frame: u32| f64::from(frame) / 30.0;
    let video = |camera: usize| format!("robot/{}/all.mp4", CAMERAS[camera]);
    let row = |e: usize, camera: usize| json!({"path": video(camera), "start": seconds(before(e)), "end": seconds(before(e + 1))});
    pack(&robot, row, &[]);
    check(&robot, "set");
    // The segments of one camera are elsewhere in its file. Nothing says whether the clocks of the files are one.
    let late = "setpts=PTS+0.4/TB";
    let from = robot.video("wrist");
    let args = ["-i", from.to_str().unwrap(), "-vf", late, "-r", "30", "-c:v", "mjpeg", "-q:v", "2"];
    ffmpeg_videos::make_in(robot.path("robot").as_path(), &args, "late.mp4").unwrap();
    let late = |e: usize, camera: usize| match camera {
        0 => row(e, camera),
        _ => json!({"path": "robot/late.mp4", "start": seconds(before(e) + 12), "end": seconds(before(e + 1) + 12)}),
    };
    pack(&robot, late, &[]);
    refused(&robot, "set", "the first frames at 0.000 s and at 0.400 s");
    done(&robot.vidrec(&["subset", "set", "-o", "mended", "--align-clocks"]));
    check(&robot, "mended");
}

#[test]
fn of_manifests_with_whole_files_and_with_frames() {
    let robot = Robot::new();
    (0..CAMERAS.len()).for_each(|camera| robot.write_each(camera));
    let video = |e: usize, camera: usize| format!("robot/{}/{e}.mp4", CAMERAS[camera]);
    pack(&robot, |e, camera| json!({"path": video(e, camera)}), &[]);
    check(&robot, "set");
    // MPEG transport streams begin anywhere.
    for e in 0..LENGTHS.len() {
        let args = ["-i", &video(e, 1), "-c:v", "mpeg2video", "-q:v", "2", "-g", "1"];
        ffmpeg_videos::make_in(robot.path("").as_path(), &args, format!("{e}.ts")).unwrap();
    }
    let stream = |e: usize, camera: usize| json!({"path": if camera == 0 { video(e, 0) } else { format!("{e}.ts") }});
    pack(&robot, stream, &[]);
    refused(&robot, "set", "the first frames at 0.000 s and at 1.4");
    done(&robot.vidrec(&["subset", "set", "-o", "mended", "--align-clocks"]));
    check(&robot, "mended");
    // Both say that they have one clock, so the frames are paired by their times as they are.
    let same = |e: usize, camera: usize| {
        let mut row = stream(e, camera);
        row["clock"] = json!("timecode");
        row
    };
    pack(&robot, same, &[]);
    accepted(&robot, "set");

    for (e, camera) in (0..LENGTHS.len()).flat_map(|e| [(e, 0), (e, 1)]) {
        for t in 0..LENGTHS[e] {
            Room::write(&robot, &format!("frames/{e}-{camera}/{t}.jpg"), picture(shown(e, camera, t)));
        }
    }
    let frames = |e: usize, camera: usize| json!({"path": format!("frames/{e}-{camera}")});
    pack(&robot, frames, &[]);
    check(&robot, "set");
    let mixed = |e: usize, camera: usize| if camera == 0 { json!({"path": video(e, 0)}) } else { frames(e, 1) };
    pack(&robot, mixed, &["--picture-fps", "30"]);
    check(&robot, "set");
    pack(&robot, mixed, &[]);
    refused(&robot, "set", "pictures without times beside frames with times");
}
