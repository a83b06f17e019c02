//! Batches for a training loop: order, frames, crop, decode, resize, colours, normalise.
//!
//! A batch is a pure function of (data set, options, epoch, number of the batch): with any number of threads it has the
//! same bits, and a run that stopped goes on from a few integers ([`LoaderState`]).
//!
//! ```text
//! order, ranks  position -> sample        space     sample -> clip, view, start     temporal  -> frames of the clip
//! view, colour  what is drawn for it      plan      all of that, for one sample     read      frames into the batch
//! prefetch      a thread that reads on    ring      batches there and memory back   engine    what they all share
//! shelf         memory from epoch to epoch
//! ```

mod aligned;
mod batch;
mod colour;
mod engine;
pub(crate) mod kernel;
mod options;
mod plan;
mod prefetch;
mod read;
mod ring;
mod shelf;
mod space;
mod state;
mod stats;
mod temporal;
mod view;
mod worker;

use std::ops::Range;
use std::sync::Arc;

use crate::Result;
use crate::dataset::Dataset;

pub use aligned::Aligned;
pub use batch::{Batch, BatchData, SampleParams};
pub use colour::{ColorDraw, ColorJitter, ColorMatrix, ColorStep};
use engine::Engine;
pub use options::{Channels, Crop, Draws, Dtype, Layout, LoaderOptions, OnBadFrame};
pub use prefetch::{Batches, BatchesInto, Memory, Part, PrefetchedBatch};
use shelf::Shelf;
pub use state::LoaderState;
pub use stats::LoaderStats;
pub use temporal::{Start, Temporal};

/// Gives the batches of a data set, epoch after epoch.
///
/// ```
/// use vidrec::order::Order;
/// use vidrec::{Crop, Dataset, Dtype, Loader, LoaderOptions};
/// # use vidrec::{ClipInfo, FrameData, Writer, WriterOptions};
/// # let folder = tempfile::tempdir().unwrap();
/// # let dir = folder.path().join("train");
/// # let mut jpeg = Vec::new();
/// # vidrec::jpeg::Encoder::new(90)?.encode(&vidrec::Planes::new(340, 256)?, &mut jpeg)?;
/// # let mut writer = Writer::create(&dir, WriterOptions::default())?;
/// # for label in 0..4 {
/// #     let clip = ClipInfo { label: Some(label), width: 340, height: 256, ..ClipInfo::default() };
/// #     writer.append(&clip, &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }; 8])?;
/// # }
/// # writer.finish()?;
///
/// let train = Dataset::open(&dir)?;
/// let options = LoaderOptions {
///     batch_size: 2,
///     crop: Crop::RANDOM_RESIZED,
///     flip: 0.5,
///     dtype: Dtype::F32,
///     mean: [0.485, 0.456, 0.406],
///     std: [0.229, 0.224, 0.225],
///     order: Order::Shuffled,
///     ..LoaderOptions::default()
/// };
/// let loader = Loader::new(&train, options)?;
/// for epoch in 0..2 {
///     for batch in loader.iter(epoch)? {
///         let batch = batch?;
///         assert_eq!(batch.shape(), [2, 8, 3, 224, 224]);
///         assert_eq!(batch.f32().unwrap().len(), 2 * 8 * 3 * 224 * 224);
///         assert_eq!(batch.labels.len(), 2);
///     }
/// }
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Clone)]
pub struct Loader {
    engine: Arc<Engine>,
    /// Of batches that were dropped, for the next epoch.
    shelf: Arc<Shelf<Batch>>,
}

impl Loader {
    /// A loader of `dataset`, which it shares. Clones share threads, counters, and the memory of batches, which is kept from
    /// epoch to epoch.
    ///
    /// It costs the same whatever the number of clips, if all have as many frames. Where they do not,
    /// [`Temporal::Dense`] looks at the entry of every clip.
    ///
    /// # Errors
    ///
    /// An option that makes no sense, clips with different numbers of frames when `frames` is not given, a batch larger
    /// than memory can be, or no threads.
    pub fn new(dataset: &Dataset, options: LoaderOptions) -> Result<Self> {
        Ok(Loader::of(Engine::new(dataset, options)?))
    }

