//! Everything that a data set knows about a clip except its frames and tracks, as JSON. Exports write it beside the frames,
//! so that an import restores the same clip.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::text_file;
use crate::{Clip, ClipInfo, Dataset, JsonObject, Meta, Result, limits};
use vidrec_core::store::disk::NewFolder;

/// A clip without its frames and tracks. The field names are the keys of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ClipJson {
    pub source: String,
    pub label: Option<u32>,
    pub class: String,
    pub attributes: JsonObject,
    /// The seconds per unit of `pts`, as a fraction.
    pub time_base: (u32, u32),
    pub short: bool,
    /// The presentation time of each frame.
    pub pts: Vec<i64>,
    /// The ordinal of each frame in its source, if it is known.
    pub source_index: Vec<Option<u32>>,
}

impl ClipJson {
    /// Returns the description of a clip.
    pub fn of(clip: &Clip<'_>) -> Result<Self> {
        let mut json = ClipJson {
            source: clip.source()?,
            label: clip.label(),
            class: clip.class()?,
            attributes: clip.attributes()?,
            time_base: clip.time_base(),
            short: clip.is_short(),
            pts: Vec::new(),
            source_index: Vec::new(),
        };
        for frame in clip.frames() {
            let frame = frame?;
            json.pts.push(frame.pts());
            json.source_index.push(frame.source_index());
        }
        Ok(json)
    }

    /// Returns the JSON object.
    pub fn to_value(&self) -> Value {
        // Serializing strings and numbers cannot fail.
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Returns the clip that `value` describes; `None` if `value` is not such an object.
    pub fn from_value(value: &Value) -> Option<Self> {
        Self::deserialize(value.as_object().map(|_| value)?).ok()
    }

    /// Creates a clip whose source alone is known.
    pub fn named(source: String, time_base: (u32, u32)) -> Self {
        ClipJson {
            source,
            label: None,
            class: String::new(),
            attributes: JsonObject::default(),
            time_base,
            short: false,
            pts: Vec::new(),
            source_index: Vec::new(),
        }
    }

    /// Sets another project's label. A value that is not a valid label of a data set is kept in the attributes.
    pub fn set_label(&mut self, value: &Value) {
        match value.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|&n| n <= limits::MAX_LABEL as u32) {
            Some(label) => self.label = Some(label),
            None if value.is_null() => {}
            None => drop(self.attributes.0.insert("label_value".into(), value.clone())),
        }
    }

    pub fn info(&self) -> ClipInfo {
        ClipInfo {
            label: self.label,
            source: self.source.clone(),
            class: self.class.clone(),
            attributes: self.attributes.clone(),
            width: 0,
            height: 0,
            time_base: self.time_base,
            short: self.short,
        }
    }

    /// Returns the time of frame `t` and its ordinal in the source. The time defaults to `t`.
    pub fn frame(&self, t: usize) -> (i64, Option<u32>) {
        let pts = self.pts.get(t).copied().unwrap_or(t as i64);
        (pts, self.source_index.get(t).copied().flatten())
    }
}

/// The file beside the exported files with everything that all clips share: class names, settings and provenance.
pub(super) const META_FILE: &str = "vidrec.json";

/// Writes the file with everything that all clips share.
pub(super) fn write_meta(dataset: &Dataset, folder: &mut NewFolder) -> Result<()> {
    let none = Meta::default();
    let mut bytes = serde_json::to_vec_pretty(dataset.meta().unwrap_or(&none)).unwrap_or_default();
    bytes.push(b'\n');
    folder.write(META_FILE, &bytes)
}

/// Reads the file that an export of vidrec wrote into `folder`, if there is one.
pub(super) fn read_meta(folder: &Path) -> Result<Option<Meta>> {
    let path = folder.join(META_FILE);
    if !path.exists() {
        return Ok(None);
    }
    let text = text_file::read(&path)?;
    Meta::from_json(text.as_bytes())
        .map(Some)
        .map_err(|e| text_file::malformed(&path, format!("this is not JSON in vidrec's form: {e}")))
}
