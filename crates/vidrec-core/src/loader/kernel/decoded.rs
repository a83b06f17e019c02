//! What the kernel needs from a decoder, and what it gets.

use vidrec_jpeg::Scale;

/// The decoded form that a kernel needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The planes of a 4:2:0 picture, at this scale.
    Planes(Scale),
    /// RGB.
    Rgb,
}

/// A part of a decoded frame.
pub(crate) struct Decoded<'a> {
    /// Luma and chroma, or red, green and blue.
    pub planes: [&'a [u8]; 3],
    /// The number of samples from one row of each plane to the next.
    pub pitches: [usize; 3],
    /// The pixel of the frame at which the planes begin.
    pub origin: (u32, u32),
}
