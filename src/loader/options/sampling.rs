//! Which samples an epoch has, in which order, and how processes share them.

use crate::Result;
use crate::loader::require::require;
use crate::order::{LastBatch, Order};
use crate::words::words;

/// Which clips an epoch has of a data set with several draws of each video
/// ([`Dataset::draws`](crate::Dataset::draws)). Without draws both are the same.
///
/// As a word (`FromStr`, `Display`): `rotate` or `all`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Draws {
    /// One of each video: draw `epoch` modulo their number. The default.
    ///
    /// Sample `i` then stands for clips `i K` to `i K + K - 1`, so orders with weights or indices count videos, not
    /// clips.
    #[default]
    Rotate,
    /// All of them, each a sample of its own.
    All,
}

words!(Draws, "draws", { "rotate" => Rotate, "all" => All });

/// Which samples an epoch has, in which order, and how processes share them.
///
/// ```
/// use vidrec::order::Order;
/// use vidrec::{LoaderOptions, Sampling};
///
/// let sampling = Sampling { order: Order::Shuffled, rank: 1, world_size: 4, ..Sampling::default() };
/// let options = LoaderOptions { sampling, ..LoaderOptions::default() };
/// assert_eq!(options.sampling.last, vidrec::LastBatch::Pad);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sampling {
    /// In which order samples come. Default [`Order::Sequential`]: as stored. For training, [`Order::Shuffled`],
    /// or [`Order::Homes`] on a cluster whose nodes keep what they read.
    pub order: Order,
    /// Which draws of a video an epoch has, where there are several. Default [`Draws::Rotate`].
    pub draws: Draws,
    /// Number of this process among those that train together, from 0. Default 0.
    pub rank: u32,
    /// Processes that train together. Default 1.
    pub world_size: u32,
    /// What happens to clips that do not fill a batch on every rank. Default [`LastBatch::Pad`].
    pub last: LastBatch,
    /// Whether an epoch may have no batch at all. Default `false`: a loader without batches is an error.
    pub allow_empty: bool,
}

impl Default for Sampling {
    fn default() -> Self {
        Sampling {
            order: Order::Sequential,
            draws: Draws::Rotate,
            rank: 0,
            world_size: 1,
            last: LastBatch::Pad,
            allow_empty: false,
        }
    }
}

impl Sampling {
    /// Refuses what makes no sense, and names the option.
    pub(super) fn check(&self) -> Result<()> {
        let ranks = format!("{} of {}", self.rank, self.world_size);
        require(self.rank < self.world_size, "rank", ranks, "less than world_size")
    }
}
