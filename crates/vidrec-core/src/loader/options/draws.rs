//! The draws of a video in an epoch.

use serde::{Deserialize, Serialize};

use vidrec_format::words::words;

/// The clips of an epoch, in a data set with several draws of each video
/// ([`Dataset::draws`](crate::dataset::Dataset::draws)). Without draws, both variants are the same.
///
/// As a word (`FromStr`, `Display`, serde): `rotate` or `all`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
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

words!(Draws, "draws", { "rotate" => Rotate, "all" => All });
