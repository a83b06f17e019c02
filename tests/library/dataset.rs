//! Data sets from outside: what is written is read, what is damaged is refused, and `verify` finds every flipped byte.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::names::file;
use crate::common::{jpeg, sources};
use vidrec::{ClipInfo, Dataset, ErrorKind, FrameData, JsonObject, VerifyOptions, Writer, WriterOptions, verify};

fn clip(label: u32, source: &str) -> ClipInfo {
    let class = ["run", "jump"][label as usize].to_owned();
    let attributes = JsonObject::of(serde_json::json!({"caption": format!("a {class}")})).unwrap();
    ClipInfo {
        label: Some(label),
        source: source.to_owned(),
        class,
        attributes,
        width: 32,
        height: 16,
        time_base: (1, 25),
        short: label == 1,
    }
}

fn options() -> WriterOptions {
    let mut options = WriterOptions::default();
    options.meta.classes = vec!["run".into(), "jump".into()];
    options.meta.tool = "test".into();
    options
}

/// Writes clips of so many frames each.
fn write(dir: &Path, frame_counts: &[u32]) {
    let mut writer = Writer::create(dir, options()).unwrap();
    for (c, &count) in (0..).zip(frame_counts) {
        let jpegs: Vec<_> = (0..count).map(|t| jpeg((32, 16), c * 10 + t)).collect();
        let frames: Vec<_> = (0..)
            .zip(&jpegs)
            .map(|(t, jpeg)| FrameData { jpeg, pts: i64::from(t) * 5 - 2, source_index: Some(t * 4) })
            .collect();
        writer.append(&clip(c % 2, &format!("run/видео {c}.mp4")), &frames).unwrap();
    }
    let written = writer.finish().unwrap();
    assert_eq!((written.clips, written.frames), (frame_counts.len() as u64, frame_counts.iter().sum::<u32>().into()));
}

fn small() -> (tempfile::TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("set");
    write(&dir, &[2, 3, 4]);
    (temp, dir)
}

