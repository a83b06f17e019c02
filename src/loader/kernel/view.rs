//! The part of a frame that becomes the picture.

/// Where one axis of the picture lies on that of the frame, in frame pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    /// Frame pixels that may be read: from the first up to but not including the second.
    pub bounds: (u32, u32),
    /// Where the picture begins.
    pub start: f64,
    /// Frame pixels for each pixel of the picture.
    pub scale: f64,
}

/// The part of a frame that becomes the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct View {
    pub x: Span,
    pub y: Span,
    /// Whether left and right change places.
    pub flip: bool,
}

impl View {
    /// The frame pixels that `size` pixels of the picture come from: left, top, width, height.
    pub fn window(&self, size: (u32, u32)) -> [f64; 4] {
        [self.x.start, self.y.start, self.x.scale * f64::from(size.0), self.y.scale * f64::from(size.1)]
    }
}
