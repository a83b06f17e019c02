//! When frames are shown where the times in a file are not in order.

use std::collections::BTreeMap;
use std::path::Path;

use vidrec::Planes;
use vidrec::video::{FrameSize, SampledVideo, VideoOptions, sample};

use crate::video::support::{Clips, all, clips, options, packet_times};

const SIZE: FrameSize = FrameSize::ShortSide(48);

/// 50 pictures of which no two are alike, with B-frames.
fn with_b_frames(clips: &Clips, name: &str) -> std::path::PathBuf {
    let source = "-f lavfi -i testsrc2=s=96x64:r=25:d=2 -c:v libx264 -preset fast -pix_fmt yuv420p -g 100";
    clips.make(name, &format!("{source} -bf 2 -x264-params b-adapt=0"))
}

/// The pictures of a video by their times.
fn pictures(video: &SampledVideo) -> BTreeMap<i64, &Planes> {
    video.frames.iter().map(|frame| (frame.pts, &frame.image)).collect()
}

fn times(video: &SampledVideo) -> Vec<i64> {
    video.frames.iter().map(|frame| frame.pts).collect()
}

#[test]
fn one_frame_out_of_order_changes_no_other() {
    let Some(clips) = clips() else { return };
    if !clips.can_encode("libx264") {
        return;
    }
    let intact = with_b_frames(&clips, "intact.mp4");
    // Two packets whose times may be swapped: no picture is shown before it is decoded.
    let packets = packet_times(&intact);
    let fits = |&(a, b): &(usize, usize)| packets[a].0 >= packets[b].1 && packets[b].0 >= packets[a].1;
    let (a, b) = (15..packets.len()).map(|a| (a, a + 1)).find(fits).unwrap();
    let (first, second) = (packets[a].0, packets[b].0);
    let expression = format!("if(eq(N\\,{a})\\,{second}\\,if(eq(N\\,{b})\\,{first}\\,PTS))");
    let swapped = clips.make("swapped.mp4", &format!("-i intact.mp4 -c copy -bsf:v setts=pts={expression}"));
    let after = packet_times(&swapped);
    assert_eq!((after[a].0, after[b].0), (second, first), "ffmpeg has swapped them");

    let (before, video) = (all(&intact, SIZE).unwrap(), all(&swapped, SIZE).unwrap());
    assert_eq!((before.facts.guessed_times, before.facts.unordered_times), (0, 0));
    assert_eq!(times(&video), times(&before), "all times that the file has, in order");
    let (before, now) = (pictures(&before), pictures(&video));
    for (pts, picture) in &now {
        // What is on the screen at a time is the picture of the packet with this time.
        let own = match *pts {
            pts if pts == first => second,
            pts if pts == second => first,
            pts => pts,
        };
        assert!(*picture == before[&own], "the picture at {pts}");
    }
    assert_eq!(video.facts.guessed_times, 0);
    assert!((1..=2).contains(&video.facts.unordered_times), "{:?}", video.facts);
    some_are_as_all(&swapped, &video);
}

/// Each frame alone, and decoded in any way, is the one that it is among all.
fn some_are_as_all(path: &Path, video: &SampledVideo) {
    for decode_all in [false, true] {
        let options = VideoOptions { decode_all, ..options(SIZE) };
        for i in (0..video.frame_count).step_by(3) {
            let one = sample(path, &options, &|_| Ok(vec![i])).unwrap();
            assert!(one.frames[0] == video.frames[i as usize], "{decode_all} {i}");
            assert_eq!(one.frame_count, video.frame_count);
        }
    }
}

