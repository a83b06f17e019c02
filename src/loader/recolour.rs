//! A clip's colour map, applied to a finished picture.

use super::colour::ColorMatrix;
use super::options::{Layout, LoaderOptions};

/// A sample that can be taken back to a level of 0 to 255.
pub(super) trait Level: Copy {
    /// The level of a sample that was normalised with this mean and deviation.
    fn level(self, mean: f32, std: f32) -> f32;
    /// The sample for a level.
    fn from_level(level: f32, mean: f32, std: f32) -> Self;
}

impl Level for u8 {
    fn level(self, _: f32, _: f32) -> f32 {
        f32::from(self)
    }

    fn from_level(level: f32, _: f32, _: f32) -> u8 {
        (level + 0.5) as u8
    }
}

impl Level for f32 {
    fn level(self, mean: f32, std: f32) -> f32 {
        (self * std + mean) * 255.0
    }

    fn from_level(level: f32, mean: f32, std: f32) -> f32 {
        (level / 255.0 - mean) / std
    }
}

/// Applies `map` to every pixel of a picture in its place in the batch.
pub(super) fn recolour<S: Level>(options: &LoaderOptions, map: &ColorMatrix, picture: &mut [S]) {
    let pixels = picture.len() / 3;
    let (pixel_stride, channel_stride) = match options.layout {
        Layout::Btchw => (1, pixels),
        Layout::Bthwc => (3, 1),
    };
    for pixel in 0..pixels {
        let at = |c: usize| pixel * pixel_stride + c * channel_stride;
        let rgb = std::array::from_fn(|c| picture[at(c)].level(options.mean[c], options.std[c]));
        for (c, level) in map.apply(rgb).into_iter().enumerate() {
            picture[at(c)] = S::from_level(level, options.mean[c], options.std[c]);
        }
    }
}
