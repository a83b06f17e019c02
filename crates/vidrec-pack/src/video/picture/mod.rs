//! Turns a decoded frame into the stored picture: reads its description, then scales, turns and converts it. For
//! numbers such as depth, reads them as they are.

mod color;
mod format;
mod geometry;
mod scale;

pub(crate) use color::ColorConversion;
pub(crate) use format::PictureFormat;
pub(crate) use geometry::{Orientation, Size, display_size, fit, odd_angle, target_size};
pub(crate) use scale::Scaler;
pub(crate) use scale::numbers;
