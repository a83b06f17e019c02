//! Batches for a training loop: order, frames, crop, decode, resize, colors, normalize.
//!
//! A batch is a pure function of (data set, options, epoch, number of the batch). It has the same bits with any number
//! of threads, and a run that stopped can be resumed from a few integers ([`LoaderState`]).
//!
//! ```text
//! options  what a training loop can ask for      batch            what it gets; jpeg_batch: without decoding
//! draw     frames, crop, flip, colors            state, counters  where a run stands, what was done
//! kernel   from decoded planes to the batch      feed             which samples, how each is made, the thread ahead
//! ```

#[doc(hidden)]
pub mod decoded;

mod aligned;
mod batch;
mod counters;
mod draw;
mod feed;
mod jpeg_batch;
mod jpeg_memory;
#[doc(hidden)]
pub mod kernel;
mod mix;
mod options;
mod state;

pub use batch::{Batch, BatchData, Field, SampleParams, TrackBatch};
pub use counters::{DecodedStats, LoaderStats};
pub use draw::{ColorDraw, ColorStep};
pub use feed::{Batches, BatchesInto, Epochs, Loader, Memory, PrefetchedBatch};
pub use jpeg_batch::{JpegBatch, JpegFrame};
#[doc(hidden)]
pub use jpeg_batch::{PlanSizes, TilePlan};
pub use jpeg_memory::{JpegMemory, PinnedAllocator, PinnedMemory};
pub use kernel::{Channels, ColorMatrix};
pub use mix::{Mix, MixOptions, SourceCount};
pub use options::{
    Batching, Cameras, CamerasCrop, ColorJitter, CoordinateSize, Crop, DecodedCache, Dtype, Frames, Geometry, Layout,
    LoaderOptions, Missing, Normalize, Offsets, OnBadFrame, OwnOptions, Prefetch, ShortClips, SmartResize, Start,
    TrackAnchor, TrackHow, TrackNormalize, TrackScaling, TrackWindow, WindowPad,
};
pub use state::{LoaderState, MixState, SourceState};

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;

    #[test]
    fn values_may_go_to_other_threads_and_can_be_printed() {
        const fn check<T: Send + Sync + Debug>() {}
        check::<(Loader, LoaderOptions, LoaderState, LoaderStats, Epochs, Mix)>();
        check::<(Batch, Batches, BatchesInto<Vec<u8>>, PrefetchedBatch)>();
        check::<(JpegBatch, Batches<JpegBatch>, PrefetchedBatch<JpegBatch>)>();
    }
}
