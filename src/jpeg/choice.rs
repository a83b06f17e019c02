//! Which decoder reads the tiles of a tiled JPEG.

use crate::words::words;

/// Which decoder reads the tiles of a tiled JPEG. libjpeg-turbo decodes all other JPEGs.
///
/// Both give the same bytes, so this choice serves to compare them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum JpegDecoder {
    /// vidrec's own decoder, and libjpeg-turbo where that one declines: it decodes only what an encoder writes. The
    /// default.
    #[default]
    Auto,
    /// vidrec's own decoder; an error where it declines.
    Own,
    /// libjpeg-turbo.
    Turbo,
}

words!(JpegDecoder, "decoder", { "auto" => Auto, "own" => Own, "turbo" => Turbo });
