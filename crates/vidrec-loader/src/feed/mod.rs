//! From samples to batches: the samples of a batch, how each is made, and the thread that works ahead.

mod ahead;
mod batch_shape;
mod batches;
mod buckets;
mod cached_frames;
mod deal;
mod engine;
mod episodes;
mod epochs;
mod fields;
mod fill;
mod fill_jpegs;
mod foresight;
mod needs;
mod plan_tiles;
mod pool;
mod producer;
mod retention;
mod ring;
mod sample_spec;
mod samples;
mod schedule;
mod shelf;
mod to_read;
mod tracks;
mod unequal;
mod worker;

pub use batches::{Batches, BatchesInto, Memory, PrefetchedBatch};
pub(super) use engine::Engine;
pub use epochs::Epochs;
pub(super) use fill::{fill, fill_into};
pub(super) use fill_jpegs::{fill_jpegs, fill_tiles};
pub(super) use needs::ask_for;
pub(super) use shelf::Shelf;
