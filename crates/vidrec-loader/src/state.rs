//! The state of a run, in a few integers.

use vidrec_dataset::Fingerprint;
use vidrec_format::error::{Error, Result};

/// The state of a training run: enough to resume it exactly, even with another batch size or number of processes.
///
/// All ranks have the same state after the same number of batches, so one of them may save it.
/// [`Loader::state`](super::Loader::state) and [`PrefetchedBatch::state`](super::PrefetchedBatch::state) return
/// it, and [`Loader::resume`](super::Loader::resume) resumes from it.
///
/// ```
/// # mod vidrec { pub use vidrec_dataset::Fingerprint; pub use vidrec_loader::LoaderState; }
/// # use vidrec::{Fingerprint, LoaderState};
/// let dataset = Fingerprint { clips: 10, digest: "e3b0".into() };
/// let (order, homes, buckets) = ("shuffled".into(), None, Vec::new());
/// let state = LoaderState { epoch: 3, consumed: 640, samples: 1000, seed: 7, order, homes, buckets, dataset };
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
    /// The order of samples and their buckets, in words. Empty in states of earlier versions, which do not record
    /// it.
    #[serde(default)]
    pub order: String,
    /// The number of homes of [`Order::Homes`](vidrec_sampler::order::Order::Homes); `None` for other orders. A
    /// run that resumes without a number of its own keeps this one, whatever its number of ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homes: Option<u32>,
    /// The number of samples of each bucket that all ranks together have used; empty without buckets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buckets: Vec<u64>,
    /// The data set.
    pub dataset: Fingerprint,
}

impl LoaderState {
    /// Returns an error if this is not a state of the run. `now` is a state of that run.
    pub(super) fn check(&self, now: &LoaderState) -> Result<()> {
        let differ = |what: &str| Error::usage(format!("the saved state belongs to {what}"));
        if self.dataset != now.dataset {
            let say = |f: &Fingerprint| format!("{} clips, digest {}", f.clips, f.digest);
            return Err(differ("a different data set").expected(say(&self.dataset)).found(say(&now.dataset)));
        }
        if !self.order.is_empty() && self.order != now.order || self.buckets.len() != now.buckets.len() {
            return Err(differ("a different order").expected(&self.order).found(&now.order));
        }
        if self.samples != now.samples {
            return Err(differ("an epoch of a different length")
                .expected(format!("{} samples", self.samples))
                .found(format!("{} samples", now.samples))
                .help("resume with the same order, views and frames"));
        }
        if self.seed != now.seed {
            return Err(differ("a different seed").expected(self.seed).found(now.seed));
        }
        if self.consumed > now.samples {
            return Err(differ("no valid epoch")
                .expected(format!("at most {} consumed", now.samples))
                .found(self.consumed));
        }
        Ok(())
    }
}