#[test]
fn what_is_written_is_read() {
    let (_temp, dir) = small();
    let set = Dataset::open(&dir).unwrap();
    assert_eq!((set.len(), set.frame_count(), set.classes().len()), (3, 9, 2));
    for c in 0..3 {
        let clip = set.clip(c).unwrap();
        assert_eq!(clip.source().unwrap(), format!("run/видео {c}.mp4"));
        assert_eq!(clip.label(), Some(c as u32 % 2));
        assert_eq!(clip.class().unwrap(), ["run", "jump"][c as usize % 2]);
        assert!(clip.attributes_json().unwrap().starts_with(r#"{"caption":"a "#));
        assert_eq!((clip.width(), clip.height(), clip.time_base()), (32, 16, (1, 25)));
        assert_eq!(clip.is_short(), c == 1);
        assert_eq!(clip.frame_count(), 2 + c as u32);
        for (t, frame) in (0..).zip(clip.frames()) {
            let frame = frame.unwrap();
            frame.check().unwrap();
            assert_eq!(frame.jpeg(), jpeg((32, 16), c as u32 * 10 + t));
            assert_eq!((frame.pts(), frame.source_index()), (i64::from(t) * 5 - 2, Some(t * 4)));
            assert_eq!(frame.pts_seconds(), (f64::from(t) * 5.0 - 2.0) / 25.0);
        }
        assert_eq!(clip.frame(2 + c as u32).unwrap_err().kind(), ErrorKind::Usage);
    }
    assert_eq!(set.clip(3).unwrap_err().kind(), ErrorKind::Usage);
}

#[test]
fn a_set_opens_by_any_of_its_names() {
    let (_temp, dir) = small();
    for path in [dir.clone(), file(&dir, "shard-00000.rec"), file(&dir, "shard-00000.vidx"), dir.join("dataset.json")] {
        assert_eq!(Dataset::open(&path).unwrap().len(), 3, "{}", path.display());
    }
    let shard = file(&dir, "shard-00000.vidx");
    fs::remove_file(dir.join("dataset.json")).unwrap();
    let loose = Dataset::open(&shard).unwrap();
    // A folder without dataset.json is no data set, whatever lies in it.
    let e = Dataset::open(&dir).unwrap_err();
    let name = shard.file_name().unwrap().to_str().unwrap();
    assert!([name, "repair"].iter().all(|part| e.to_string().contains(part)), "{e}");
    let e = Dataset::open(file(&dir, "shard-00000.rec")).unwrap_err();
    assert!(e.to_string().contains("dataset.json"), "{e}");
    let twice = Dataset::concat(&[loose.clone(), loose.clone()]).unwrap();
    assert_eq!((twice.len(), twice.frame_count()), (6, 18));
    let (a, b) = (loose.clip(2).unwrap().frame(3).unwrap(), twice.clip(5).unwrap().frame(3).unwrap());
    assert_eq!(a.jpeg(), b.jpeg());
}

#[test]
fn a_set_is_replaced_only_when_asked() {
    let (_temp, dir) = small();
    let refused = Writer::create(&dir, options()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Usage);
    assert_eq!(refused.hints(), [vidrec::Hint::Overwrite], "{refused}");
    let before = Dataset::open(&dir).unwrap();
    let picture = jpeg((32, 16), 99);
    let frames = [FrameData { jpeg: &picture, pts: 0, source_index: None }];
    let mut writer = Writer::create(&dir, WriterOptions { overwrite: true, ..options() }).unwrap();
    writer.append(&clip(0, "new"), &frames).unwrap();
    assert_eq!(Dataset::open(&dir).unwrap().len(), 3, "nothing is visible before finish");
    writer.finish().unwrap();
    assert_eq!(Dataset::open(&dir).unwrap().len(), 1);
    // Whoever had the old set open still reads it.
    before.clip(2).unwrap().frame(0).unwrap().check().unwrap();
}

#[test]
fn clips_that_make_no_sense_are_refused_and_the_writer_goes_on() {
    let temp = tempfile::tempdir().unwrap();
    let picture = jpeg((32, 16), 0);
    let frame = FrameData { jpeg: &picture, pts: 0, source_index: None };
    let mut writer = Writer::create(temp.path(), options()).unwrap();
    let good = clip(0, "a");
    let bad = [
        (good.clone(), vec![FrameData { jpeg: b"GIF89a", ..frame }]),
        (ClipInfo { label: Some(2), ..good.clone() }, vec![frame]),
        (ClipInfo { label: Some(1), ..good.clone() }, vec![frame]),
        (ClipInfo { time_base: (0, 1), ..good.clone() }, vec![frame]),
        (ClipInfo { width: 1 << 20, ..good.clone() }, vec![frame]),
    ];
    for (info, frames) in bad {
        assert_eq!(writer.append(&info, &frames).unwrap_err().kind(), ErrorKind::Usage, "{info:?}");
    }
    writer.append(&good, &[frame]).unwrap();
    assert_eq!(writer.finish().unwrap().clips, 1);
}

#[test]
fn frames_that_hold_the_magic_stay_in_one_part() {
    let temp = tempfile::tempdir().unwrap();
    // A comment segment that holds RecordIO's magic at each alignment in turn.
    let plain = jpeg((32, 16), 0);
    for shift in 0..4usize {
        let mut comment = vec![0xff, 0xfe, 0, (2 + shift + 8) as u8];
        comment.extend(std::iter::repeat_n(b'x', shift));
        comment.extend([0x0a, 0x23, 0xd7, 0xce, 1, 2, 3, 4]);
        let forged = [&plain[..2], &comment, &plain[2..]].concat();
        let dir = temp.path().join(shift.to_string());
        let mut writer = Writer::create(&dir, options()).unwrap();
        writer.append(&clip(0, "a"), &[FrameData { jpeg: &forged, pts: 0, source_index: None }]).unwrap();
        writer.finish().unwrap();
        let record = fs::read(file(&dir, "shard-00000.rec")).unwrap();
        let heads = record.chunks_exact(4).filter(|w| **w == [0x0a, 0x23, 0xd7, 0xce]).count();
        assert_eq!(heads, 1, "shift {shift}");
        let set = Dataset::open(&dir).unwrap();
        let frame = set.clip(0).unwrap().frame(0).unwrap();
        frame.check().unwrap();
        assert!(frame.jpeg().len() <= forged.len() + 3);
        let mut decoder = vidrec::jpeg::Decoder::new().unwrap();
        let (mut a, mut b) = (vec![0; 32 * 16 * 3], vec![1; 32 * 16 * 3]);
        decoder.decode_rgb(frame.jpeg(), &mut a, 96).unwrap();
        decoder.decode_rgb(&plain, &mut b, 96).unwrap();
        assert_eq!(a, b);
        assert!(
            verify(&dir, VerifyOptions { deep: true, ..VerifyOptions::default() }, &mut vidrec::no_progress)
                .unwrap()
                .ok
        );
    }
}

#[test]
fn every_flipped_byte_is_found_and_none_panics() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("set");
    write(&dir, &[1, 2]);
    for name in ["shard-00000.rec", "shard-00000.vidx"] {
        let path = file(&dir, name);
        let good = fs::read(&path).unwrap();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1 << (at % 8);
            replace(&path, &bad);
            let report = verify(&dir, VerifyOptions::default(), &mut vidrec::no_progress).unwrap();
            assert!(!report.ok, "{name} byte {at} was flipped and not found");
            assert!(report.problems.iter().all(|p| !p.kind.is_empty() && !p.message.is_empty()));
            read_all(&dir);
        }
        replace(&path, &good);
    }
    assert!(verify(&dir, VerifyOptions::default(), &mut vidrec::no_progress).unwrap().ok);
}

