//! From a decoded frame to the picture that is stored: its description, scaling, turning and color.

mod color;
mod deep;
mod format;
mod geometry;
mod scale;

pub(crate) use color::ColorConversion;
pub(crate) use format::PictureFormat;
pub(crate) use geometry::{Orientation, Size, display_size, fit, odd_angle, target_size};
pub(crate) use scale::Scaler;
