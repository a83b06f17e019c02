//! Which frames there are, and at what times.

use std::cell::Cell;
use std::time::Duration;

use vidrec::video::{FrameSize, Stage, Timeline, Video, VideoOptions, sample};

use crate::video::support::{all, clips, options, probe_times};

const SMALL: FrameSize = FrameSize::ShortSide(32);

/// A video, and bounds of the number of its frames.
const MADE: [(&str, &str, std::ops::RangeInclusive<usize>); 6] = [
    ("b.mp4", "-c:v mpeg4 -bf 2 -g 12", 48..=50),
    ("b.mkv", "-c:v mpeg4 -bf 2 -g 12", 48..=50),
    ("b.avi", "-c:v mpeg4 -bf 2 -g 12", 48..=50),
    ("b.ts", "-c:v mpeg2video -bf 2 -g 12", 48..=50),
    ("variable.mkv", "-vf select=not(mod(n\\,7)*mod(n\\,11)) -vsync vfr -c:v mpeg4 -bf 2", 12..=12),
    ("whole.mp4", "-c:v mpeg4 -g 50", 50..=50),
];

#[test]
fn frames_come_in_presentation_order_with_the_times_of_the_file() {
    let Some(clips) = clips() else { return };
    let check = |path: &std::path::Path, count: std::ops::RangeInclusive<usize>| {
        let ours: Vec<i64> = all(path, SMALL).unwrap().frames.iter().map(|frame| frame.pts).collect();
        let mut theirs = probe_times(path);
        if path.extension().is_some_and(|ending| ending == "avi") {
            // AVI has no presentation times; the last frame leaves the decoder without any, and gets the next one.
            theirs.push(theirs.last().unwrap() + 1);
        }
        assert_eq!(ours, theirs, "{path:?}");
        assert!(ours.is_sorted_by(|a, b| a < b) && count.contains(&ours.len()), "{path:?}: {ours:?}");
    };
    for (name, args, count) in MADE {
        let path = clips.make(name, &format!("-f lavfi -i testsrc2=s=96x64:r=25:d=2 {args} -q:v 4"));
        check(&path, count);
    }
    // Frames that an edit list hides do not count.
    check(&clips.make("cut.mp4", "-ss 1 -i whole.mp4 -c copy"), 20..=29);
}

#[test]
fn a_picture_does_not_depend_on_whether_the_stream_was_kept() {
    let Some(clips) = clips() else { return };
    let path = clips.make("k.ts", "-f lavfi -i testsrc2=s=96x64:r=25:d=2 -c:v mpeg2video -bf 2 -q:v 4");
    let every = |t: &vidrec::video::Timeline| Ok((0..t.frame_count()).collect());
    let kept = sample(&path, &options(SMALL), &every).unwrap();
    for keep_bytes in [0, 20_000] {
        assert_eq!(sample(&path, &VideoOptions { keep_bytes, ..options(SMALL) }, &every).unwrap(), kept);
    }
}

/// The last packet is cut, so that one frame fewer decodes than there are packets.
#[test]
fn a_wrong_guess_at_the_number_leads_to_the_same_pictures() {
    let Some(clips) = clips() else { return };
    let path = clips.make("w.nut", "-f lavfi -i testsrc2=s=96x64:r=25:d=1 -c:v mjpeg -q:v 3");
    let whole = all(&path, SMALL).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    // Spoils one JPEG in the middle: its start-of-image marker goes, and no picture comes of that packet.
    let starts: Vec<_> =
        bytes.windows(3).enumerate().filter(|(_, w)| *w == [0xff, 0xd8, 0xff]).map(|(i, _)| i).collect();
    let (from, to) = (starts[10], starts[11]);
    bytes[from..to - 64].fill(0);
    let broken = clips.write("broken.nut", &bytes);
    let asked = Cell::new(Vec::new());
    let video = sample(&broken, &options(SMALL), &|t| {
        let n = t.frame_count();
        asked.set([asked.take(), vec![n]].concat());
        Ok((0..n).collect())
    })
    .unwrap();
    assert_eq!(asked.take(), [25, 24]);
    assert_eq!(video.frame_count, 24);
    assert!(video.facts.decode_errors > 0 && video.facts.first_error.is_some(), "{:?}", video.facts);
    let expected: Vec<_> = whole.frames.iter().filter(|f| f.source_index != 10).map(|f| (&f.image, f.pts)).collect();
    assert_eq!(video.frames.iter().map(|f| (&f.image, f.pts)).collect::<Vec<_>>(), expected);

    // What was made of the first decode's frames is gone: it had the one that would not be chosen a second time.
    let mut made = 0;
    let but_last = |t: &Timeline| Ok((0..t.frame_count() - 1).collect());
    let numbered = Video::open(&broken, &options(SMALL)).unwrap().sample_with(&but_last, &mut |frame| {
        made += 1;
        (made, frame.source_index)
    });
    assert_eq!(numbered.unwrap().frames, (0..23).map(|i| (24 + i + 1, i)).collect::<Vec<_>>());
    assert_eq!(made, 24 + 23);
}

#[test]
fn a_bad_choice_is_the_callers_fault() {
    let Some(clips) = clips() else { return };
    let path = clips.make("one.mkv", "-f lavfi -i testsrc2=s=96x64:r=25 -frames:v 3 -c:v ffv1");
    for bad in [vec![2, 1], vec![3]] {
        let e = sample(&path, &options(SMALL), &|_| Ok(bad.clone())).unwrap_err();
        assert_eq!(e.stage, Stage::Sample, "{e:?}");
    }
    let e = sample(&path, &options(FrameSize::ShortSide(0)), &|_| Ok(vec![0])).unwrap_err();
    assert_eq!(e.stage, Stage::Scale, "{e:?}");
}

#[test]
fn time_runs_out() {
    let Some(clips) = clips() else { return };
    let path = clips.make("t.mkv", "-f lavfi -i testsrc2=s=96x64:r=25 -frames:v 3 -c:v ffv1");
    for timeout in [Duration::ZERO, Duration::from_nanos(1)] {
        let e = sample(&path, &VideoOptions { timeout, ..options(SMALL) }, &|_| Ok(vec![0])).unwrap_err();
        assert_eq!(e.stage, Stage::Timeout, "{e:?}");
    }
    sample(&path, &VideoOptions { timeout: Duration::MAX, ..options(SMALL) }, &|_| Ok(vec![0])).unwrap();
}
