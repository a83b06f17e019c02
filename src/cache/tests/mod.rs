//! A cache against a plain model, by several threads, by several processes, killed, damaged, and on a full disk.

// A list of ranges often has one.
#![allow(clippy::single_range_in_vec_init)]

mod damage;
mod full;
mod model;
mod owner;
mod processes;
mod removal;
pub(super) mod support;
mod worker;
