//! The size of a picture that keeps about the shape and the size of its frame: Qwen2-VL's rule.

use serde::{Deserialize, Serialize};

use super::values::require;
use vidrec_format::error::{Error, Result};
use vidrec_format::limits::MAX_SIDE;

/// The frames that become one step in time, which count once in `total_pixels`.
const FRAME_FACTOR: u64 = 2;
/// The largest ratio of the sides.
const MAX_RATIO: f64 = 200.0;

/// The rule of [`Crop::SmartResize`](super::Crop::SmartResize).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SmartResize {
    /// Both sides are multiples of this: the side of a patch, times the patches that become one token. Default 28.
    pub factor: u32,
    /// The least number of pixels of a picture. Default 100,352 (128 times 28 by 28).
    pub min_pixels: u64,
    /// The greatest number of pixels of a picture. Default 602,112 (768 times 28 by 28).
    pub max_pixels: u64,
    /// The greatest number of pixels of all pictures of a sample together, where two frames count as one. It lowers
    /// `max_pixels`, but not below 1.05 times `min_pixels`. Default `None`: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_pixels: Option<u64>,
    /// Whether `min_pixels` is of all pictures of a sample together, as in Qwen3-VL, rather than of each.
    pub per_video: bool,
}

impl Default for SmartResize {
    fn default() -> Self {
        let pixels = 28 * 28;
        let (min_pixels, max_pixels) = (128 * pixels, 768 * pixels);
        SmartResize { factor: 28, min_pixels, max_pixels, total_pixels: None, per_video: false }
    }
}

impl SmartResize {
    /// Width and height of the pictures of a sample of `frames` frames of this width and height, which are not 0.
    ///
    /// The source is `smart_resize` and `Qwen2VLVideoProcessor.resize` with `cap_pixels_per_frame` in
    /// `models/qwen2_vl/video_processing_qwen2_vl.py` of transformers 5.24 (Apache-2.0), with the same operations on
    /// 64-bit floats. `fetch_video` of qwen-vl-utils 0.0.14 (Apache-2.0) has the same limit for whole videos. With
    /// `per_video`, it is `models/qwen3_vl/video_processing_qwen3_vl.py`, which compares the pixels of all frames, in
    /// whole pairs, and enlarges frames that are smaller than a token first.
    pub(crate) fn size(&self, (width, height): (u32, u32), frames: u32) -> Result<(u32, u32)> {
        let (w, h, factor) = (f64::from(width), f64::from(height), f64::from(self.factor));
        if w.max(h) / w.min(h) > MAX_RATIO {
            let e = Error::usage("loader option crop: SmartResize does not take frames of this shape");
            return Err(e
                .expected("sides of which one is at most 200 times the other")
                .found(format!("{width}x{height}")));
        }
        // A single frame is shown twice.
        let count = if self.per_video { f64::from(frames.max(FRAME_FACTOR as u32)) } else { 1.0 };
        let counted =
            if self.per_video { (count / FRAME_FACTOR as f64).round_ties_even() * FRAME_FACTOR as f64 } else { 1.0 };
        let scale = if self.per_video { (factor / w.min(h)).max(1.0) } else { 1.0 };
        let (w, h) = ((w * scale).floor(), (h * scale).floor());
        let (least, most) = (self.min_pixels as f64, self.most(frames));
        let round = |side: f64| (side / factor).round_ties_even() * factor;
        let pixels = counted * round(w) * round(h);
        let side = |side: f64| {
            if pixels > most * count {
                ((side / ((w * h) / most).sqrt() / factor).floor() * factor).max(factor)
            } else if pixels < least {
                (side * (least / (count * w * h)).sqrt() / factor).ceil() * factor
            } else {
                round(side)
            }
        };
        let size = (side(w), side(h));
        if size.0.max(size.1) > f64::from(MAX_SIDE) {
            let e = Error::usage("loader option crop: the pictures of SmartResize are too large");
            return Err(e.expected("sides of 1 to 65500").found(format!("{}x{}", size.0, size.1)));
        }
        Ok((size.0 as u32, size.1 as u32))
    }

    /// Whether frames of this width and height have too few pixels, in however many frames. What rounding adds does not count.
    pub(crate) fn enlarges(&self, (width, height): (u32, u32)) -> bool {
        let is_small = u64::from(width) * u64::from(height) < self.min_pixels;
        if self.per_video { width.min(height) < self.factor } else { is_small }
    }

    /// Returns an error that names the field if a value makes no sense.
    pub(super) fn check(&self) -> Result<()> {
        let SmartResize { factor, min_pixels: least, max_pixels: most, total_pixels, per_video } = *self;
        require((1..=MAX_SIDE).contains(&factor), "crop: factor", factor, "1 to 65500")?;
        require(least > 0, "crop: min_pixels", least, "1 or more")?;
        require(most > 0, "crop: max_pixels", most, "1 or more")?;
        let is_right = per_video || least <= most;
        require(is_right, "crop: max_pixels", most, &format!("at least min_pixels, which is {least}"))?;
        require(total_pixels != Some(0), "crop: total_pixels", 0, "1 or more")
    }

