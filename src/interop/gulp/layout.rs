//! The files that export and import agree on.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// Class names and their labels, beside the chunks.
pub(super) const LABELS_FILE: &str = "label2idx.json";

/// Where an export keeps all that a data set knows of a clip, within its meta data.
pub(super) const OUR_KEY: &str = "vidrec";

/// A video in a `.gmeta` file.
#[derive(Debug, Deserialize)]
pub(super) struct GulpClip {
    /// What the user said of it; readers use the first.
    pub meta_data: Vec<Value>,
    /// Offset, bytes of padding, and length with the padding of each frame.
    pub frame_info: Vec<(u64, u64, u64)>,
}

/// A `.gmeta` file, by id.
pub(super) type GulpMeta = BTreeMap<String, GulpClip>;