#[test]
fn every_truncation_is_an_error_at_open() {
    let (_temp, dir) = small();
    for name in ["shard-00000.rec", "shard-00000.vidx"] {
        let path = file(&dir, name);
        let good = fs::read(&path).unwrap();
        for length in 0..good.len() {
            replace(&path, &good[..length]);
            let e = Dataset::open(&dir).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::Format, "{name} cut at {length}: {e}");
            assert_eq!(e.path(), Some(path.as_path()), "{e}");
        }
        replace(&path, &[&good[..], &[0]].concat());
        assert_eq!(Dataset::open(&dir).unwrap_err().kind(), ErrorKind::Format);
        replace(&path, &good);
    }
}

#[test]
fn verify_reports_every_problem() {
    let (_temp, dir) = small();
    let path = file(&dir, "shard-00000.rec");
    let mut bytes = fs::read(&path).unwrap();
    let set = Dataset::open(&dir).unwrap();
    let damaged = [(0u64, 1u32), (1, 0), (2, 3)];
    let offsets: Vec<u64> = damaged.iter().map(|&(c, t)| set.clip(c).unwrap().frame(t).unwrap().offset()).collect();
    for &at in &offsets {
        bytes[at as usize + 300] ^= 0x10;
    }
    fs::write(&path, &bytes).unwrap();
    let report = verify(&dir, VerifyOptions::default(), &mut vidrec::no_progress).unwrap();
    let found: Vec<_> = report.problems.iter().filter(|p| p.kind == "jpeg-crc").collect();
    let places: Vec<_> = found.iter().map(|p| (p.clip.unwrap(), p.frame.unwrap())).collect();
    assert_eq!(places, damaged);
    assert_eq!(found.iter().map(|p| p.offset.unwrap()).collect::<Vec<_>>(), offsets);
}

