//! Augmentation, which varies from clip to clip: the part of the frame, its size, flip and colors.

use super::color::ColorJitter;
use super::part::Part;

/// Augmentation, which varies from clip to clip. Each clip has one draw for all its frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Augmentation {
    pub part: Part,
    /// The length of a frame's shorter side before the part is taken, from the least to the greatest.
    pub resize: Option<(u32, u32)>,
    /// The probability that a clip is mirrored, left to right.
    pub flip: f32,
    pub color: ColorJitter,
}
