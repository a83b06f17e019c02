//! The part of a frame that becomes the picture.

/// The place of one axis of the picture on that of the frame, in frame pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    /// The frame pixels that may be read: from the first up to but not including the second.
    pub bounds: (u32, u32),
    /// The start of the picture.
    pub start: f64,
    /// The number of frame pixels for each pixel of the picture.
    pub scale: f64,
}

/// The part of a frame that becomes the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct View {
    pub x: Span,
    pub y: Span,
    /// Whether the picture is mirrored, left to right.
    pub flip: bool,
}

impl View {
    /// The frame pixels of a picture with `size` pixels: left, top, width, height.
    pub fn window(&self, size: (u32, u32)) -> [f64; 4] {
        [self.x.start, self.y.start, self.x.scale * f64::from(size.0), self.y.scale * f64::from(size.1)]
    }
}
