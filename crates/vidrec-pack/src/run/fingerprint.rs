//! The properties of a run that must be the same for it to be resumed.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::plan::{Job, PackPlan};
use vidrec_format::data_binding::hex;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::json_object::JsonObject;
use vidrec_format::meta::Meta;

/// The form of journals and fingerprints that this version writes. A journal that names no form has form 1, in
/// which the digest of the inputs was computed in another way.
const FORM: u32 = 2;

/// A difference between a run and the one to be resumed.
pub(super) struct Difference {
    pub what: String,
    pub then: String,
    pub now: String,
}

/// The identity of a run. A run that resumes another one must have the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunFingerprint {
    #[serde(default = "first_form")]
    pub form: u32,
    pub tool: String,
    pub ffmpeg: Option<String>,
    pub settings: JsonObject,
    pub classes: Vec<String>,
    /// The number of videos in the inputs.
    pub videos: u64,
    /// SHA-256 of all videos, as JSON.
    pub inputs_sha256: String,
    /// A task other than packing all videos: `retry what failed`.
    pub mode: Option<String>,
    /// Whether an existing data set may be replaced. This may differ, because it was allowed when the run began.
    pub overwrite: bool,
}

fn first_form() -> u32 {
    1
}

impl RunFingerprint {
    pub fn new(plan: &PackPlan, meta: &Meta, mode: Option<&str>, overwrite: bool) -> Result<Self> {
        Ok(RunFingerprint {
            form: FORM,
            tool: meta.tool.clone(),
            ffmpeg: meta.ffmpeg.clone(),
            settings: meta.settings.clone(),
            classes: meta.classes.clone(),
            videos: plan.jobs.len() as u64,
            inputs_sha256: inputs_sha256(&plan.jobs)?,
            mode: mode.map(str::to_owned),
            overwrite,
        })
    }

    /// Returns the first difference between this run and `now`.
    pub(super) fn difference(&self, now: &Self) -> Option<Difference> {
        let names = |f: &Self| (f.form.to_string(), f.tool.clone(), f.ffmpeg.clone().unwrap_or_else(|| "none".into()));
        let task = |f: &Self| f.mode.clone().unwrap_or_else(|| "pack all".into());
        let inputs = |f: &Self| format!("inputs with digest {}", f.inputs_sha256.get(..16).unwrap_or_default());
        let (then_names, now_names) = (names(self), names(now));
        first_difference([
            ("the form of the journal".into(), then_names.0, now_names.0),
            ("the version of vidrec".into(), then_names.1, now_names.1),
            ("FFmpeg".into(), then_names.2, now_names.2),
            ("the task".into(), task(self), task(now)),
        ])
        .or_else(|| self.other_setting(now))
        .or_else(|| self.other_class(now))
        .or_else(|| {
            first_difference([
                ("the number of videos".into(), self.videos.to_string(), now.videos.to_string()),
                ("the list of videos".into(), inputs(self), inputs(now)),
            ])
        })
    }

    fn other_setting(&self, now: &Self) -> Option<Difference> {
        let text = |value: Option<&Value>| value.map_or("not set".into(), Value::to_string);
        let (then, now) = (&self.settings.0, &now.settings.0);
        let keys = then.keys().chain(now.keys().filter(|key| !then.contains_key(*key)));
        let settings = |key: &String| (format!("the setting \"{key}\""), text(then.get(key)), text(now.get(key)));
        first_difference(keys.map(settings))
    }

    fn other_class(&self, now: &Self) -> Option<Difference> {
        let class = |f: &Self, i: usize| f.classes.get(i).map_or("none".into(), |class| format!("\"{class}\""));
        let most = self.classes.len().max(now.classes.len());
        first_difference((0..most).map(|i| (format!("class {i}"), class(self, i), class(now, i))))
    }
}

fn first_difference(all: impl IntoIterator<Item = (String, String, String)>) -> Option<Difference> {
    let found = all.into_iter().find(|(_, then, now)| then != now);
    found.map(|(what, then, now)| Difference { what, then, now })
}

/// Returns the error for a run that differs from the one that was interrupted.
pub(super) fn refusal(dir: &Path, difference: Difference) -> Error {
    Error::usage(format!("the pack cannot be resumed: {} changed since it began", difference.what))
        .file(dir)
        .expected(difference.then)
        .found(difference.now)
        .help("resume with the same inputs and options")
        .hint(Hint::Restart)
}

fn inputs_sha256(jobs: &[Job]) -> Result<String> {
    let mut digest = Sha256::new();
    for job in jobs {
        let text = serde_json::to_vec(job).map_err(|e| Error::internal(format!("inputs: {e}")))?;
        digest.update(text);
        digest.update(b"\n");
    }
    Ok(hex(&digest.finalize()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fingerprint() -> RunFingerprint {
        let json = json!({
            "form": FORM, "tool": "vidrec", "ffmpeg": null, "settings": {"quality": 90, "size": 8},
            "classes": ["a"], "videos": 3, "inputs_sha256": "00", "mode": null, "overwrite": false,
        });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_journal_of_the_first_form_is_refused_by_name() {
        let mut json = serde_json::to_value(fingerprint()).unwrap();
        json.as_object_mut().unwrap().remove("form");
        let then: RunFingerprint = serde_json::from_value(json).unwrap();
        let e = refusal(Path::new("set"), then.difference(&fingerprint()).unwrap());
        assert_eq!(
            e.to_string(),
            "set: the pack cannot be resumed: the form of the journal changed since it began: expected 1, found 2; \
             resume with the same inputs and options; start the pack over"
        );
    }
}
