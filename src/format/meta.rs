//! Class names, settings and provenance: the `META` section, a JSON object. `format-spec/vidrec-v1.md#meta-meta`.

use serde::{Deserialize, Serialize};

/// What a shard says of itself. Keys that a reader does not know are ignored.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Meta {
    /// Class names by label; empty when labels are plain integers or absent.
    #[serde(default)]
    pub classes: Vec<String>,
    /// The program that wrote the file and its version, for instance `vidrec 0.1.0`.
    #[serde(default)]
    pub tool: String,
    /// Versions of FFmpeg's libraries; absent when no video was decoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ffmpeg: Option<String>,
    /// The options that determine the bytes: sampling rule, size, quality, seed.
    #[serde(default)]
    pub settings: serde_json::Map<String, serde_json::Value>,
}
