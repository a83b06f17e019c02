//! From samples to batches: the samples of a batch, how each is made, and the thread that works ahead.

mod ahead;
mod batches;
mod bucketed_epoch;
mod buckets;

mod device;
mod device_plan;
mod engine;
mod episodes;
mod fields;
mod fill;
mod fill_jpegs;
mod needs;
mod producer;
mod queue;
mod sample_spec;
mod samples;
mod schedule;
mod tracks;
mod warnings;
mod worker;

pub use batches::{Batches, BatchesInto, Memory, PrefetchedBatch};
pub(super) use device::Device;
pub(super) use engine::Engine;
pub(super) use fill::{fill, fill_declined, fill_into};
pub(super) use fill_jpegs::fill_jpegs;
pub(super) use needs::ask_for;
pub(super) use queue::BufferPool;
pub use schedule::Epochs;
