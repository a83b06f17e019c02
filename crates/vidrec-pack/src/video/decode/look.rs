//! Derives from the first frame of a video what applies to all its frames.

use ffmpeg_next::frame;

use crate::video::container::{StreamInfo, matrix_from_bytes};
use crate::video::error::{Stage, VideoError};
use crate::video::options::{FrameSize, VideoOptions};
use crate::video::picture::{Orientation, PictureFormat, Size, display_size, fit, odd_angle, target_size};
use vidrec_jpeg::Planes;

/// The properties that the first frame determines for all frames.
#[derive(Clone)]
pub(crate) struct Look {
    pub picture: PictureFormat,
    pub sar: (u32, u32),
    pub orientation: Orientation,
    pub odd_angle: Option<f64>,
    /// The size of the pictures before they are turned.
    pub target: Size,
}

impl Look {
    /// Derives the properties from the first frame.
    pub fn new(
        frame: &frame::Video,
        picture: PictureFormat,
        stream: &StreamInfo,
        options: &VideoOptions,
    ) -> Result<Self, VideoError> {
        options.check_pixels((picture.size.width, picture.size.height))?;
        let matrix = frame
            .side_data(frame::side_data::Type::DisplayMatrix)
            .and_then(|d| matrix_from_bytes(d.data()))
            .or(stream.display_matrix);
        let orientation = matrix.as_ref().map(Orientation::from_matrix).unwrap_or_default();
        let sar = if stream.sar.0 > 0 { stream.sar } else { own_sar(frame) };
        let shown = orientation.apply(display_size(picture.size, sar));
        let target = target_size(shown, options.size).map_err(|e| VideoError::new(Stage::Scale, e))?;
        let odd_angle = matrix.as_ref().and_then(odd_angle);
        Ok(Look { picture, sar, orientation, odd_angle, target: orientation.apply(target) })
    }

    /// Returns the size for a frame before it is turned. It is the whole target if the picture is as large as the
    /// first one.
    ///
    /// A later picture of another size keeps its own shape, as in a player. If the options ask for an exact size, the
    /// picture fills it, whatever its shape.
    pub fn size_of(&self, frame: &frame::Video, picture: PictureFormat, wanted: FrameSize) -> Size {
        if picture.size == self.picture.size || matches!(wanted, FrameSize::Exact { .. }) {
            return self.target;
        }
        let own = own_sar(frame);
        fit(display_size(picture.size, if own.0 > 0 { own } else { self.sar }), self.target)
    }
}

/// Returns the pixel shape that the frame states; 0:1 if it states none.
fn own_sar(frame: &frame::Video) -> (u32, u32) {
    let own = frame.aspect_ratio();
    (u32::try_from(own.numerator()).unwrap_or(0), u32::try_from(own.denominator()).unwrap_or(0))
}

/// Centers the picture in a black one of `size`, which is at least as large. The picture starts at an even row and
/// column, because its chroma samples do.
pub(crate) fn with_bars(image: &Planes, size: Size) -> vidrec_format::error::Result<Planes> {
    let mut whole = Planes::new(size.width, size.height)?;
    let left = (size.width.saturating_sub(image.width()) / 2) as usize & !1;
    let top = (size.height.saturating_sub(image.height()) / 2) as usize & !1;
    let (luma, chroma) = (size.width as usize, whole.chroma_width() as usize);
    let (own_luma, own_chroma) = (image.width() as usize, image.chroma_width() as usize);
    for (from, own_row, to, row, left, top) in [
        (&image.y, own_luma, &mut whole.y, luma, left, top),
        (&image.cb, own_chroma, &mut whole.cb, chroma, left / 2, top / 2),
        (&image.cr, own_chroma, &mut whole.cr, chroma, left / 2, top / 2),
    ] {
        for (from, to) in from.chunks_exact(own_row).zip(to.chunks_exact_mut(row).skip(top)) {
            to[left..left + own_row].copy_from_slice(from);
        }
    }
    Ok(whole)
}
