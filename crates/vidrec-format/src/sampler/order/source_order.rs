//! The order of the samples of one source of a mix.

use super::{Blocks, Permutation};
use crate::error::{Error, Result};

/// The order of the samples of one source of a [`Mixed`](super::Mixed). Each round through them has a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum SourceOrder {
    /// An exact shuffle: [`Permutation`]. The default.
    #[default]
    Shuffled,
    /// Blocks of neighbors, shuffled within a window of blocks: [`Blocks`]. This is for data sets that are read
    /// much faster in sequence than at random.
    Blocks {
        /// The number of adjacent samples in a block, at least 1.
        block: u32,
        /// The number of blocks whose samples are mixed, at least 1.
        window: u32,
    },
}

impl SourceOrder {
    /// Returns an error for blocks without samples, or windows without blocks.
    pub(super) fn check(self) -> Result<()> {
        match self {
            SourceOrder::Blocks { block, window } => check_blocks(block, window),
            SourceOrder::Shuffled => Ok(()),
        }
    }

    /// The sample at a position of a round through `n` samples; `None` past the end.
    pub(super) fn get(self, (n, seed, round): (u64, u64, u64), position: u64) -> Option<u64> {
        match self {
            SourceOrder::Shuffled => Permutation::new(n, seed, round).get(position),
            SourceOrder::Blocks { block, window } => Blocks::new(n, block, window, seed, round).get(position),
        }
    }
}

/// Returns an error for blocks without samples, or windows without blocks.
pub(super) fn check_blocks(block: u32, window: u32) -> Result<()> {
    match [("block", block), ("window", window)].into_iter().find(|&(_, number)| number == 0) {
        Some((option, _)) => {
            Err(Error::usage(format!("order of blocks: {option} is out of range")).expected("1 or more").found(0))
        }
        None => Ok(()),
    }
}
