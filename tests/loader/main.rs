//! The loader on data sets that are packed for the test. How much memory it takes is in `loader_memory.rs`.

mod batches;
#[path = "../common/mod.rs"]
mod common;
mod decoder;
mod homes;
mod into;
mod io;
mod lengths;
mod prefetch;
mod state;
mod views;
