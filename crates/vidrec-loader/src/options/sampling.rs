//! The samples of an epoch, their order, and how processes share them.

use crate::require::require;
use vidrec_dataset::Dataset;
use vidrec_format::error::Result;
use vidrec_format::words::words;
use vidrec_sampler::order::{LastBatch, Order};

/// The number of bytes in a block of the order for remote data sets, and of blocks in a window: half a gigabyte is
/// mixed.
const BLOCK_BYTES: u64 = 8 << 20;
const WINDOW: u32 = 64;

/// The clips of an epoch, in a data set with several draws of each video
/// ([`Dataset::draws`](vidrec_dataset::Dataset::draws)). Without draws, both variants are the same.
///
/// As a word (`FromStr`, `Display`): `rotate` or `all`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Draws {
    /// One draw of each video: number `epoch` modulo the number of draws. The default.
    ///
    /// Sample `i` then stands for clips `i K` to `i K + K - 1` with K draws. Orders with weights or indices
    /// therefore count videos, not clips.
    #[default]
    Rotate,
    /// All draws, each a sample of its own.
    All,
}

words!(Draws, "draws", { "rotate" => Rotate, "all" => All });

/// The samples of an epoch, their order, and how processes share them.
///
/// ```
/// # mod vidrec {
/// #     pub use vidrec_loader::{LoaderOptions, Sampling};
/// #     pub use vidrec_sampler::order;
/// #     pub use vidrec_sampler::order::LastBatch;
/// # }
/// use vidrec::order::Order;
/// use vidrec::{LoaderOptions, Sampling};
///
/// let sampling = Sampling { order: Order::Shuffled, rank: 1, world_size: 4, ..Sampling::default() };
/// let options = LoaderOptions { sampling, ..LoaderOptions::default() };
/// assert_eq!(options.sampling.last, vidrec::LastBatch::Keep);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sampling {
    /// The order of samples. Default [`Order::Sequential`]: as stored. To train, use [`shuffle`](Self::shuffle), or
    /// [`Order::Homes`] on a cluster whose nodes keep what they read.
    pub order: Order,
    /// Whether samples are shuffled in the order that is best for the data set: see [`Sampling::order_for`]. A run
    /// that resumes keeps its order, even if the data set has moved. It excludes an [`order`](Self::order) other than
    /// the default. Default `false`.
    pub shuffle: bool,
    /// The draws of a video in an epoch, if there are several. Default [`Draws::Rotate`].
    pub draws: Draws,
    /// The number of this process among those that train together, from 0. Default 0.
    pub rank: u32,
    /// The number of processes that train together. Default 1.
    pub world_size: u32,
    /// What happens to clips that do not fill a batch on every rank. Default [`LastBatch::Keep`]: the last
    /// batches are smaller.
    pub last: LastBatch,
    /// Whether an epoch may have no batch at all. Default `false`: a loader without batches is an error.
    pub allow_empty: bool,
}

impl Default for Sampling {
    fn default() -> Self {
        Sampling {
            order: Order::Sequential,
            shuffle: false,
            draws: Draws::Rotate,
            rank: 0,
            world_size: 1,
            last: LastBatch::Keep,
            allow_empty: false,
        }
    }
}

impl Sampling {
    /// The recommended order for training: an exact shuffle of a local data set, blocks of a remote one.
    ///
    /// An exact shuffle reads each clip of a remote data set with a request of its own. The order of blocks reads
    /// 8 MiB at a time and mixes the clips of 64 such blocks. Two clips that are stored side by side therefore
    /// share a batch more often than by chance ([`Order::neighbors_share_a_batch`]). With several ranks, each has
    /// blocks of its own.
    ///
    /// ```
    /// # mod vidrec {
    /// #     pub use vidrec_jpeg as jpeg;
    /// #     pub use vidrec_dataset::Dataset;
    /// #     pub use vidrec_dataset::writer::{ClipInfo, FrameData, Writer, WriterOptions};
    /// #     pub use vidrec_format::error::Error;
    /// #     pub use vidrec_format::planes::Planes;
    /// #     pub use vidrec_loader::Sampling;
    /// #     pub use vidrec_sampler::order;
    /// # }
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

    /// Returns an error that names the option if a value makes no sense.
    pub(super) fn check(&self) -> Result<()> {
        let ranks = format!("{} of {}", self.rank, self.world_size);
        require(self.rank < self.world_size, "rank", ranks, "less than world_size")
    }
}