/// Matroska has no times of decoding, and this codec shows what it decodes.
#[test]
fn a_swap_is_no_clock_that_begins_again() {
    let Some(clips) = clips() else { return };
    if !clips.can_encode("libvpx") {
        return;
    }
    let source = "-f lavfi -i testsrc2=s=96x64:r=25:d=1 -c:v libvpx -cpu-used 8 -b:v 1M";
    let intact = clips.make("intact.mkv", &format!("{source} -write_crc32 0"));
    let mut bytes = std::fs::read(&intact).unwrap();
    // Blocks of track 1, whose times are in milliseconds: frames 10 and 13.
    let place = |ms: u16| {
        let block = [&[0x81][..], &ms.to_be_bytes(), &[0]].concat();
        bytes.windows(4).position(|window| window == block).expect("the block is there") + 1
    };
    let (a, b) = (place(400), place(520));
    bytes[a..a + 2].copy_from_slice(&520u16.to_be_bytes());
    bytes[b..b + 2].copy_from_slice(&400u16.to_be_bytes());
    let swapped = clips.write("swapped.mkv", &bytes);
    let (before, video) = (all(&intact, SIZE).unwrap(), all(&swapped, SIZE).unwrap());
    assert_eq!(times(&video), times(&before));
    for (i, frame) in video.frames.iter().enumerate() {
        let own = match i {
            10 => 13,
            13 => 10,
            _ => i,
        };
        assert!(frame.image == before.frames[own].image, "frame {i}");
    }
    assert_eq!((video.facts.guessed_times, video.facts.unordered_times), (0, 2));
    some_are_as_all(&swapped, &video);
}

#[test]
fn times_of_decoding_are_those_of_the_pictures_in_their_order() {
    let Some(clips) = clips() else { return };
    if !clips.can_encode("libx264") {
        return;
    }
    let intact = with_b_frames(&clips, "intact.mp4");
    let wrong = clips.make("decoding.mp4", "-i intact.mp4 -c copy -bsf:v setts=pts=DTS-STARTDTS:dts=DTS-STARTDTS");
    let packets = packet_times(&wrong);
    assert!(packets.iter().all(|(pts, dts)| pts == dts), "the file has no other times");
    let (before, video) = (all(&intact, SIZE).unwrap(), all(&wrong, SIZE).unwrap());
    let images = |video: &SampledVideo| video.frames.iter().map(|frame| frame.image.clone()).collect::<Vec<_>>();
    assert!(images(&video) == images(&before), "pictures in the order in which they are shown");
    assert_eq!(times(&video), packets.iter().map(|(pts, _)| *pts).collect::<Vec<_>>());
    assert!(video.facts.guessed_times > 10 && video.facts.unordered_times > 10, "{:?}", video.facts);
    some_are_as_all(&wrong, &video);
}

#[test]
fn where_times_begin_again_frames_stay_in_their_order() {
    let Some(clips) = clips() else { return };
    if !clips.can_encode("libx264") {
        return;
    }
    let once = std::fs::read(with_b_frames(&clips, "once.ts")).unwrap();
    let twice = clips.write("twice.ts", &[&once[..], &once].concat());
    let (once, video) = (all(&clips.dir.path().join("once.ts"), SIZE).unwrap(), all(&twice, SIZE).unwrap());
    let half = once.frames.len();
    assert_eq!(video.frames.len(), 2 * half);
    for (i, frame) in video.frames.iter().enumerate() {
        assert!(frame.image == once.frames[i % half].image, "frame {i}");
    }
    assert!(video.facts.unordered_times > 0, "{:?}", video.facts);
}

/// The decoder of this codec marks nothing, and FFmpeg takes all of its frames for key frames.
#[test]
fn key_frames_of_a_decoder_without_marks_are_those_of_the_container() {
    let Some(clips) = clips() else { return };
    if !clips.can_encode("svq1") {
        return;
    }
    let path = clips.make("svq1.mov", "-f lavfi -i testsrc2=s=96x64:r=25:d=1 -c:v svq1 -g 5");
    let keys = |t: &vidrec::video::Timeline| Ok((0..).zip(&t.key).filter(|(_, key)| **key).map(|(i, _)| i).collect());
    let video = sample(&path, &options(SIZE), &keys).unwrap();
    let ordinals: Vec<u32> = video.frames.iter().map(|frame| frame.source_index).collect();
    assert_eq!(ordinals, [0, 5, 10, 15, 20]);
}
