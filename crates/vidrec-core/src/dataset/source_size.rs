//! The size of the pictures from which a clip was packed.

use serde::Deserialize;

use super::Clip;
use vidrec_format::error::Result;

/// The facts about the video of a clip, in its attribute `video`, from which the size of its pictures follows.
#[derive(Deserialize)]
struct Facts {
    coded_width: u32,
    coded_height: u32,
    /// The sample aspect ratio.
    #[serde(default)]
    sar: (u32, u32),
    /// Degrees, clockwise.
    #[serde(default)]
    rotation: u32,
}

#[derive(Deserialize)]
struct Attributes {
    video: Facts,
}

impl Clip<'_> {
    /// Width and height of the pictures of the clip's video as a player shows them: upright, with square pixels. `None` if
    /// the clip does not know a video.
    ///
    /// # Errors
    ///
    /// See [`source`](Self::source).
    pub(crate) fn source_size(&self) -> Result<Option<(u32, u32)>> {
        // Attributes are whatever their writer made them.
        let Ok(Attributes { video }) = serde_json::from_str(&self.attributes_json()?) else { return Ok(None) };
        let (width, height) = display_size((video.coded_width, video.coded_height), video.sar);
        let shown = if video.rotation % 180 == 90 { (height, width) } else { (width, height) };
        Ok(Some(shown).filter(|&(width, height)| width > 0 && height > 0))
    }
}

/// Returns width and height on a screen with square pixels. The sample aspect ratio `num:den` stretches the width.
///
/// A ratio that changes the width by less than 1 % counts as square. Encoders write 640:639 and the like when they
/// round a size, and resampling for half a pixel only costs sharpness. A missing ratio (0:1) also counts as
/// square.
#[doc(hidden)]
pub fn display_size((width, height): (u32, u32), (num, den): (u32, u32)) -> (u32, u32) {
    let is_square = num == 0 || den == 0 || u64::from(num.abs_diff(den)) * 100 < u64::from(den);
    if is_square {
        return (width, height);
    }
    let stretched = (u64::from(width) * u64::from(num) + u64::from(den) / 2) / u64::from(den);
    (u32::try_from(stretched.max(1)).unwrap_or(u32::MAX), height)
}
