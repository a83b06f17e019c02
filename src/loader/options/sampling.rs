//! Which samples an epoch has, in which order, and how processes share them.

use crate::Result;
use crate::dataset::Dataset;
use crate::loader::require::require;
use crate::order::{LastBatch, Order};
use crate::words::words;

/// Bytes of a block of the order for remote data sets, and blocks in a window: half a gigabyte is mixed.
const BLOCK_BYTES: u64 = 8 << 20;
const WINDOW: u32 = 64;

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
    /// The order to train in: an exact shuffle of a local data set, blocks of a remote one.
    ///
    /// An exact shuffle reads each clip of a remote data set by a request of its own. The order of blocks reads 8 MiB at a
    /// time and mixes the clips of 64 such blocks, so two clips that are stored side by side share a batch more often
    /// than by chance ([`Order::neighbors_share_a_batch`]). With several ranks, each has blocks of its own.
    ///
    /// ```
    /// # use vidrec::{ClipInfo, FrameData, Writer, WriterOptions};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let dir = folder.path().join("train");
    /// # let mut jpeg = Vec::new();
    /// # vidrec::jpeg::Encoder::new(90)?.encode(&vidrec::Planes::new(16, 16)?, &mut jpeg)?;
    /// # let mut writer = Writer::create(&dir, WriterOptions::default())?;
    /// # writer.append(&ClipInfo::default(), &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }])?;
    /// # writer.finish()?;
    /// use vidrec::{Dataset, Sampling, order::Order};
    ///
    /// let train = Dataset::open(&dir)?;
    /// assert_eq!(Sampling::order_for(&train), Order::Shuffled);
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    pub fn order_for(dataset: &Dataset) -> Order {
        if !dataset.is_remote() {
            return Order::Shuffled;
        }
        let block = (BLOCK_BYTES / dataset.mean_clip_bytes().max(1)).clamp(1, u64::from(u32::MAX));
        Order::Homes { homes: None, exchange: 1.0, block: block as u32, window: WINDOW }
    }

    /// Refuses what makes no sense, and names the option.
    pub(super) fn check(&self) -> Result<()> {
        let ranks = format!("{} of {}", self.rank, self.world_size);
        require(self.rank < self.world_size, "rank", ranks, "less than world_size")
    }
}
