//! Class names, settings and provenance: the `META` section, a JSON object. `format-spec/vidrec-v1.md#meta-meta`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// [`Meta::records`] of an index beside a record file that another program wrote.
pub const FOREIGN_RECORDS: &str = "foreign";

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
    pub settings: Map<String, Value>,
    /// How many clips in a row are draws of one video; absent: 1. Each clip of such a group has its number, from 0, in
    /// the attribute `draw`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draws: Option<u32>,
    /// [`FOREIGN_RECORDS`] where ids and labels in the record file are another program's; empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub records: String,
}

impl Meta {
    /// Whether ids and labels in the record file are another program's, and say nothing of clips and frames.
    pub fn has_foreign_records(&self) -> bool {
        self.records == FOREIGN_RECORDS
    }

    /// Reads the section's bytes.
    ///
    /// # Errors
    ///
    /// Not a JSON object, or a key of the wrong type.
    pub fn from_json(bytes: &[u8]) -> serde_json::Result<Self> {
        // By way of an object, because serde would also take an array of the fields in their order.
        let object: Map<String, Value> = serde_json::from_slice(bytes)?;
        Self::deserialize(Value::Object(object))
    }
}