/// Puts a new file in place of one: some file systems wait for the disk when a file is cut and written again.
fn replace(path: &Path, bytes: &[u8]) {
    fs::remove_file(path).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Two data sets that replace each other all the time, and a reader that opens what is there.
#[test]
fn a_data_set_that_is_replaced_all_the_time_can_be_opened_at_any_time() {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
    let temp = tempfile::tempdir().unwrap();
    let sets = [3, 4].map(|clips| {
        let dir = temp.path().join(format!("of-{clips}"));
        crate::common::rich::Rich { shards: &[clips, 1, 1, 1, 1, 1, 1, 1], ..Default::default() }.write(&dir);
        Dataset::open(&dir).unwrap()
    });
    let out = temp.path().join("out");
    let replace = |set: &Dataset| {
        let options = vidrec::edit::EditOptions { overwrite: true, ..Default::default() };
        vidrec::edit::merge(std::slice::from_ref(set), &out, &options, &mut vidrec::no_progress).unwrap();
    };
    replace(&sets[0]);
    let (stopped, replaced) = (AtomicBool::new(false), AtomicU32::new(0));
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            while !stopped.load(Relaxed) {
                sets.iter().rev().for_each(replace);
                replaced.fetch_add(1, Relaxed);
            }
        });
        let mut failed = Vec::new();
        while replaced.load(Relaxed) < 10 && !writer.is_finished() {
            match Dataset::open(&out) {
                Ok(set) if [10, 11].contains(&set.len()) => {}
                Ok(set) => failed.push(format!("{} clips", set.len())),
                Err(e) => failed.push(format!("{e:#}")),
            }
        }
        stopped.store(true, Relaxed);
        assert!(failed.is_empty(), "{} times: {}", failed.len(), failed[0]);
    });
}

/// Reads a data set as far as it can be read.
fn read_all(dir: &Path) {
    let Ok(set) = Dataset::open(dir) else { return };
    for c in 0..set.len().min(10) {
        let Ok(clip) = set.clip(c) else { continue };
        let _ = (clip.source(), clip.class(), clip.attributes_json());
        for t in 0..clip.frame_count().min(10) {
            if let Ok(frame) = clip.frame(t) {
                let _ = frame.check();
            }
        }
    }
}

#[test]
fn selected_and_joined_data_sets_share_files_and_count_anew() {
    let folder = tempfile::tempdir().unwrap();
    let make = |name: &str, clips: &[usize]| {
        let dir = folder.path().join(name);
        let mut writer = Writer::create(&dir, WriterOptions::default()).unwrap();
        for (i, &frames) in clips.iter().enumerate() {
            let info = ClipInfo { label: Some(i as u32), source: format!("{name}{i}"), ..ClipInfo::default() };
            writer
                .append(&info, &vec![FrameData { jpeg: b"\xff\xd8\xff\xd9", pts: 0, source_index: None }; frames])
                .unwrap();
        }
        writer.finish().unwrap();
        Dataset::open(dir).unwrap()
    };
    let (a, b) = (make("a", &[2, 2, 3, 2]), make("b", &[2, 5]));

    let some = a.select([3, 0, 0]).unwrap();
    assert_eq!(sources(&some), ["a3", "a0", "a0"]);
    assert_eq!((some.len(), some.frame_count(), some.clip(0).unwrap().ordinal()), (3, 6, 0));
    assert_eq!((some.likely_frames_per_clip().unwrap(), a.likely_frames_per_clip().unwrap()), (Some(2), None));
    assert_eq!(sources(&some.select([1, 0]).unwrap()), ["a0", "a3"], "of a selection");
    assert_eq!(some.clip(3).unwrap_err().kind(), vidrec::ErrorKind::Usage);
    assert_eq!(a.select([4]).unwrap_err().kind(), vidrec::ErrorKind::Usage);
    assert!(a.select([]).unwrap().is_empty());
    assert_eq!(some.labels().unwrap(), [Some(3), Some(0), Some(0)]);

    let both = Dataset::concat(&[some.clone(), b.clone(), a.clone()]).unwrap();
    assert_eq!(sources(&both), ["a3", "a0", "a0", "b0", "b1", "a0", "a1", "a2", "a3"]);
    assert_eq!(both.frame_count(), 6 + 7 + 9);
    assert_eq!(sources(&Dataset::concat(&[b.clone(), a.clone()]).unwrap()), ["b0", "b1", "a0", "a1", "a2", "a3"]);
    assert!(Dataset::concat(&[]).is_err());

    let all: Vec<_> = [&a, &b, &some, &a.select([0, 3, 0]).unwrap(), &both].map(|set| set.fingerprint()).into();
    assert!(all.iter().enumerate().all(|(i, f)| !all[..i].contains(f)), "{all:?}");
    assert_eq!(a.select([3, 0, 0]).unwrap().fingerprint(), some.fingerprint());
}
