//! A cache against a plain model, by several threads, by several processes, killed, damaged, and on a full disk.

mod damage;
mod full;
mod model;
mod processes;
mod removal;
pub(super) mod support;
mod worker;
