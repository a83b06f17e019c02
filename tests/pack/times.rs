//! Which frames a rate takes where containers round times, where frames are held, and where clocks are broken.

use crate::common::program_runs::{show, stderr};
use crate::pack::support::{Room, indexes};

/// Packs, and returns the status, what was said, and the frames of each clip.
fn pack(room: &Room, input: &str, flags: &[&str]) -> (Option<i32>, String, Vec<Vec<u32>>) {
    let run = room.pack(input, flags);
    let clips = room.set().clips().map(|clip| indexes(&clip.unwrap())).collect();
    (run.status.code(), stderr(&run), clips)
}

/// Packs whole videos, and returns the frames of the first one.
fn frames(room: &Room, input: &str, flags: &[&str]) -> Vec<u32> {
    indexes(&room.packed(input, flags).clip(0).unwrap())
}

#[test]
fn every_container_gives_the_frames_of_exact_times() {
    for (rate, half) in [("24000/1001", "12000/1001"), ("60000/1001", "30000/1001")] {
        let room = Room::new();
        let video = format!("-f lavfi -i testsrc2=s=32x32:r={rate} -frames:v 60 -c:v libx264 -bf 0 -preset ultrafast");
        room.make("in/exact.mp4", &video);
        // These round to milliseconds, and to 1/90,000 s. MPEG-TS begins at 1.4 s.
        for (name, ticks) in [("v.mkv", ""), ("v.flv", ""), ("v.ts", ""), ("v.mp4", "-video_track_timescale 1000")] {
            room.make(&format!("in/{name}"), &format!("-i in/exact.mp4 -c copy {ticks}"));
        }
        let all_alike = |at: &str| {
            let (status, said, clips) = pack(&room, "in", &["--fps", at]);
            assert_eq!((status, clips.len()), (Some(0), 5), "{said}");
            assert!(clips.iter().all(|clip| *clip == clips[0]), "{rate} at {at}: {clips:?}");
            clips[0].clone()
        };
        assert_eq!(all_alike(rate), (0..60).collect::<Vec<_>>());
        assert_eq!(all_alike(half), (0..60).step_by(2).collect::<Vec<_>>());
        all_alike("25");
    }
}

#[test]
fn a_frame_is_on_the_screen_until_it_ends() {
    let room = Room::new();
    room.make("sparse.mp4", "-f lavfi -i testsrc2=s=32x32:r=0.2 -frames:v 6 -c:v libx264 -preset ultrafast");
    assert_eq!(frames(&room, "sparse.mp4", &["--fps", "1"]), (0..30).map(|second| second / 5).collect::<Vec<_>>());
    let rows = ["6,9", "4,12", "26,29", "31,32"].map(|times| format!("sparse.mp4,{times}\n")).concat();
    room.write("list.csv", format!("path,start,end\n{rows}"));
    let (status, said, clips) = pack(&room, "list.csv", &["--fps", "1"]);
    assert_eq!(clips, [vec![1, 1, 1], vec![0, 1, 1, 1, 1, 1, 2, 2], vec![5, 5, 5]]);
    assert!(status == Some(3) && said.contains("no frame lies from 31 to 32 s"), "{said}");
    let (_, _, clips) = pack(&room, "list.csv", &["--all"]);
    assert_eq!(clips, [vec![1], vec![1, 2], vec![5]], "frames that begin there or, without one, the one on the screen");

    // The last frame is held: a GIF says so with the frame, FFmpeg's Matroska in a tag.
    let held = "-f lavfi -i testsrc2=s=32x32:r=10:d=1";
    room.make("held.gif", &format!("{held} -final_delay 300"));
    let wanted: Vec<u32> = (0..9).chain(std::iter::repeat_n(9, 30)).collect();
    assert_eq!(frames(&room, "held.gif", &["--fps", "10"]), wanted);
    room.make("held.mkv", "-i held.gif -c:v libx264 -pix_fmt yuv420p -vsync passthrough -enc_time_base 1/100");
    let (status, said, clips) = pack(&room, "held.mkv", &["--fps", "10"]);
    assert_eq!((status, &clips[0][..9]), (Some(0), &wanted[..9]), "{said}");

    // A file that lacks its end is no file whose last frame is held.
    let whole = room.make("whole.mkv", "-f lavfi -i testsrc2=s=320x240:r=10:d=10 -c:v mjpeg");
    let bytes = std::fs::read(whole).unwrap();
    room.write("cut.mkv", &bytes[..bytes.len() / 2]);
    let (status, said, clips) = pack(&room, "cut.mkv", &["--fps", "10"]);
    assert!(status == Some(3) && said.contains("the container claims 10.0 s") && clips[0].len() < 60, "{said}");
}

#[test]
fn a_broken_clock_is_named_and_multiplies_no_frames() {
    let room = Room::new();
    let late = "-vf setpts='if(gte(N\\,148)\\,PTS+28000/TB\\,PTS)' -vsync passthrough";
    room.make("late.mkv", &format!("-f lavfi -i testsrc2=s=32x32:r=25 {late} -frames:v 150 -c:v mjpeg"));
    let (status, said, clips) = pack(&room, "late.mkv", &["--fps", "1"]);
    assert_eq!(clips[0], [0, 25, 50, 75, 100, 125]);
    assert!(status == Some(3) && said.contains("no frame for 28000.0 s after 5.9 s"), "{said}");
    let found = room.vidrec(&["check", "set", "--json"]);
    assert!(show(&found).contains("a gap that no rate explains"), "{}", show(&found));

    // A container that does not know its length writes all ones (ISO 14496-12).
    let unknown = room.make("unknown.mp4", "-f lavfi -i testsrc2=s=32x32:r=25:d=2 -c:v libx264");
    let mut bytes = std::fs::read(unknown).unwrap();
    for (kind, offset) in [(b"mvhd", 20), (b"mdhd", 20), (b"tkhd", 24)] {
        let at = bytes.windows(4).position(|four| four == kind).unwrap() + offset;
        bytes[at..at + 4].fill(0xff);
    }
    room.write("unknown.mp4", bytes);
    assert_eq!(frames(&room, "unknown.mp4", &["--frames", "4"]), [6, 18, 31, 43]);
}
