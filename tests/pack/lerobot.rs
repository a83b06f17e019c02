//! Data sets of LeRobot as inputs. `tests/interop/test_lerobot.py` packs what LeRobot writes; here `vidrec export lerobot`
//! writes them, and each frame shows its number.

use std::fs::{self};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use crate::common::ffmpeg_videos;
use image::{ImageBuffer, ImageFormat, Luma};
use parquet::basic::{Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::Type;
use serde_json::{Value, json};
use vidrec::interop::lerobot::{LeRobotOptions, export};
use vidrec::jpeg::{Decoder, Encoder};
use vidrec::{
    Clip, ClipInfo, Dataset, FrameData, JsonObject, Planes, Track, TrackCoding, TrackTimes, TrackType, TrackValues,
    Writer, WriterOptions, no_progress,
};

const BARS: usize = 8;
pub(super) const LENGTHS: [u32; 4] = [7, 1, 30, 12];
pub(super) const CAMERAS: [&str; 2] = ["front", "wrist"];

/// A data set of LeRobot in a folder of its own, and what is packed of it.
pub(super) struct Robot {
    temp: tempfile::TempDir,
}

/// A picture with a number in bars, of which the brightest are ones.
pub(super) fn picture(number: u32) -> Vec<u8> {
    let mut picture = Planes::new(64, 48).unwrap();
    picture.y.iter_mut().enumerate().for_each(|(i, y)| *y = if number >> (i % 64 / BARS) & 1 == 1 { 220 } else { 30 });
    let mut jpeg = Vec::new();
    Encoder::new(90).unwrap().encode(&picture, &mut jpeg).unwrap();
    jpeg
}

pub(super) fn number(jpeg: &[u8]) -> u32 {
    let picture = Decoder::new().unwrap().decode_picture(jpeg).unwrap();
    (0..64 / BARS).map(|bar| u32::from(picture.pixels[3 * (24 * 64 + bar * BARS + 4)] > 127) << bar).sum()
}

fn numbers(clip: &Clip<'_>) -> Vec<u32> {
    clip.frames().map(|frame| number(frame.unwrap().jpeg())).collect()
}

/// The number that a frame shows.
pub(super) fn shown(episode: usize, camera: usize, t: u32) -> u32 {
    let before: u32 = LENGTHS[..episode].iter().sum();
    (before + t) ^ (camera as u32 * 255)
}

fn track(name: &str, values: TrackValues, shape: &[u32], times: TrackTimes) -> Track {
    Track { name: name.into(), values, shape: shape.to_vec(), times, ..Track::default() }
}

/// Values of an episode: numbers, one alone, a table of them, texts, and depth.
fn tracks(episode: usize) -> Vec<Track> {
    let count = LENGTHS[episode];
    let floats = (0..7 * count).map(|i| i as f32 / 8.0 - episode as f32).collect();
    let table = (0..6 * i64::from(count)).map(|i| i * 1_000_000_007 - episode as i64).collect();
    vec![
        track("action", TrackValues::F32(floats), &[7], TrackTimes::Frames),
        track("next.done", TrackValues::Bool((0..count).map(|t| t + 1 == count).collect()), &[], TrackTimes::Frames),
        track(
            "note",
            TrackValues::Texts((0..count).map(|t| format!("é{episode} {t}")).collect()),
            &[],
            TrackTimes::Frames,
        ),
        track("table", TrackValues::I64(table), &[2, 3], TrackTimes::Frames),
        track(
            "touch",
            TrackValues::U16((0..count).flat_map(|t| deep(episode, t)).collect()),
            &[3, 5],
            TrackTimes::Frames,
        ),
    ]
}

/// A data set at 30 frames a second with both cameras of each episode, apart from each other.
fn write_set(path: &Path) -> Dataset {
    let mut writer = Writer::create(path, WriterOptions::default()).unwrap();
    for (camera, name) in CAMERAS.iter().enumerate() {
        for (episode, &count) in LENGTHS.iter().enumerate() {
            let task = ["pick", "place"][episode % 2];
            let attributes = json!({ "episode": episode, "camera": name, "task": task });
            let (width, height, time_base) = (64, 48, (1, 90_000));
            let attributes = JsonObject::of(attributes).unwrap();
            let info = ClipInfo { attributes, width, height, time_base, ..ClipInfo::default() };
            let jpegs: Vec<_> = (0..count).map(|t| picture(shown(episode, camera, t))).collect();
            let pts = (0i64..).map(|t| 500 + t * 3000);
            let frames: Vec<_> =
                jpegs.iter().zip(pts).map(|(jpeg, pts)| FrameData { jpeg, pts, source_index: None }).collect();
            writer.append_with_tracks(&info, &frames, &tracks(episode)).unwrap();
        }
    }
    writer.finish().unwrap();
    Dataset::open(path).unwrap()
}

impl Robot {
    pub fn new() -> Self {
        let robot = Robot { temp: tempfile::tempdir().unwrap() };
        let set = write_set(&robot.path("written"));
        export(&set, &robot.path("robot"), &LeRobotOptions::default(), &mut no_progress).unwrap();
        robot
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    pub fn video(&self, camera: &str) -> PathBuf {
        self.path(&format!("robot/videos/observation.images.{camera}/chunk-000/file-000.mp4"))
    }

    /// Makes it one of version 2.1: a file for each episode, and lists of episodes and tasks in lines of JSON.
    pub fn make_older(&self) {
        let set = Dataset::open(self.path("written")).unwrap();
        let mut lines = String::new();
        for (episode, length) in LENGTHS.iter().enumerate() {
            let one = set.select((0..CAMERAS.len()).map(|camera| (camera * LENGTHS.len() + episode) as u64)).unwrap();
            // One episode has a single frame.
            let options = LeRobotOptions { fps: Some("30".parse().unwrap()), ..LeRobotOptions::default() };
            export(&one, &self.path("one"), &options, &mut no_progress).unwrap();
            for camera in CAMERAS {
                let of_camera =
                    |set: &str, file: &str| self.path(&format!("{set}/videos/observation.images.{camera}/{file}"));
                let file = of_camera("robot", &format!("chunk-000/episode_{episode:06}.mp4"));
                fs::rename(of_camera("one", "chunk-000/file-000.mp4"), file).unwrap();
            }
            fs::remove_dir_all(self.path("one")).unwrap();
            let task = ["pick", "place"][episode % 2];
            lines += &format!("{}\n", json!({ "episode_index": episode, "tasks": [task], "length": length }));
        }
        CAMERAS.iter().for_each(|camera| fs::remove_file(self.video(camera)).unwrap());
        fs::remove_dir_all(self.path("robot/meta/episodes")).unwrap();
        fs::write(self.path("robot/meta/episodes.jsonl"), lines).unwrap();
        self.replace("meta/info.json", "v3.0", "v2.1");
        self.replace(
            "meta/info.json",
            "data/chunk-{chunk_index:03d}/file-{file_index:03d}",
            "data/chunk-{episode_chunk:03d}/file-000",
        );
        self.replace(
            "meta/info.json",
            "chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
            "chunk-{episode_chunk:03d}/episode_{episode_index:06d}.mp4",
        );
    }

    /// Ends the files of a camera at another episode than those of the other: after each one. LeRobot does so where a camera's
    /// pictures take more bytes.
    pub fn roll_over(&self, camera: &str) {
        let set = Dataset::open(self.path("written")).unwrap();
        for episode in 0..LENGTHS.len() {
            let one = set.select((0..CAMERAS.len()).map(|camera| (camera * LENGTHS.len() + episode) as u64)).unwrap();
            let options = LeRobotOptions { fps: Some("30".parse().unwrap()), ..LeRobotOptions::default() };
            export(&one, &self.path("one"), &options, &mut no_progress).unwrap();
            let video = format!("videos/observation.images.{camera}/chunk-000");
            let to = self.path(&format!("robot/{video}/file-{episode:03}.mp4"));
            fs::rename(self.path(&format!("one/{video}/file-000.mp4")), to).unwrap();
            fs::remove_dir_all(self.path("one")).unwrap();
        }
        self.write_episodes(camera);
    }

    /// Writes `meta/episodes`, where each episode of a camera has a file of its own.
    fn write_episodes(&self, alone: &str) {
        let places = |camera: &&str| {
            let camera = format!("videos/observation.images.{camera}");
            let whole = ["chunk_index", "file_index"].map(|name| format!("REQUIRED INT64 {camera}/{name};"));
            whole.concat() + &["from", "to"].map(|name| format!("REQUIRED DOUBLE {camera}/{name}_timestamp;")).concat()
        };
        let whole = ["episode_index", "length", "data/chunk_index", "data/file_index"];
        let whole = whole.into_iter().chain(["dataset_from_index", "dataset_to_index"]);
        let whole: String = whole.map(|name| format!("REQUIRED INT64 {name};")).collect();
        let tasks = "OPTIONAL GROUP tasks (LIST) { REPEATED GROUP list { OPTIONAL BYTE_ARRAY element (UTF8); } }";
        let cameras: String = CAMERAS.iter().map(places).collect();
        let schema = parse_message_type(&format!("message schema {{ {whole} {tasks} {cameras} }}")).unwrap();
        let file = fs::File::create(self.path("robot/meta/episodes/chunk-000/file-000.parquet")).unwrap();
        let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let before = |episode: usize| LENGTHS[..episode].iter().sum::<u32>();
        let mut column = 0;
        while let Some(mut to) = group.next_column().unwrap() {
            let (camera, field) = ((column - 7) / 4, (column as usize + 1) % 4);
            let is_alone = column >= 7 && CAMERAS[camera as usize] == alone;
            let value = |e: usize| match (column, field) {
                (0, _) => e as u32,
                (1, _) => LENGTHS[e],
                (2 | 3, _) => 0,
                (4, _) => before(e),
                (5, _) => before(e + 1),
                (_, 1) if is_alone => e as u32,
                (_, 2 | 3) if is_alone => {
                    if field == 2 {
                        0
                    } else {
                        LENGTHS[e]
                    }
                }
                (_, 2 | 3) => before(e + field - 2),
                _ => 0,
            };
            let values = (0..LENGTHS.len()).map(value);
            match to.untyped() {
                ColumnWriter::Int64ColumnWriter(to) => {
                    to.write_batch(&values.map(i64::from).collect::<Vec<_>>(), None, None).unwrap();
                }
                ColumnWriter::DoubleColumnWriter(to) => {
                    to.write_batch(&values.map(|n| f64::from(n) / 30.0).collect::<Vec<_>>(), None, None).unwrap();
                }
                ColumnWriter::ByteArrayColumnWriter(to) => {
                    let tasks = (0..LENGTHS.len()).map(|e| ByteArray::from(["pick", "place"][e % 2]));
                    to.write_batch(&tasks.collect::<Vec<_>>(), Some(&[3; LENGTHS.len()]), Some(&[0; LENGTHS.len()]))
                        .unwrap();
                }
                _ => unreachable!(),
            }
            to.close().unwrap();
            column += 1;
        }
        group.close().unwrap();
        writer.close().unwrap();
    }

    /// Makes H.264 of a camera's video, with frames that are stored in another order than they are shown.
    fn encode(&self, camera: &str, more: &[&str]) {
        let (video, encoded) = (self.video(camera), self.path("encoded.mp4"));
        let mut ffmpeg = Command::new("ffmpeg");
        ffmpeg
            .args(["-nostdin", "-v", "error", "-y", "-i"])
            .arg(&video)
            .args(["-c:v", "libx264", "-bf", "2", "-g", "12"]);
        let status = ffmpeg.args(["-pix_fmt", "yuv420p"]).args(more).arg(&encoded).status();
        let status = status.expect("these tests make their videos with ffmpeg; scripts/setup.sh installs it");
        assert!(status.success());
        fs::rename(encoded, video).unwrap();
    }

    pub fn vidrec(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vidrec"));
        command.current_dir(self.temp.path()).args(arguments).output().unwrap()
    }

    pub fn pack(&self, more: &[&str]) -> Output {
        self.vidrec(&[&["pack", "robot", "-o", "set", "--all"], more].concat())
    }

    /// Changes a text in a file of the data set.
    pub fn replace(&self, file: &str, from: &str, to: &str) {
        let path = self.path("robot").join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(path, text.replace(from, to)).unwrap();
    }
}

pub(super) fn said(run: &Output) -> String {
    String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr)
}

/// Every clip has the frames, the values and the attributes of its episode and camera.
fn check(set: &Dataset) {
    assert_eq!(set.len(), (LENGTHS.len() * CAMERAS.len()) as u64);
    for clip in set.clips() {
        let clip = clip.unwrap();
        let (episode, camera) = (clip.ordinal() as usize / CAMERAS.len(), clip.ordinal() as usize % CAMERAS.len());
        let attribute = |name: &str| clip.attributes().unwrap().get::<Value>(name).unwrap().unwrap();
        assert_eq!((attribute("episode"), attribute("camera")), (json!(episode), json!(CAMERAS[camera])));
        assert_eq!((attribute("task"), attribute("split")), (json!(["pick", "place"][episode % 2]), json!("train")));
        let expected: Vec<u32> = (0..LENGTHS[episode]).map(|t| shown(episode, camera, t)).collect();
        assert_eq!(numbers(&clip), expected, "episode {episode}, {}", CAMERAS[camera]);
        for expected in tracks(episode) {
            let track = clip.track(&expected.name).unwrap().unwrap();
            let same = match &expected.values {
                TrackValues::F32(n) => *track.numbers::<f32>().unwrap() == **n,
                TrackValues::Bool(n) => {
                    let is_bool = track.schema().kind == TrackType::Bool;
                    is_bool && track.numbers::<u8>().unwrap().iter().map(|&byte| byte != 0).eq(n.iter().copied())
                }
                TrackValues::I64(n) => *track.numbers::<i64>().unwrap() == **n,
                TrackValues::U16(n) => *track.numbers::<u16>().unwrap() == **n,
                TrackValues::Texts(texts) => track.texts().unwrap().eq(texts.iter().map(String::as_str)),
                _ => false,
            };
            assert!(same && track.schema().shape == expected.shape, "{}", expected.name);
            for t in 0..clip.frame_count() {
                let frame = (clip.frame(t).unwrap().pts_seconds() * 1e9).round() as i64;
                assert!(
                    (track.time_ns(t as usize).unwrap() - frame).abs() <= 1,
                    "each value has the time of its frame"
                );
            }
        }
    }
}

#[test]
fn what_goes_out_comes_in_again() {
    let robot = Robot::new();
    let run = robot.pack(&[]);
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let words = ["LeRobot data set of 4 episodes", "observation.images.wrist", "\"action\"", "\"task\""];
    words.iter().for_each(|word| assert!(said(&run).contains(word), "{}", said(&run)));
    let set = Dataset::open(robot.path("set")).unwrap();
    check(&set);
    // And out once more: the same rows, to the byte.
    export(&set, &robot.path("again"), &LeRobotOptions::default(), &mut no_progress).unwrap();
    for file in ["data/chunk-000/file-000.parquet", "meta/episodes/chunk-000/file-000.parquet", "meta/tasks.parquet"] {
        let read = |folder: &str| fs::read(robot.path(folder).join(file)).unwrap();
        assert!(read("robot") == read("again"), "{file}");
    }
}

#[test]
fn version_2_has_a_file_for_each_episode() {
    let robot = Robot::new();
    robot.make_older();
    let run = robot.pack(&[]);
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    check(&Dataset::open(robot.path("set")).unwrap());
    // A file with frames that no row has.
    robot.replace("meta/episodes.jsonl", "\"length\":30", "\"length\":29");
    let run = robot.pack(&["--if-exists", "replace"]);
    assert_eq!(run.status.code(), Some(3), "{}", said(&run));
    robot.replace("meta/episodes.jsonl", "\"length\":29", "\"length\":\"x\"");
    let run = robot.pack(&["--if-exists", "replace"]);
    assert!(run.status.code() == Some(1) && said(&run).contains("line 3"), "{}", said(&run));
}

#[test]
fn seams_of_episodes_are_exact_in_h264_and_in_parts() {
    let robot = Robot::new();
    CAMERAS.iter().for_each(|camera| robot.encode(camera, &[]));
    let run = robot.pack(&[]);
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    check(&Dataset::open(robot.path("set")).unwrap());
    for arguments in [
        &["plan", "robot", "-o", "plan", "--all", "--shards", "2"][..],
        &["pack", "plan", "--part", "0"],
        &["pack", "plan", "--part", "1"],
        &["publish", "plan"],
    ] {
        let run = robot.vidrec(arguments);
        assert_eq!(run.status.code(), Some(0), "{arguments:?}: {}", said(&run));
    }
    check(&Dataset::open(robot.path("plan")).unwrap());
}

/// Writes the rows of all episodes: the numbers of episode and frame, and then columns of bytes. `bytes` returns those of a
/// column in some rows, and the definition level of each row.
fn write_rows(
    robot: &Robot,
    schema: Arc<Type>,
    group: usize,
    bytes: impl Fn(usize, &[(usize, u32)]) -> (Vec<ByteArray>, Vec<i16>),
) {
    let rows: Vec<(usize, u32)> = (0..LENGTHS.len()).flat_map(|e| (0..LENGTHS[e]).map(move |t| (e, t))).collect();
    let file = fs::File::create(robot.path("robot/data/chunk-000/file-000.parquet")).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    for rows in rows.chunks(group) {
        let (mut group, mut column) = (writer.next_row_group().unwrap(), 0);
        while let Some(mut to) = group.next_column().unwrap() {
            match to.untyped() {
                ColumnWriter::Int64ColumnWriter(to) => {
                    let values: Vec<i64> = rows.iter().map(|&(e, t)| [e as i64, t.into()][column]).collect();
                    to.write_batch(&values, None, None).unwrap();
                }
                ColumnWriter::ByteArrayColumnWriter(to) => {
                    let (values, levels) = bytes(column, rows);
                    to.write_batch(&values, Some(&levels), Some(&vec![0; levels.len()])).unwrap();
                }
                _ => unreachable!(),
            }
            to.close().unwrap();
            column += 1;
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

/// Replaces the videos of a data set, and all values, by pictures in its Parquet file: `group` rows in each row
/// group. A row without a picture has only a path.
pub(super) fn put_pictures(robot: &Robot, group: usize, picture: impl Fn(usize, usize, u32) -> Option<Vec<u8>>) {
    let number = |name| {
        Arc::new(
            Type::primitive_type_builder(name, Physical::INT64).with_repetition(Repetition::REQUIRED).build().unwrap(),
        )
    };
    let leaf = |name| {
        Arc::new(
            Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
                .with_repetition(Repetition::OPTIONAL)
                .build()
                .unwrap(),
        )
    };
    let camera = |name: &&str| {
        let name = format!("observation.images.{name}");
        let fields = vec![leaf("bytes"), leaf("path")];
        Arc::new(
            Type::group_type_builder(&name).with_repetition(Repetition::OPTIONAL).with_fields(fields).build().unwrap(),
        )
    };
    let fields =
        [number("episode_index"), number("frame_index")].into_iter().chain(CAMERAS.iter().map(camera)).collect();
    let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build().unwrap());
    write_rows(robot, schema, group, |column, rows| {
        let found: Vec<_> = match column % 2 {
            0 => rows.iter().map(|&(e, t)| picture(e, column / 2 - 1, t)).collect(),
            _ => rows.iter().map(|(_, t)| Some(format!("{t}.png").into_bytes())).collect(),
        };
        let levels = found.iter().map(|bytes| 1 + i16::from(bytes.is_some())).collect();
        (found.into_iter().flatten().map(ByteArray::from).collect(), levels)
    });
    let info = robot.path("robot/meta/info.json");
    let mut json: Value = serde_json::from_slice(&fs::read(&info).unwrap()).unwrap();
    let features = json["features"].as_object_mut().unwrap();
    features.retain(|name, _| name.ends_with("_index") || name.starts_with("observation.images."));
    features.iter_mut().filter(|(name, _)| name.starts_with("obs")).for_each(|(_, f)| f["dtype"] = "image".into());
    fs::write(info, json.to_string()).unwrap();
    fs::remove_dir_all(robot.path("robot/videos")).unwrap();
}

#[test]
fn pictures_in_parquet_are_frames() {
    let robot = Robot::new();
    put_pictures(&robot, 13, |e, camera, t| Some(picture(shown(e, camera, t))));
    for (arguments, chosen) in
        [(&["--all"][..], None), (&["-n", "3"], Some(3)), (&["--all", "--quality", "original", "--no-isolate"], None)]
    {
        let run = robot.vidrec(&[&["pack", "robot", "-o", "set", "--if-exists", "replace"], arguments].concat());
        assert_eq!(run.status.code(), Some(0), "{}", said(&run));
        let set = Dataset::open(robot.path("set")).unwrap();
        assert_eq!(set.len(), 8);
        for clip in set.clips().map(Result::unwrap) {
            let (episode, camera) = (clip.ordinal() as usize / 2, clip.ordinal() as usize % 2);
            let count = LENGTHS[episode];
            let frames: Vec<u32> = match chosen {
                None => (0..count).collect(),
                Some(_) if count == 1 => vec![0; 3],
                Some(n) => (0..n).map(|i| (2 * i + 1) * count / (2 * n)).collect(),
            };
            let expected: Vec<u32> = frames.iter().map(|&t| shown(episode, camera, t)).collect();
            assert_eq!(numbers(&clip), expected, "{arguments:?}, episode {episode}");
            let last = clip.frame(clip.frame_count() - 1).unwrap().pts_seconds();
            assert!((last - f64::from(frames[frames.len() - 1]) / 30.0).abs() < 1e-9);
            if arguments.contains(&"original") {
                assert_eq!(clip.frame(0).unwrap().jpeg(), picture(shown(episode, camera, 0)));
            }
        }
    }
}

/// Depth of a frame.
fn deep(episode: usize, t: u32) -> Vec<u16> {
    (0..15).map(|i| (9000 * episode as u32 + 100 * t + 7 * i) as u16).collect()
}

/// Exports a data set and packs it again: it has the same depth, which LeRobot reads as pictures, or that in millimeters.
#[track_caller]
fn out_and_in(robot: &Robot, set: &Dataset, millimeters: Option<fn(u16) -> u16>) {
    let name = "observation.images.wrist";
    let _ = fs::remove_dir_all(robot.path("out"));
    let options = LeRobotOptions { fps: Some("30".parse().unwrap()), ..LeRobotOptions::default() };
    let report = export(set, &robot.path("out"), &options, &mut no_progress).unwrap();
    assert_eq!(report.notes.iter().any(|note| note.contains("unit of track")), millimeters.is_none());
    let json: Value = serde_json::from_slice(&fs::read(robot.path("out/meta/info.json")).unwrap()).unwrap();
    let feature = &json["features"][name];
    assert_eq!((&feature["dtype"], &feature["info"]["is_depth_map"]), (&json!("image"), &json!(true)));
    assert_eq!(feature["info"].get("depth_unit"), millimeters.map(|_| json!("mm")).as_ref());
    let run = robot.vidrec(&["pack", "out", "-o", "in-again", "--all", "--if-exists", "replace"]);
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let again = Dataset::open(robot.path("in-again")).unwrap();
    assert_eq!(again.len(), set.len());
    for (before, after) in set.clips().map(Result::unwrap).zip(again.clips().map(Result::unwrap)) {
        let [before_track, after_track] = [&before, &after].map(|clip| clip.track(name).unwrap().unwrap());
        let expected = before_track.numbers::<u16>().unwrap();
        let expected: Vec<u16> = expected.iter().map(|&n| millimeters.map_or(n, |of| of(n))).collect();
        assert!(expected == *after_track.numbers::<u16>().unwrap());
        assert_eq!(before_track.schema(), after_track.schema());
        let depth = |clip: &Clip<'_>| clip.attributes().unwrap().get::<Value>("depth").unwrap();
        let expected = millimeters.map(|_| json!({ name: {"unit": "mm"} }));
        assert_eq!(expected.or(depth(&before)), depth(&after));
    }
}

#[test]
fn depth_in_parquet_is_a_track_of_the_chosen_frames() {
    let robot = Robot::new();
    let png = |numbers: Vec<u16>| {
        let mut bytes = std::io::Cursor::new(Vec::new());
        let picture = ImageBuffer::<Luma<u16>, _>::from_raw(5, 3, numbers).unwrap();
        picture.write_to(&mut bytes, ImageFormat::Png).unwrap();
        bytes.into_inner()
    };
    put_pictures(&robot, 13, |e, camera, t| Some(if camera == 1 { png(deep(e, t)) } else { picture(shown(e, 0, t)) }));
    let info = robot.path("robot/meta/info.json");
    let mut json: Value = serde_json::from_slice(&fs::read(&info).unwrap()).unwrap();
    let depth = json!({"dtype": "image", "shape": [3, 5, 1], "info": {"is_depth_map": true}});
    json["features"]["observation.images.wrist"] = depth;
    fs::write(&info, json.to_string()).unwrap();
    for arguments in [&["--all"][..], &["-n", "3", "--no-isolate"]] {
        let run = robot.vidrec(&[&["pack", "robot", "-o", "set", "--if-exists", "replace"], arguments].concat());
        assert_eq!(run.status.code(), Some(0), "{}", said(&run));
        let set = Dataset::open(robot.path("set")).unwrap();
        assert_eq!(set.len(), 4);
        for clip in set.clips().map(Result::unwrap) {
            let episode = clip.ordinal() as usize;
            let track = clip.track("observation.images.wrist").unwrap().unwrap();
            assert_eq!((track.coding(), &track.schema().shape[..]), (TrackCoding::Png, &[3, 5][..]));
            let frame = |t| (clip.frame(t).unwrap().pts_seconds() * 30.0).round() as u32;
            let expected: Vec<u16> = (0..clip.frame_count()).flat_map(|t| deep(episode, frame(t))).collect();
            assert_eq!(&track.numbers::<u16>().unwrap()[..], &expected[..], "{arguments:?}, episode {episode}");
        }
        out_and_in(&robot, &set, None);
    }
    json["features"]["observation.images.wrist"]["shape"] = json!([5, 3, 1]);
    fs::write(&info, json.to_string()).unwrap();
    let run = robot.vidrec(&["pack", "robot", "-o", "set", "--all", "--if-exists", "replace"]);
    assert!(said(&run).contains("expected [5, 3], found [3, 5] in row 0"), "{}", said(&run));
}

/// Numbers of depth as LeRobot stores them in videos, of 12 bits.
fn deep_frame(frame: u32) -> Vec<u16> {
    (0..64 * 48).map(|i| ((37 * frame + 5 * i + 700 * (i % 64 / 9)) % 4096) as u16).collect()
}

#[test]
fn depth_in_videos_is_a_track_of_the_chosen_frames() {
    let robot = Robot::new();
    let count: u32 = LENGTHS.iter().sum();
    let raw: Vec<u8> = (0..count).flat_map(deep_frame).flat_map(u16::to_le_bytes).collect();
    fs::write(robot.path("raw"), raw).unwrap();
    let source = ["-f", "rawvideo", "-pix_fmt", "gray12le", "-video_size", "64x48", "-framerate", "30", "-i", "raw"];
    let hevc = ["-c:v", "libx265", "-g", "2", "-x265-params", "lossless=1:log-level=none"];
    let folder = robot.temp.path();
    if let Err(why) = ffmpeg_videos::make_in(folder, &[&source[..], &hevc].concat(), "deep.mp4") {
        eprintln!("with FFV1, because {why}");
        ffmpeg_videos::make_in(folder, &[&source[..], &["-c:v", "ffv1"]].concat(), "deep.mkv").unwrap();
        fs::rename(robot.path("deep.mkv"), robot.path("deep.mp4")).unwrap();
    }
    fs::rename(robot.path("deep.mp4"), robot.video("wrist")).unwrap();
    let info = robot.path("robot/meta/info.json");
    let mut json: Value = serde_json::from_slice(&fs::read(&info).unwrap()).unwrap();
    let made = json!({"is_depth_map": true, "video.depth_min": 0.25, "video.shift": 1.5, "video.use_log": false});
    json["features"]["observation.images.wrist"] = json!({"dtype": "video", "shape": [48, 64, 1], "info": made});
    fs::write(&info, json.to_string()).unwrap();
    for arguments in [&["--all", "--threads", "2"][..], &["-n", "3", "--no-isolate"], &["-n", "40", "--short", "loop"]]
    {
        let run = robot.vidrec(&[&["pack", "robot", "-o", "set", "--if-exists", "replace"], arguments].concat());
        assert_eq!(run.status.code(), Some(0), "{}", said(&run));
        assert!(!said(&run).contains("not packed"), "{}", said(&run));
        let set = Dataset::open(robot.path("set")).unwrap();
        assert_eq!(set.len(), 4);
        for clip in set.clips().map(Result::unwrap) {
            let episode = clip.ordinal() as usize;
            let before: u32 = LENGTHS[..episode].iter().sum();
            let track = clip.track("observation.images.wrist").unwrap().unwrap();
            assert_eq!((track.coding(), &track.schema().shape[..]), (TrackCoding::Png, &[48, 64][..]));
            let frames = numbers(&clip).into_iter().map(|shown| shown - before);
            let expected: Vec<u16> = frames.flat_map(|t| deep_frame(before + t)).collect();
            assert!(track.numbers::<u16>().unwrap()[..] == expected[..], "{arguments:?}, episode {episode}");
            let depth: Value = clip.attributes().unwrap().get("depth").unwrap().unwrap();
            let meaning = json!({"depth_min": 0.25, "depth_max": 10.0, "shift": 1.5, "use_log": false});
            assert_eq!(depth, json!({ "observation.images.wrist": meaning }));
        }
        if !arguments.contains(&"loop") {
            // From 0.25 to 10 m in even steps.
            out_and_in(&robot, &set, Some(|n| (250.0 + f64::from(n) / 4095.0 * 9750.0).round() as u16));
        }
    }
    json["features"]["observation.images.wrist"]["shape"] = json!([48, 32, 1]);
    fs::write(&info, json.to_string()).unwrap();
    let run = robot.vidrec(&["pack", "robot", "-o", "set", "--all", "--if-exists", "replace"]);
    assert!(said(&run).contains("expected [48, 32], found [48, 64]"), "{}", said(&run));
}

/// What was said at a frame: nothing, or one thing, whose text may be missing.
fn events(t: u32) -> Value {
    match t % 3 {
        0 => json!([]),
        1 => json!([{"content": format!("now {t}"), "role": "user"}]),
        _ => json!([{"content": null, "role": "assistant"}]),
    }
}

/// Rows with what was said, as LeRobot stores it: lists of structures, in row groups that do not end where episodes do.
fn put_language(robot: &Robot) {
    let schema = "message schema { REQUIRED INT64 episode_index; REQUIRED INT64 frame_index;
        OPTIONAL GROUP language_events (LIST) { REPEATED GROUP list { OPTIONAL GROUP element {
            REQUIRED BYTE_ARRAY role (UTF8); OPTIONAL BYTE_ARRAY content (UTF8); } } } }";
    write_rows(robot, Arc::new(parse_message_type(schema).unwrap()), 13, |column, rows| {
        let key = if column == 2 { "role" } else { "content" };
        let said: Vec<_> = rows.iter().map(|&(_, t)| events(t).get(0).map(|entry| entry[key].clone())).collect();
        // An empty list, a missing text, or a text.
        let level =
            |said: &Option<Value>| said.as_ref().map_or(1, |said| if said.is_null() { 3 } else { column as i16 + 1 });
        let levels = said.iter().map(level).collect();
        (said.iter().flatten().filter_map(|said| said.as_str().map(ByteArray::from)).collect(), levels)
    });
    let info = robot.path("robot/meta/info.json");
    let mut json: Value = serde_json::from_slice(&fs::read(&info).unwrap()).unwrap();
    let features = json["features"].as_object_mut().unwrap();
    features.retain(|name, _| name.ends_with("_index") || name.starts_with("observation.images."));
    features.insert("language_events".into(), json!({"dtype": "language", "shape": [1], "names": null}));
    fs::write(info, json.to_string()).unwrap();
}

#[test]
fn what_was_said_is_a_track_of_texts() {
    let robot = Robot::new();
    put_language(&robot);
    let run = robot.pack(&[]);
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let set = Dataset::open(robot.path("set")).unwrap();
    for clip in set.clips().map(Result::unwrap) {
        let episode = clip.attributes().unwrap().get::<usize>("episode").unwrap().unwrap();
        let track = clip.track("language_events").unwrap().unwrap();
        let found: Vec<Value> = track.texts().unwrap().map(|text| serde_json::from_str(&text).unwrap()).collect();
        assert_eq!(found, (0..LENGTHS[episode]).map(events).collect::<Vec<_>>(), "episode {episode}");
    }
}

#[test]
fn pictures_in_parquet_that_are_missing_or_damaged_fail_their_clip() {
    let robot = Robot::new();
    put_pictures(&robot, 1000, |e, camera, t| match (e, camera, t) {
        (0, 1, 3) => None,
        (2, 0, 29) => Some(b"\xff\xd8no picture".to_vec()),
        _ => Some(picture(shown(e, camera, t))),
    });
    let run = robot.pack(&[]);
    assert_eq!(run.status.code(), Some(3), "{}", said(&run));
    assert!(said(&run).contains("row 3: there is no picture, or only the path of one"), "{}", said(&run));
    assert!(said(&run).contains("row 37"), "{}", said(&run));
    assert_eq!(Dataset::open(robot.path("set")).unwrap().len(), 6);
    let data = robot.path("robot/data/chunk-000/file-000.parquet");
    let whole = fs::read(&data).unwrap();
    for i in (0..whole.len()).step_by(whole.len() / 2) {
        let mut damaged = whole.clone();
        damaged[i] ^= 0x55;
        fs::write(&data, &damaged).unwrap();
        let run = robot.vidrec(&["pack", "robot", "-o", "set", "--all", "--if-exists", "replace"]);
        assert!(matches!(run.status.code(), Some(0 | 1 | 3)), "{}", said(&run));
    }
}

#[test]
fn an_episode_whose_video_is_short_fails_by_name_and_the_others_do_not() {
    let robot = Robot::new();
    robot.encode("wrist", &["-frames:v", "49"]);
    let run = robot.pack(&[]);
    assert_eq!(run.status.code(), Some(3), "{}", said(&run));
    let set = Dataset::open(robot.path("set")).unwrap();
    assert_eq!(set.len(), 7);
    let failures = fs::read_dir(robot.path("set")).unwrap().map(|entry| entry.unwrap().path());
    let failures = failures.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    let text: String = failures.map(|path| fs::read_to_string(path).unwrap()).collect();
    assert_eq!(text.lines().count(), 1, "{text}");
    for word in ["observation.images.wrist", "expected 12 frames", "found 11 frames"] {
        assert!(text.contains(word), "{text}");
    }
}

#[test]
fn rows_that_are_not_those_of_the_episodes_fail_them() {
    let robot = Robot::new();
    // The rows of a data set with other episodes.
    let other = Robot::new();
    let set = Dataset::open(other.path("written")).unwrap();
    export(&set.select([3, 7]).unwrap(), &other.path("less"), &LeRobotOptions::default(), &mut no_progress).unwrap();
    let file = "data/chunk-000/file-000.parquet";
    fs::copy(other.path("less").join(file), robot.path("robot").join(file)).unwrap();
    let run = robot.pack(&[]);
    assert_eq!(run.status.code(), Some(1), "{}", said(&run));
    assert!(said(&run).contains("expected 7, found 12"), "{}", said(&run));
}

#[test]
fn other_versions_and_ways_out_of_the_folder_are_refused() {
    for (from, to, word) in [
        ("v3.0", "v1.6", "expected codebase_version v2.1 or v3.0"),
        ("v3.0", "v9.0", "does not support it"),
        ("\"videos/{video_key}", "\"../{video_key}", "leads out of the data set's folder"),
        ("\"data/chunk-{chunk_index:03d}", "\"/etc/{chunk_index:03d}", "leads out of the data set's folder"),
        ("{file_index:03d}.mp4", "{file_index!r}.mp4", "it has no field"),
        ("\"fps\": 30,\n  \"robot", "\"fps\": 0,\n  \"robot", "fps is not a valid rate"),
        ("\"total_episodes\": 4", "\"total_episodes\": 5", "expected 5, found 4"),
    ] {
        let robot = Robot::new();
        robot.replace("meta/info.json", from, to);
        let run = robot.pack(&[]);
        assert!(run.status.code() == Some(1) && said(&run).contains(word), "{to}: {}", said(&run));
        assert!(!robot.path("set").exists());
    }
}

#[test]
#[cfg(unix)]
fn links_out_of_the_folder_fail_their_episodes_unless_asked_for() {
    let robot = Robot::new();
    let elsewhere = robot.path("elsewhere.mp4");
    fs::rename(robot.video("wrist"), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, robot.video("wrist")).unwrap();
    let run = robot.pack(&[]);
    assert!(run.status.code() == Some(3) && said(&run).contains("leads out"), "{}", said(&run));
    assert_eq!(Dataset::open(robot.path("set")).unwrap().len(), 4);
    let run = robot.pack(&["--if-exists", "replace", "--outside"]);
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    assert_eq!(Dataset::open(robot.path("set")).unwrap().len(), 8);
}

#[test]
fn cut_and_changed_tables_are_errors_and_no_crashes() {
    let robot = Robot::new();
    for file in ["meta/episodes/chunk-000/file-000.parquet", "data/chunk-000/file-000.parquet"] {
        let path = robot.path("robot").join(file);
        let whole = fs::read(&path).unwrap();
        let cuts = [0, whole.len() / 2].map(|length| whole[..length].to_vec());
        let flips = (0..3).map(|i| {
            let mut bytes = whole.clone();
            let at = bytes.len() * (2 * i + 1) / 6;
            bytes[at] ^= 0xFF;
            bytes
        });
        for bytes in cuts.into_iter().chain(flips) {
            fs::write(&path, &bytes).unwrap();
            let run = robot.vidrec(&["pack", "robot", "-o", "set", "--all", "--overwrite"]);
            let text = said(&run);
            assert!(run.status.code().is_some_and(|code| code <= 3), "{text}");
            assert!(!text.contains("report this") && !text.contains("RUST_BACKTRACE"), "{text}");
        }
        fs::write(&path, whole).unwrap();
    }
}

#[test]
fn frames_that_are_not_evenly_spaced_need_a_rate() {
    let robot = Robot::new();
    let path = robot.path("sparse");
    let run = robot.vidrec(&["pack", "robot", "-o", "sparse", "--fps", "7"]);
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let run = robot.vidrec(&["export", "lerobot", "sparse", "-o", "out"]);
    let text = said(&run);
    assert!(run.status.code() == Some(1) && text.contains("not evenly spaced") && text.contains("--fps"), "{text}");
    assert!(text.contains("clip") && text.contains("frame") && !robot.path("out").exists(), "{text}");
    let run = robot.vidrec(&["export", "lerobot", "sparse", "-o", "out", "--fps", "7", "--without", "table"]);
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let info: Value = serde_json::from_str(&fs::read_to_string(robot.path("out/meta/info.json")).unwrap()).unwrap();
    assert_eq!((&info["fps"], info["features"].get("table")), (&7.into(), None));
    let frames = Dataset::open(path).unwrap().frame_count();
    assert_eq!(info["total_frames"], frames / CAMERAS.len() as u64);
    let run = robot.vidrec(&["export", "lerobot", "sparse", "-o", "other", "--without", "nothing"]);
    assert!(run.status.code() == Some(1) && said(&run).contains("\"nothing\""), "{}", said(&run));
}