    /// A loader that goes on where another one stood, exactly: see [`LoaderState`].
    ///
    /// [`LoaderOptions::batch_size`], `rank` and `world_size` may be others than before. The rest of the state's epoch
    /// is epoch [`first_epoch`](Self::first_epoch) here, of which the batches are counted from 0 again; the epochs after
    /// it are whole. With [`LastBatch::Pad`](crate::LastBatch::Pad) each sample counts exactly once an epoch, however
    /// often a run is resumed.
    ///
    /// ```
    /// # use vidrec::{ClipInfo, Dataset, FrameData, Loader, LoaderOptions, Writer, WriterOptions};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let dir = folder.path().join("train");
    /// # let mut jpeg = Vec::new();
    /// # vidrec::jpeg::Encoder::new(90)?.encode(&vidrec::Planes::new(16, 16)?, &mut jpeg)?;
    /// # let mut writer = Writer::create(&dir, WriterOptions::default())?;
    /// # (0..5).try_for_each(|_| writer.append(&ClipInfo::default(), &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }]).map(drop))?;
    /// # writer.finish()?;
    /// # let train = Dataset::open(&dir)?;
    /// let options = LoaderOptions { batch_size: 2, size: (16, 16), ..LoaderOptions::default() };
    /// let state = Loader::new(&train, options.clone())?.state(0, 1); // after batch 0: clips 0 and 1
    ///
    /// let options = LoaderOptions { batch_size: 3, ..options };
    /// let loader = Loader::resume(&train, options, &state)?;
    /// assert_eq!(loader.batch(0, 0)?.clips, [2, 3, 4]);
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new); and a state of another data set, seed or length of epoch.
    pub fn resume(dataset: &Dataset, options: LoaderOptions, state: &LoaderState) -> Result<Self> {
        let mut engine = Engine::new(dataset, options)?;
        engine.resume(state)?;
        Ok(Loader::of(engine))
    }

    fn of(engine: Engine) -> Self {
        // Those that are made ahead, and the one in use.
        let shelf = Shelf::new(engine.depth().saturating_add(1));
        Loader { engine: Arc::new(engine), shelf: Arc::new(shelf) }
    }

    /// The state after `batches` batches of `epoch`, the same on every rank; after the last, the start of the next epoch.
    pub fn state(&self, epoch: u64, batches: u64) -> LoaderState {
        self.engine.state(epoch, batches)
    }

    /// The epoch to begin with: 0, or that of the state from which the run goes on.
    pub fn first_epoch(&self) -> u64 {
        self.engine.first_epoch()
    }

    /// Batches that this rank has in a whole epoch; the same on every rank.
    pub fn batches_per_epoch(&self) -> u64 {
        self.engine.whole_epoch().batches()
    }

    /// Batches that this rank has in `epoch`: fewer in one that was resumed.
    pub fn batches_in(&self, epoch: u64) -> u64 {
        self.engine.ranks(epoch).batches()
    }

    /// Threads that decode.
    pub fn threads(&self) -> usize {
        self.engine.threads()
    }

    /// Dimensions of every batch, as [`Batch::shape`].
    pub fn shape(&self) -> [usize; 5] {
        self.engine.shape()
    }

    /// Bytes of the samples of a batch: the length of memory for [`fill_into`](Self::fill_into).
    pub fn batch_bytes(&self) -> usize {
        self.engine.batch_bytes()
    }

    /// What was done so far, by this loader and its clones.
    pub fn stats(&self) -> LoaderStats {
        self.engine.counters.snapshot()
    }

    /// The batches of `epoch`, in order, made ahead by threads in the background. An item may be an error; the batches
    /// after it still come. This is how to train.
    ///
    /// # Errors
    ///
    /// The system has no thread left.
    pub fn iter(&self, epoch: u64) -> Result<Batches> {
        self.iter_part(epoch, Part::default())
    }

    /// As [`iter`](Self::iter), but only part of the batches: for several processes that share an epoch's work batch by
    /// batch.
    ///
    /// # Errors
    ///
    /// As [`iter`](Self::iter).
    pub fn iter_part(&self, epoch: u64, part: Part) -> Result<Batches> {
        Batches::start(&self.engine, &self.shelf, epoch..epoch.saturating_add(1), part)
    }

    /// As [`iter_part`](Self::iter_part), but the samples go straight into memory that the caller provides (pinned,
    /// shared, or an array of another language), each piece as [`fill_into`](Self::fill_into) takes it.
    ///
    /// ```
    /// # use vidrec::{ClipInfo, Dataset, FrameData, Loader, LoaderOptions, Part, Writer, WriterOptions};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let dir = folder.path().join("train");
    /// # let mut jpeg = Vec::new();
    /// # vidrec::jpeg::Encoder::new(90)?.encode(&vidrec::Planes::new(16, 16)?, &mut jpeg)?;
    /// # let mut writer = Writer::create(&dir, WriterOptions::default())?;
    /// # (0..6).try_for_each(|_| writer.append(&ClipInfo::default(), &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }]).map(drop))?;
    /// # writer.finish()?;
    /// # let train = Dataset::open(&dir)?;
    /// let loader = Loader::new(&train, LoaderOptions { batch_size: 2, size: (16, 16), ..LoaderOptions::default() })?;
    /// let mut batches = loader.iter_into::<Vec<u8>>(0, Part::default())?;
    /// for _ in 0..2 {
    ///     batches.provide(vec![0; loader.batch_bytes()]);
    /// }
    /// while let Some(batch) = batches.next() {
    ///     let (pixels, batch, _state) = batch?;
    ///     assert_eq!((pixels.len(), batch.labels.len()), (2 * 3 * 16 * 16, 2));
    ///     batches.provide(pixels); // done with it: it may be filled again
    /// }
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`iter`](Self::iter).
    pub fn iter_into<M: Memory>(&self, epoch: u64, part: Part) -> Result<BatchesInto<M>> {
        BatchesInto::start(&self.engine, epoch, part)
    }

    /// As [`iter`](Self::iter), through several epochs: the first batches of one are made while the last ones of the
    /// epoch before are used.
    ///
    /// # Errors
    ///
    /// As [`iter`](Self::iter).
    pub fn iter_epochs(&self, epochs: Range<u64>) -> Result<Batches> {
        Batches::start(&self.engine, &self.shelf, epochs, Part::default())
    }

    /// The batches of `epoch`, in order, each made when it is asked for. An item may be an error; the batches after it
    /// still come.
    pub fn epoch(&self, epoch: u64) -> Epoch<'_> {
        Epoch { loader: self, epoch, next: 0 }
    }

    /// Batch `k` of `epoch`, counted from 0, at once.
    ///
    /// # Errors
    ///
    /// As [`fill`](Self::fill).
    pub fn batch(&self, epoch: u64, k: u64) -> Result<Batch> {
        let mut batch = Batch::default();
        self.fill(epoch, k, &mut batch)?;
        Ok(batch)
    }

    /// Replaces the contents of `batch` by batch `k` of `epoch`, reusing its memory.
    ///
    /// After an error the contents of `batch` are unspecified.
    ///
    /// # Errors
    ///
    /// There is no such batch; or a frame is damaged or cannot be decoded: then the error names file, clip and frame, of
    /// the first such frame in the batch.
    pub fn fill(&self, epoch: u64, k: u64, batch: &mut Batch) -> Result<()> {
        self.engine.fill(epoch, k, batch)
    }

    /// As [`fill`](Self::fill), but the samples go to `memory` of the caller (pinned, shared, or an array of another
    /// language) as [`BatchData::bytes`] has them; [`Batch::data`] is left empty. Frames are decoded straight into it,
    /// fastest where it begins at a multiple of 64 bytes.
    ///
    /// # Errors
    ///
    /// As [`fill`](Self::fill); and `memory` is not of [`batch_bytes`](Self::batch_bytes) bytes or not aligned for a
    /// sample.
    pub fn fill_into(&self, epoch: u64, k: u64, memory: &mut [u8], batch: &mut Batch) -> Result<()> {
        self.engine.fill_into(epoch, k, memory, batch)
    }
}

/// The batches of one epoch: see [`Loader::epoch`].
pub struct Epoch<'a> {
    loader: &'a Loader,
    epoch: u64,
    next: u64,
}

impl Iterator for Epoch<'_> {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        let k = self.next;
        if k >= self.loader.batches_in(self.epoch) {
            return None;
        }
        self.next += 1;
        Some(self.loader.batch(self.epoch, k))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.loader.batches_in(self.epoch) - self.next);
        (left.unwrap_or(usize::MAX), left.ok())
    }
}
