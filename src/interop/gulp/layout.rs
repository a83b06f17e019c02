//! The file names and structures that export and import share.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// The file with the class names and their labels, beside the chunks.
pub(super) const LABELS_FILE: &str = "label2idx.json";

/// The key in a clip's metadata under which an export stores everything that the data set knows about the clip.
pub(super) const OUR_KEY: &str = "vidrec";

/// Returns the path of the file of a clip's track. `file` is the file name without the clip.
pub(super) fn track_file(id: &str, file: &str) -> String {
    format!("tracks/{id}.{file}")
}

/// A video in a `.gmeta` file.
#[derive(Debug, Deserialize)]
pub(super) struct GulpClip {
    /// The user's metadata. Readers use the first element.
    pub meta_data: Vec<Value>,
    /// The offset, the number of padding bytes and the length, including padding, of each frame.
    pub frame_info: Vec<(u64, u64, u64)>,
}

/// A `.gmeta` file, by id.
pub(super) type GulpMeta = BTreeMap<String, GulpClip>;
