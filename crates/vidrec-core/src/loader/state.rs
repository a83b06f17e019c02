//! The state of a run: where it stands, and how it loads.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::dataset::{Dataset, Fingerprint};
use vidrec_format::error::{Error, Result};
use vidrec_format::json_object::JsonObject;
use vidrec_format::sampler::order::{Order, SourceOrder};

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
/// let (buckets, mix) = (Vec::new(), None);
/// let state = LoaderState { epoch: 3, consumed: 640, samples: 1000, seed: 7, options, buckets, dataset, mix };
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
    #[doc(hidden)]
    pub buckets: Vec<u64>,
    /// The data set, or the clips of all sources of a mix.
    pub dataset: Fingerprint,
    /// The mix, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[doc(hidden)]
    pub mix: Option<MixState>,
}

/// The sources of a mix in a [`LoaderState`], and their shares up to its place.
///
/// If the run is resumed with other weights, they hold from that place on.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct MixState {
    /// The number of samples in a window.
    pub window: u32,
    /// The first sample of each stretch of equal shares, counted over all ranks and epochs, and the share of each source in
    /// thousandths of a sample of a window. Sources that joined later are missing.
    pub shares: Vec<(u64, Vec<u64>)>,
    /// The sources, in order.
    pub sources: Vec<SourceState>,
}

/// A source of a mix in a [`LoaderState`].
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SourceState {
    /// Its name, for messages: it may be another one in the run that is resumed.
    pub name: String,
    /// The number of its samples, which is the length of a round through it.
    pub samples: u64,
    /// The order of its samples.
    pub order: SourceOrder,
    /// The options that it has of its own.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub own: JsonObject,
    /// Its clips.
    pub dataset: Fingerprint,
}

impl LoaderState {
    /// The order of samples, unless the state only has its digest.
    pub(super) fn order(&self) -> Option<Order> {
        serde_json::from_value(self.options.find("order")?.clone()).ok()
    }

    /// Returns an error if this is not a state of the run. `now` is a state of that run, which loads `set`. The sources of a mix
    /// are checked already.
    pub(super) fn check(&self, now: &LoaderState, set: &Dataset) -> Result<()> {
        let differ = |what: &str| Error::usage(format!("the saved state belongs to {what}"));
        if self.mix.is_none() != now.mix.is_none() || now.mix.is_none() && self.dataset != now.dataset {
            let say = |f: &Fingerprint| format!("{} clips, digest {}", f.clips, f.digest);
            let e = differ("a different data set").expected(say(&self.dataset)).found(say(&now.dataset));
            return Err(if now.mix.is_none() { as_it_was(e, &self.dataset, set) } else { e });
        }
        let sources = self.mix.as_ref().map_or(0, |mix| mix.sources.len());
        let all = |state: &LoaderState| {
            let mut all = state.options.0.clone();
            all.extend([("seed".into(), state.seed.into()), ("samples".into(), state.samples.into())]);
            all.extend(state.mix.iter().flat_map(|mix| mix.deciding(sources)));
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
        let other_buckets = self.consumed > 0 && self.buckets.len() != now.buckets.len();
        if self.consumed > now.samples || other_buckets {
            let e = differ("no valid epoch")
                .expected(format!("at most {} consumed, and {} buckets", now.samples, now.buckets.len()))
                .found(format!("{} consumed, and {} buckets", self.consumed, self.buckets.len()));
            let help = "a source whose clips need other buckets joins between epochs: resume from the end of one";
            return Err(if other_buckets && self.mix.is_some() { e.help(help) } else { e });
        }
        Ok(())
    }
}

impl MixState {
    /// Returns an error unless the mix has this window, and its first sources are those of this state, in their order. `sets` has
    /// those of the mix, and `now` what a state says of them.
    pub(super) fn check(&self, window: u32, now: &[SourceState], sets: &[Dataset]) -> Result<()> {
        if self.window != window {
            let e = Error::usage("the saved state belongs to a mix with another window");
            return Err(e.expected(self.window).found(window));
        }
        for (at, before) in self.sources.iter().enumerate() {
            let name = &before.name;
            let (Some(found), Some(set)) = (now.get(at), sets.get(at)) else {
                let e = Error::usage(format!("the mix lacks source \"{name}\" of the saved state"));
                return Err(e.help("keep it, with a weight of 0 if no more of its samples should come"));
            };
            if before.dataset == found.dataset {
                continue;
            }
            let e = Error::usage(format!("source {at} of the saved state, \"{name}\", is a different data set"));
            let say =
                |source: &SourceState| format!("{} clips, digest {}", source.dataset.clips, source.dataset.digest);
            let e = e.expected(say(before)).found(format!("\"{}\" of {}", found.name, say(found)));
            if now.iter().any(|other| other.dataset == before.dataset) {
                return Err(e.help("keep the order of the sources, and put new ones after them"));
            }
            return Err(as_it_was(e, &before.dataset, set));
        }
        Ok(())
    }

    /// What decides on the samples of the first `sources` sources, but for their shares.
    fn deciding(&self, sources: usize) -> [(String, Value); 2] {
        let sources = &self.sources[..sources.min(self.sources.len())];
        let all = |of: fn(&SourceState) -> Value| sources.iter().map(of).collect::<Value>();
        [
            ("own".into(), all(|source| Value::Object(source.own.0.clone()))),
            ("sources".into(), all(|source| json!({ "samples": source.samples, "order": source.order }))),
        ]
    }
}

/// The error about another data set, which says how to open `set` as it was if clips were appended since.
fn as_it_was(e: Error, before: &Fingerprint, set: &Dataset) -> Error {
    if before.clips >= set.len() || set.fingerprint_of_first(before.clips) != *before {
        return e;
    }
    let clips = before.clips;
    let how = if set.is_selection() {
        format!("take its first {clips} clips")
    } else {
        format!("open it with clips={clips}")
    };
    e.help(format!("clips were appended since the state was saved: {how} to resume with those that it had"))
}
