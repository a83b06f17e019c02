//! The choice of the decoder for tiled JPEGs.

use vidrec_format::error::Error;
use vidrec_format::words::unknown_variant;

/// The decoder that reads the tiles of a tiled JPEG. libjpeg-turbo decodes all other JPEGs.
///
/// Both decoders return the same bytes, so this choice only serves to compare them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, strum::Display, strum::EnumString, strum::VariantNames)]
#[non_exhaustive]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum JpegDecoder {
    /// vidrec's own decoder, or libjpeg-turbo if that one declines because no encoder writes such data. The
    /// default.
    #[default]
    Auto,
    /// vidrec's own decoder. It is an error if it declines.
    Own,
    /// libjpeg-turbo.
    Turbo,
}
