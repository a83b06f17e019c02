//! Reads one number for each pixel, such as depth, exactly as the video stores it.

use ffmpeg_next::frame;

use super::format::{Class, PictureFormat};
use super::scale::Scaler;
use vidrec_format::error::{Error, Result};

/// Returns the numbers of a gray frame, or of the luma of a frame with more than 8 bits. Encoders that have no gray store
/// depth as luma.
///
/// # Errors
///
/// The frame has no such numbers.
pub(crate) fn numbers(frame: &frame::Video, picture: PictureFormat) -> Result<Vec<u16>> {
    let is_gray = picture.class == Class::Gray && picture.stored_depth <= 16;
    let is_luma = picture.class == Class::Yuv && picture.plain_planes && picture.depth > 8;
    if !(is_gray || is_luma) {
        let e = Error::usage("the frames do not have one number to a pixel");
        return Err(e.expected("gray of up to 16 bits, or luma of 9 to 16 bits").found(picture.name));
    }
    let mut numbers = Scaler::of_luma(picture)?.run(frame)?.y;
    let fill = 16 - picture.depth;
    numbers.iter_mut().for_each(|number| *number >>= fill);
    Ok(numbers)
}
