//! What a data set is made of, counted.

use crate::common::rich::Rich;
use vidrec::{Dataset, stats};

#[test]
fn counts_are_those_of_the_clips() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("set");
    Rich { shards: &[6, 4], ..Rich::default() }.write(&dir);
    let set = Dataset::open(&dir).unwrap();
    let s = stats(&set).unwrap();
    // Clip i has i % 3 + 1 frames.
    assert_eq!((s.clips, s.frames, s.shards), (10, 19, 2));
    let classes: Vec<_> = s.classes.iter().map(|c| (c.label, c.class.as_str(), c.clips)).collect();
    assert_eq!(classes, [(None, "", 2), (Some(0), "run", 3), (Some(1), "walk", 2), (Some(2), "jump", 3)]);
    assert_eq!((s.frames_per_clip.min, s.frames_per_clip.max, s.frames_per_clip.mean), (1.0, 3.0, 1.9));
    let bins: Vec<_> = s.frames_per_clip_bins.iter().map(|b| (b.from, b.below, b.count)).collect();
    assert_eq!(bins, [(0, 2, 4), (2, 4, 6)]);
    let bytes: Vec<u64> = set
        .clips()
        .flat_map(|c| c.unwrap().frames().map(|f| f.unwrap().jpeg().len() as u64).collect::<Vec<_>>())
        .collect();
    assert_eq!(s.epoch_bytes, bytes.iter().sum::<u64>());
    assert_eq!(
        (s.bytes_per_frame.min, s.bytes_per_frame.max),
        (*bytes.iter().min().unwrap() as f64, *bytes.iter().max().unwrap() as f64)
    );
    assert_eq!(s.bytes_per_frame_bins.iter().map(|b| b.count).sum::<u64>(), 19);
    assert_eq!(s.epoch_rgb_bytes, 19 * 24 * 16 * 3);
    assert_eq!(s.sizes.iter().map(|s| (s.width, s.height, s.clips)).collect::<Vec<_>>(), [(24, 16, 10)]);
    assert_eq!((s.short_clips, s.repeated_frames, s.repaired_clips), (2, 0, 0));
    assert_eq!(s.video_notes["damaged_frames"], (5, 5));
    // Clips of one frame last no time; two frames are 5 ticks apart, three 10.
    assert_eq!((s.clips_without_times, s.seconds_per_clip.count), (4, 6));
    let tick = 1001.0 / 30_000.0;
    assert!((s.seconds_per_clip.max - 10.0 * tick).abs() < 1e-9 && (s.seconds_per_clip.min - 5.0 * tick).abs() < 1e-9);
}

#[test]
fn an_empty_set_has_stats_too() {
    let temp = tempfile::tempdir().unwrap();
    Rich { shards: &[], ..Rich::default() }.write(temp.path());
    let s = stats(&Dataset::open(temp.path()).unwrap()).unwrap();
    assert_eq!((s.clips, s.epoch_bytes, s.bytes_per_frame.count), (0, 0, 0));
    assert!(s.classes.iter().all(|c| c.clips == 0) && s.classes.len() == 3);
}
