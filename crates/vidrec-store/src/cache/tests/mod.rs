//! Tests of a cache against a plain model, with several threads and processes, killed processes, damage and a full
//! disk.

// A list of ranges often has a single element.
#![allow(clippy::single_range_in_vec_init)]

mod damage;
mod full;
mod model;
mod owner;
mod processes;
mod removal;
pub(super) mod support;
mod worker;
