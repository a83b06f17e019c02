//! The treatment of a video that is too short.

use crate::error::Error;
use crate::words::unknown_variant;

/// The treatment of a video that has fewer frames than requested (for `clip`: fewer than the clip spans).
///
/// As a word (`FromStr`, `Display`, serde): `repeat-last`, `loop`, `skip` or `error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum Short {
    /// Take the existing frames from the start, then repeat the last: 0 1 2 2 2. The default.
    #[default]
    RepeatLast,
    /// Start over: 0 1 2 0 1. With a stride, the frames wrap around within the video (0 4 8 2), so they need not
    /// increase.
    Loop,
    /// Skip the video.
    Skip,
    /// Return an error.
    Error,
}
