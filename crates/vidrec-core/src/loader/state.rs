//! The state of a run: where it stands, and how it loads.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::dataset::Fingerprint;
use vidrec_format::error::{Error, Result};
use vidrec_format::json_object::JsonObject;

/// The state of a training run: enough to resume it exactly, even with another batch size or number of processes.
///
/// All ranks have the same state after the same number of batches, so one of them may save it.
/// [`Loader::state`](super::Loader::state) and [`PrefetchedBatch::state`](super::PrefetchedBatch::state) return
/// it, and [`Loader::resume`](super::Loader::resume) resumes from it.
///
/// The state says how the run loads, so another loader can refuse it. The data set is identified by its contents, so
/// a state of a remote data set belongs to each copy of it, too.
///
/// ```
/// # use vidrec::{Fingerprint, JsonObject, LoaderState};
/// let dataset = Fingerprint { clips: 10, digest: "e3b0".into() };
/// let options: JsonObject = r#"{"flip": 0.5, "order": "Shuffled"}"#.parse().unwrap();
/// let state = LoaderState { epoch: 3, consumed: 640, samples: 1000, seed: 7, options, buckets: Vec::new(), dataset };
/// let saved = serde_json::to_string(&state).unwrap();
/// assert_eq!(serde_json::from_str::<LoaderState>(&saved).unwrap(), state);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LoaderState {
    /// The epoch, counted from 0.
    pub epoch: u64,
    /// The number of samples of the epoch's order that all ranks together have used; less than `samples`.
    pub consumed: u64,
    /// The number of samples in an epoch.
    pub samples: u64,
    /// The seed of order, frames, crops, flips and colors.
    pub seed: u64,
    /// The options that decide what is in the batches, by name. Not among them are the size of batches, the number of
    /// ranks, threads, and what is read ahead or kept: those may differ in the loader that resumes.
    pub options: JsonObject,
    /// The number of samples of each bucket that all ranks together have used; empty without buckets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buckets: Vec<u64>,
    /// The data set.
    pub dataset: Fingerprint,
}

impl LoaderState {
    /// The `order` of samples, unless the state only has its digest; or the orders of the `sources` of a mix.
    pub(super) fn order<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_value(self.options.find(name)?.clone()).ok()
    }

    /// Returns an error if this is not a state of the run. `now` is a state of that run.
    pub(super) fn check(&self, now: &LoaderState) -> Result<()> {
        let differ = |what: &str| Error::usage(format!("the saved state belongs to {what}"));
        if self.dataset != now.dataset {
            let say = |f: &Fingerprint| format!("{} clips, digest {}", f.clips, f.digest);
            return Err(differ("a different data set").expected(say(&self.dataset)).found(say(&now.dataset)));
        }
        let all = |state: &LoaderState| {
            let mut all = state.options.0.clone();
            all.extend([("seed".into(), state.seed.into()), ("samples".into(), state.samples.into())]);
            all
        };
        let (before, after) = (all(self), all(now));
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let names: Vec<_> = names.into_iter().filter(|name| before.get(*name) != after.get(*name)).collect();
        if !names.is_empty() {
            let say = |options: &Map<String, Value>| {
                let one = |name: &&String| format!("{name} {}", options.get(*name).unwrap_or(&Value::Null));
                names.iter().map(one).collect::<Vec<_>>().join(", ")
            };
            let listed = names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
            let e = differ(&format!("a run with other options: {listed}"));
            let e = e.expected(say(&before)).found(say(&after));
            return Err(e.help("resume with the same options, or start a new run"));
        }
        if self.consumed > now.samples || self.buckets.len() != now.buckets.len() {
            return Err(differ("no valid epoch")
                .expected(format!("at most {} consumed, and {} buckets", now.samples, now.buckets.len()))
                .found(format!("{} consumed, and {} buckets", self.consumed, self.buckets.len())));
        }
        Ok(())
    }
}
