//! GulpIO and its forks: `data_N.gulp` with JPEGs end to end, `meta_N.gmeta` with JSON, `label2idx.json`.
//!
//! Source: GulpIO, `src/main/python/gulpio/fileio.py`; GulpIO2 has the same files.

mod export;
mod import;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

pub use export::export;
pub use import::import;

/// Class names and their labels, beside the chunks.
const LABELS_FILE: &str = "label2idx.json";

/// Where an export keeps all that a data set knows of a clip, within its meta data.
const OUR_KEY: &str = "vidrec";

/// A video in a `.gmeta` file.
#[derive(Debug, Deserialize)]
struct GulpClip {
    /// What the user said of it; readers use the first.
    meta_data: Vec<Value>,
    /// Offset, bytes of padding, and length with the padding of each frame.
    frame_info: Vec<(u64, u64, u64)>,
}

/// A `.gmeta` file, by id.
type GulpMeta = BTreeMap<String, GulpClip>;
