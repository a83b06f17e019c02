//! Tests of a cache against a plain model, with several threads, and of damage. `tests/remote_cache` has several processes,
//! killed ones, and a full disk.

// A list of ranges often has a single element.
#![allow(clippy::single_range_in_vec_init)]

mod damage;
mod model;
mod owner;
mod removal;
pub(super) mod support;
