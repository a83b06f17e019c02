//! A decoded picture in RGB.

/// A picture in RGB: 3 bytes per pixel, rows from the top without padding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RgbPicture {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// `width * height * 3` bytes: red, green and blue of each pixel.
    pub pixels: Vec<u8>,
}
