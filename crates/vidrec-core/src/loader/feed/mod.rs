//! From samples to batches: the samples of a batch, how each is made, and the thread that works ahead.

mod ahead;
mod batches;
mod buckets;
mod device;
mod device_plan;
mod engine;
mod episodes;
mod fields;
mod fill;
mod fill_jpegs;
mod needs;
mod sample_spec;
mod samples;
mod schedule;
mod tracks;
mod warnings;
mod worker;

pub use batches::{Batches, BatchesInto, Memory, PrefetchedBatch};
pub use engine::Loader;
pub use schedule::Epochs;
