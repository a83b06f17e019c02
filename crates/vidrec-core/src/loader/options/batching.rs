//! The grouping of clips of different lengths into batches.

use serde::{Deserialize, Serialize};

use super::values::require;
use vidrec_format::error::Result;

/// The rule that decides how many clips a batch has, and which clips share one. By default, every batch has
/// [`batch_size`](crate::loader::LoaderOptions::batch_size) clips.
///
/// Buckets are the lengths of samples, ascending, for [`Frames::AllFrames`](crate::loader::Frames::AllFrames). A clip goes to
/// the first bucket that holds it, and is padded to that length. All clips of a batch come from one bucket. All ranks
/// have the same number of batches, and the same lengths at the same time. Each clip comes once an epoch, and a run
/// resumes exactly. The loader then keeps two bytes for each clip, and 8 bytes for each sample of an epoch. Each epoch
/// begins with a pass over its order.
///
/// With a budget, a batch of one rank has as many clips as fit, instead of
/// [`batch_size`](crate::loader::LoaderOptions::batch_size).
///
/// As JSON (serde): the name of the variant with its fields, such as `{"Buckets": {"lengths": [8, 16]}}`.
///
/// ```
/// use vidrec::{Batching, Frames, LoaderOptions};
///
/// let options = LoaderOptions {
///     frames: Frames::all().with_max(Some(64)),
///     batching: Some(Batching::FrameBudget { frames: 256, buckets: vec![8, 16, 32, 64] }),
///     ..LoaderOptions::default()
/// };
/// # drop(options);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub enum Batching {
    /// Clips of similar lengths share a batch.
    Buckets {
        /// The lengths of samples, ascending.
        lengths: Vec<u32>,
    },
    /// A batch has at most this many frames, including those that pad.
    FrameBudget {
        /// The number of frames in a batch.
        frames: u64,
        /// The lengths of samples, ascending. Clips of any length need them.
        #[serde(default)]
        buckets: Vec<u32>,
    },
    /// A batch has at most this many tokens. Each patch of frames and pixels is one token. At the borders, a patch
    /// may be incomplete.
    TokenBudget {
        /// The number of tokens in a batch.
        tokens: u64,
        /// The number of frames, rows and columns of a patch, each 1 or more.
        patch: [u32; 3],
        /// The lengths of samples, ascending. Clips of any length need them.
        #[serde(default)]
        buckets: Vec<u32>,
    },
}

impl Batching {
    /// The lengths of the buckets.
    pub(super) fn buckets(&self) -> &[u32] {
        match self {
            Batching::Buckets { lengths } => lengths,
            Batching::FrameBudget { buckets, .. } | Batching::TokenBudget { buckets, .. } => buckets,
        }
    }

    /// The number of clips of `frames` frames of `size` (width, height) that fit in a batch of one rank, if it has a budget.
    pub(crate) fn clips(&self, frames: u32, (width, height): (u32, u32)) -> Option<u32> {
        let (budget, clip) = match *self {
            Batching::Buckets { .. } => return None,
            Batching::FrameBudget { frames: budget, .. } => (budget, u64::from(frames)),
            Batching::TokenBudget { tokens, patch: [t, h, w], .. } => {
                let patches = [(frames, t), (height, h), (width, w)].map(|(all, patch)| u64::from(all.div_ceil(patch)));
                (tokens, patches.into_iter().fold(1, u64::saturating_mul))
            }
        };
        Some(u32::try_from(budget / clip.max(1)).unwrap_or(u32::MAX))
    }

    /// Returns an error that names the field if a value makes no sense.
    pub(super) fn check(&self) -> Result<()> {
        let buckets = self.buckets();
        let ascending = buckets.is_sorted_by(|a, b| a < b) && buckets.first() != Some(&0);
        require(ascending, "batching: buckets", format_args!("{buckets:?}"), "ascending lengths of 1 or more")?;
        match self {
            Batching::Buckets { lengths } => {
                require(!lengths.is_empty(), "batching: buckets", "none", "one or more lengths")
            }
            Batching::TokenBudget { patch, .. } => {
                require(!patch.contains(&0), "batching: patch", format_args!("{patch:?}"), "1 or more on each side")
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_holds_whole_clips() {
        let clips =
            |budget: u64, frames| Batching::FrameBudget { frames: budget, buckets: vec![] }.clips(frames, (1, 1));
        assert_eq!([clips(64, 8), clips(63, 8), clips(7, 8)], [Some(8), Some(7), Some(0)]);
        let tokens = Batching::TokenBudget { tokens: 1000, patch: [2, 16, 16], buckets: vec![] };
        assert_eq!(tokens.clips(7, (100, 64)), Some(1000 / (4 * 7 * 4)), "incomplete patches count");
        assert_eq!(clips(u64::MAX, 1), Some(u32::MAX));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (name, batching) in [
            ("buckets", Batching::Buckets { lengths: vec![8, 8] }),
            ("buckets", Batching::Buckets { lengths: vec![] }),
            ("buckets", Batching::FrameBudget { frames: 9, buckets: vec![0, 8] }),
            ("patch", Batching::TokenBudget { tokens: 1, patch: [1, 0, 1], buckets: vec![] }),
        ] {
            assert!(batching.check().unwrap_err().to_string().contains(name), "{name}");
        }
        let json = r#"{"TokenBudget":{"tokens":9,"patch":[1,2,3],"buckets":[]}}"#;
        let read: Batching = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), json);
    }
}
