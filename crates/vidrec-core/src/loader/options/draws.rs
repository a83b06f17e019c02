//! The draws of a video in an epoch.

use serde::{Deserialize, Serialize};

use vidrec_format::error::Error;
use vidrec_format::words::unknown_variant;

/// The clips of an epoch, in a data set with several draws of each video
/// ([`Dataset::draws`](crate::dataset::Dataset::draws)). Without draws, both variants are the same.
///
/// As a word (`FromStr`, `Display`, serde): `rotate` or `all`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum Draws {
    /// One draw of each video: number `epoch` modulo the number of draws. The default.
    ///
    /// Sample `i` then stands for clips `i K` to `i K + K - 1` with K draws. Orders with weights or indices
    /// therefore count videos, not clips.
    #[default]
    Rotate,
    /// All draws, each a sample of its own.
    All,
}
