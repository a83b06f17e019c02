//! Packs of several shards, on one machine or as parts of a plan: in any order, at once, stopped and killed, they become
//! the data set of an undisturbed pack, and what does not belong together is refused.

mod bad_input;
mod buckets;
mod failures;
mod listed;
mod packing;
mod publishing;
mod resume;
mod status;
mod support;
