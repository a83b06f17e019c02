//! What happens to damaged data.

use serde::{Deserialize, Serialize};

use vidrec_format::error::Error;
use vidrec_format::words::unknown_variant;

/// What happens to a clip that cannot be read or decoded.
///
/// The CRC-32 of every frame is compared. A frame whose planes come from a [`DecodedCache`](crate::loader::DecodedCache) is not
/// read again, so later damage to its record goes unnoticed.
///
/// As a word (`FromStr`, `Display`, serde): `error` or `substitute`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum OnBadFrame {
    /// The batch is an error that names file, clip, frame and offset. The default.
    #[default]
    Error,
    /// Another sample replaces the whole clip. The replacement is drawn from (seed, epoch, sample), so it is
    /// always the same one.
    ///
    /// [`Batch::clips`](crate::loader::Batch::clips) has the replacing clip, and the mask is that of the replaced sample.
    /// [`SampleParams::instead_of`](crate::loader::SampleParams::instead_of) names the replaced clip, and
    /// [`LoaderStats`](crate::loader::LoaderStats) counts the replacements. It is an error if 16 draws in turn cannot be
    /// read.
    Substitute,
}
