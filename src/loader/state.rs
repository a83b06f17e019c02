//! Where a run stands, in a few integers.

use crate::{Error, Fingerprint, Result};

/// Where a training run stands: enough to resume it exactly, also with another batch size or number of processes.
///
/// All ranks have the same state after the same number of batches, so one of them may save it.
/// [`Loader::state`](super::Loader::state) and [`PrefetchedBatch::state`](super::PrefetchedBatch::state) give it,
/// [`Loader::resume`](super::Loader::resume) takes it.
///
/// ```
/// # use vidrec::{Fingerprint, LoaderState};
/// let dataset = Fingerprint { clips: 10, digest: "e3b0".into() };
/// let state = LoaderState { epoch: 3, consumed: 640, samples: 1000, seed: 7, dataset };
/// let saved = serde_json::to_string(&state).unwrap();
/// assert_eq!(serde_json::from_str::<LoaderState>(&saved).unwrap(), state);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LoaderState {
    /// The epoch, counted from 0.
    pub epoch: u64,
    /// Samples of its order that all ranks together have used; less than `samples`.
    pub consumed: u64,
    /// Samples in an epoch.
    pub samples: u64,
    /// Seed of order, frames, crops, flips and colors.
    pub seed: u64,
    /// The data set.
    pub dataset: Fingerprint,
}

impl LoaderState {
    /// Refuses to resume a run that this is not a state of.
    pub(super) fn check(&self, samples: u64, seed: u64, dataset: &Fingerprint) -> Result<()> {
        let differ = |what: &str| Error::usage(format!("the saved state is of {what}"));
        if self.dataset != *dataset {
            let say = |f: &Fingerprint| format!("{} clips, digest {}", f.clips, f.digest);
            return Err(differ("another data set").expected(say(&self.dataset)).found(say(dataset)));
        }
        if self.samples != samples {
            return Err(differ("an epoch of another length")
                .expected(format!("{} samples", self.samples))
                .found(format!("{samples} samples"))
                .help("resume with the same order, views and frames"));
        }
        if self.seed != seed {
            return Err(differ("another seed").expected(self.seed).found(seed));
        }
        if self.consumed > samples {
            return Err(differ("no epoch").expected(format!("at most {samples} consumed")).found(self.consumed));
        }
        Ok(())
    }
}
