//! What must be the same for a run to be resumed.

use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::inputs::{Item, Plan};
use crate::format::data_binding::hex;
use crate::format::meta::Meta;
use crate::{Error, Result};

/// What differs, how it was, how it is.
pub(super) type Difference = (String, String, String);

/// Tells runs apart: one that is resumed must have the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RunFingerprint {
    pub tool: String,
    pub ffmpeg: Option<String>,
    pub settings: Map<String, Value>,
    pub classes: Vec<String>,
    /// Number of videos in the inputs.
    pub videos: u64,
    /// SHA-256 over all of them: path, name in the data set, label, class, attributes.
    pub inputs_sha256: String,
    /// What is done beside packing all videos: `retry-failed`.
    pub mode: Option<String>,
    /// Whether a data set that is there may be replaced. Need not be the same: it was said once.
    pub overwrite: bool,
}

impl RunFingerprint {
    pub fn new(plan: &Plan, meta: &Meta, mode: Option<&str>, overwrite: bool) -> Self {
        RunFingerprint {
            tool: meta.tool.clone(),
            ffmpeg: meta.ffmpeg.clone(),
            settings: meta.settings.clone(),
            classes: meta.classes.clone(),
            videos: plan.items.len() as u64,
            inputs_sha256: inputs_sha256(&plan.items),
            mode: mode.map(str::to_owned),
            overwrite,
        }
    }

    /// The first thing in which `now` is another run.
    pub fn difference(&self, now: &Self) -> Option<Difference> {
        let text = |v: Option<&Value>| v.map_or("not set".into(), Value::to_string);
        let mut pairs = vec![
            ("the version of vidrec".to_owned(), self.tool.clone(), now.tool.clone()),
            ("FFmpeg".to_owned(), format!("{:?}", self.ffmpeg), format!("{:?}", now.ffmpeg)),
            ("the task".to_owned(), task(self), task(now)),
        ];
        let keys = self.settings.keys().chain(now.settings.keys().filter(|k| !self.settings.contains_key(*k)));
        pairs.extend(
            keys.map(|k| (format!("the setting \"{k}\""), text(self.settings.get(k)), text(now.settings.get(k)))),
        );
        let most = self.classes.len().max(now.classes.len());
        if let Some(i) = (0..most).find(|&i| self.classes.get(i) != now.classes.get(i)) {
            let class = |f: &Self| f.classes.get(i).map_or("none".into(), |c| format!("\"{c}\""));
            pairs.push((format!("class {i}"), class(self), class(now)));
        }
        pairs.push(("the number of videos".to_owned(), self.videos.to_string(), now.videos.to_string()));
        let inputs = |f: &Self| format!("inputs with digest {}", f.inputs_sha256.get(..16).unwrap_or_default());
        pairs.push(("the list of videos".to_owned(), inputs(self), inputs(now)));
        pairs.into_iter().find(|(_, old, new)| old != new)
    }
}

fn task(fingerprint: &RunFingerprint) -> String {
    fingerprint.mode.clone().unwrap_or_else(|| "pack all".into())
}

/// That a run is another one than the one that is to be resumed.
pub(super) fn refusal(dir: &Path, (what, old, new): Difference) -> Error {
    Error::usage(format!("cannot be resumed: {what} changed since it was begun"))
        .file(dir)
        .expected(old)
        .found(new)
        .help("resume with the same inputs and options, or begin anew (--restart)")
}

fn inputs_sha256(items: &[Item]) -> String {
    let mut digest = Sha256::new();
    for item in items {
        // Every field, also those that are added one day: the order of the fields is that of the source.
        digest.update(format!("{item:?}\n").as_bytes());
    }
    hex(&digest.finalize())
}

/// What tells that an input file is still the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    /// Length in bytes.
    pub bytes: u64,
    /// Time of the last change in nanoseconds since 1970.
    pub modified_ns: u64,
}

impl Stamp {
    /// That of `path`; `None` if it cannot be looked at.
    pub fn of(path: &Path) -> Option<Self> {
        let meta = std::fs::metadata(path).ok()?;
        let since = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Stamp { bytes: meta.len(), modified_ns: u64::try_from(since.as_nanos()).ok()? })
    }

    fn text(stamp: Option<Self>) -> String {
        stamp.map_or("no file".into(), |s| format!("{} bytes, changed {} ns after 1970", s.bytes, s.modified_ns))
    }
}

/// Proves that an input that was packed already is still the same.
pub(super) fn check_input(dir: &Path, item: &Item, then: Option<Stamp>) -> Result<()> {
    let now = Stamp::of(&item.path);
    if now == then {
        return Ok(());
    }
    let what = format!("the file {}", item.path.display());
    Err(refusal(dir, (what, Stamp::text(then), Stamp::text(now))))
}
