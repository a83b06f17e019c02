//! Statistics of clips.

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
    let found = |title: &str| s.distributions.iter().find(|d| d.title.starts_with(title)).unwrap();
    let frames = found("Frames per clip");
    let of = frames.summary.unwrap();
    assert_eq!((of.min, of.median, of.mean, of.max, s.most_frames), (1.0, 2.0, 1.9, 3.0, 3));
    let bins: Vec<_> = frames.bins.iter().map(|b| (b.from.unwrap(), b.below.unwrap(), b.clips)).collect();
    assert_eq!(bins, [(1.0, 1.0, 4), (2.0, 2.0, 3), (3.0, 3.0, 3)]);
    let bytes: Vec<u64> = set
        .clips()
        .flat_map(|c| c.unwrap().frames().map(|f| f.unwrap().jpeg().len() as u64).collect::<Vec<_>>())
        .collect();
    assert_eq!(s.epoch_bytes, bytes.iter().sum::<u64>());
    assert_eq!(
        (s.smallest_frame_bytes, s.largest_frame_bytes),
        (bytes.iter().min().map(|&n| n as u32), bytes.iter().max().map(|&n| n as u32))
    );
    assert_eq!(found("Bytes per frame").bins.iter().map(|b| b.clips).sum::<u64>(), 10);
    assert_eq!(s.epoch_rgb_bytes, 19 * 24 * 16 * 3);
    let sizes = found("Size").bins.iter().map(|b| (b.word.clone().unwrap(), b.clips));
    assert_eq!(sizes.collect::<Vec<_>>(), [("24×16".to_owned(), 10)]);
    assert_eq!((s.short_clips, s.repeated_frames), (2, 0));
    // Clips of one frame last no time; two frames are 5 ticks apart, three 10.
    let (seconds, tick) = (found("Seconds"), 1001.0 / 30_000.0);
    let (of, near) = (seconds.summary.unwrap(), |a: f64, b: f64| (a - b).abs() < 1e-9);
    assert!(seconds.without == 4 && near(of.min, 5.0 * tick) && near(of.max, 10.0 * tick));
    assert!(near(s.seconds, (3.0 * 5.0 + 3.0 * 10.0) * tick));
}
