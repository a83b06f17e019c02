//! Computes statistics of frames by channel. Like LeRobot, it uses a part of the frames and of their pixels.

use serde_json::{Map, Value, json};

use vidrec_core::dataset::{Clip, Levels, TrackStats, level_stats};
use vidrec_format::error::Result;
use vidrec_jpeg::RgbPicture;

/// The levels of some frames of a clip, which are spread evenly over it.
pub(super) fn levels(clip: &Clip<'_>) -> Result<Levels> {
    Levels::of(clip, &sampled(clip.frame_count()), &step)
}

/// The statistics as LeRobot writes them: for levels from 0 to 1, with shape (3, 1, 1).
pub(super) fn to_json(levels: Levels) -> Value {
    let pictures = levels.pictures();
    let TrackStats { min, max, mean, std, q01, q10, q50, q90, q99, .. } = level_stats(&[(levels, 1)]);
    let all = |values: Vec<f64>| -> Value { values.into_iter().map(|value| json!([[value]])).collect() };
    let mut json = Map::new();
    let named = [("min", min), ("max", max), ("mean", mean), ("std", std), ("q01", q01), ("q10", q10), ("q50", q50)];
    for (name, values) in named.into_iter().chain([("q90", q90), ("q99", q99)]) {
        json.insert(name.into(), all(values));
    }
    json.insert("count".into(), json!([pictures]));
    json.into()
}

/// Returns the frames to use: 100 or, of long clips, their number to the power of 0.75.
fn sampled(count: u32) -> Vec<u32> {
    let wanted = f64::from(count).powf(0.75).min(10_000.0).max(f64::from(count.min(100))) as u32;
    let place = |i: u32| (f64::from(i) * f64::from(count - 1) / f64::from((wanted - 1).max(1))).round() as u32;
    (0..wanted).map(place).collect()
}

/// Of a large frame, the pixels on a grid count, about 150 along the longer side.
fn step(picture: &RgbPicture) -> usize {
    let longer = picture.width.max(picture.height);
    if longer < 300 { 1 } else { longer as usize / 150 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_spread_from_the_first_to_the_last() {
        assert_eq!(sampled(1), [0]);
        assert_eq!(sampled(100), (0..100).collect::<Vec<_>>());
        let many = sampled(1000);
        assert_eq!((many.len(), many[0], many[176]), (177, 0, 999));
    }
}
