//! Frames as small pictures.

use image::RgbImage;
use image::imageops;

use crate::{Error, Frame, Result};
use vidrec_jpeg::Decoder;

/// The largest ratio of width to height of a thumbnail.
const WIDEST: u32 = 4;

/// Decodes a frame to at most `height` rows. A frame is never enlarged, and one that is very wide gets fewer rows.
///
/// # Errors
///
/// A checksum does not match, or the JPEG is damaged.
pub(crate) fn thumbnail(frame: &Frame<'_>, height: u32, decoder: &mut Decoder) -> Result<RgbImage> {
    frame.check()?;
    let full = decoder.decode_picture(frame.jpeg()).map_err(|e| frame.place(e))?;
    let (width, rows) = (u64::from(full.width), u64::from(full.height));
    let high = u64::from(height).min(rows).min(u64::from(WIDEST * height) * rows / width).max(1);
    let wide = (width * high / rows).clamp(1, u64::from(WIDEST * height));
    let full = RgbImage::from_raw(full.width, full.height, full.pixels)
        .ok_or_else(|| Error::internal("a decoded picture has another size than its header says"))?;
    Ok(imageops::thumbnail(&full, wide as u32, high as u32))
}
