//! Where a run stands, in a few integers.

use crate::{Error, Fingerprint, Result};

/// Where a training run stands: enough to go on exactly, also with other batch sizes and other numbers of processes.
///
/// All ranks have the same state after the same number of batches, so one of them may save it. Taken from
/// [`Loader::state`](super::Loader::state) or [`PrefetchedBatch::state`](super::PrefetchedBatch::state), given to
/// [`Loader::resume`](super::Loader::resume).
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
    /// Samples of its order that all ranks together have had; less than `samples`.
    pub consumed: u64,
    /// Samples in an epoch.
    pub samples: u64,
    /// Seed of order, frames, crops, flips and colours.
    pub seed: u64,
    /// The data set.
    pub dataset: Fingerprint,
}

impl LoaderState {
    /// Refuses to go on with what this is not a state of.
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
                .help("go on with the same order, views and frames"));
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