    /// The most pixels of a picture of a sample of `frames` frames.
    fn most(&self, frames: u32) -> f64 {
        let Some(total) = self.total_pixels else { return self.max_pixels as f64 };
        let each = total.saturating_mul(FRAME_FACTOR) / u64::from(frames.max(1));
        (self.max_pixels.min(each) as f64).max((self.min_pixels as f64 * 1.05).floor())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rule(min: u64, max: u64, total_pixels: Option<u64>) -> SmartResize {
        SmartResize { factor: 28, min_pixels: min * 28 * 28, max_pixels: max * 28 * 28, total_pixels, per_video: false }
    }

    /// The result of these two for tokens of 28 by 28 pixels.
    #[test]
    fn sizes_are_those_of_the_published_rule() {
        for ((min, max, total), frame, frames, size) in [
            ((128, 768, None), (1920, 1080), 8, (1008, 560)),
            ((128, 768, None), (1080, 1920), 8, (560, 1008)),
            ((128, 768, None), (640, 480), 8, (644, 476)),
            ((4, 768, None), (100, 60), 1, (112, 56)),
            ((128, 768, None), (100, 60), 1, (420, 252)),
            ((4, 16384, None), (1280, 720), 1, (1288, 728)),
            ((128, 768, Some(90316800)), (1920, 1080), 768, (644, 336)),
            ((128, 768, Some(90316800)), (1920, 1080), 32, (1008, 560)),
            ((128, 768, Some(2000000)), (1280, 720), 40, (420, 224)),
            ((128, 768, Some(1000000)), (1280, 720), 400, (420, 224)),
            ((4, 16, None), (322, 350), 2, (84, 112)),
            ((4, 16384, None), (42, 70), 2, (56, 56)),
            // qwen-vl-utils gives a side of 0 here.
            ((1, 2, None), (400, 30), 1, (140, 28)),
        ] {
            assert_eq!(rule(min, max, total).size(frame, frames).unwrap(), size, "{frame:?}, {frames} frames");
        }
    }

    /// The result of transformers 5.24 with `cap_pixels_per_frame`, `shortest_edge` 4096 and `longest_edge` 25165824.
    #[test]
    fn sizes_are_those_of_the_rule_for_whole_videos() {
        let rule = |total: u64| SmartResize {
            factor: 32,
            min_pixels: 4096,
            max_pixels: 768 * 32 * 32,
            total_pixels: Some(total / 2),
            per_video: true,
        };
        for (total, frame, frames, size) in [
            (25165824, (320, 180), 8, (320, 192)),
            (25165824, (1920, 1080), 8, (1152, 640)),
            (25165824, (982, 564), 45, (992, 576)),
            (25165824, (283, 341), 249, (288, 352)),
            (25165824, (34, 77), 198, (32, 64)),
            (25165824, (30, 28), 2, (64, 64)),
            (25165824, (20, 300), 5, (32, 480)),
            (25165824, (32, 32), 2, (64, 64)),
            (1048576, (284, 1055), 3, (288, 1120)),
            (1048576, (540, 457), 338, (64, 32)),
            (2000000, (31, 45), 12, (32, 32)),
        ] {
            assert_eq!(rule(total).size(frame, frames).unwrap(), size, "{frame:?}, {frames} frames");
        }
    }

    #[test]
    fn a_shape_that_the_rule_refuses_is_an_error() {
        let e = rule(4, 768, None).size((201, 1), 1).unwrap_err().to_string();
        assert!(e.contains("201x1") && e.contains("200 times"), "{e}");
        assert!(rule(4, 768, None).size((200, 1), 1).is_ok());
    }

    proptest! {
        #[test]
        fn pictures_keep_the_shape_within_the_pixels(
            (w, h) in (28u32..4000, 28u32..4000), min in 4u64..200, frames in 1u32..2000,
        ) {
            prop_assume!(w.max(h) / w.min(h) < 8);
            let rule = rule(min, 4 * min + 64, Some(5_000_000));
            let (width, height) = rule.size((w, h), frames).unwrap();
            prop_assert!(rule.most(frames) >= rule.min_pixels as f64);
            prop_assert!(width % 28 == 0 && height % 28 == 0 && width > 0 && height > 0);
            let pixels = f64::from(width) * f64::from(height);
            // Each side is less than a step from that of the exact size, which has the shape of the frame.
            let step = 28.0 * f64::from(width + height + 2 * 28);
            prop_assert!(pixels <= rule.most(frames) + step && pixels >= rule.min_pixels as f64 - step);
            let cross = (u64::from(width) * u64::from(h)).abs_diff(u64::from(height) * u64::from(w));
            prop_assert!(cross <= 28 * u64::from(w + h));
        }
    }
}
