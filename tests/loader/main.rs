//! The loader on data sets that are packed for the test. How much memory it takes is in `loader_memory.rs`.

mod batches;
mod cameras;
#[path = "../common/mod.rs"]
mod common;
mod decoder;
mod frozen;
mod homes;
mod into;
mod io;
mod jpegs;
mod lengths;
mod mix;
mod prefetch;
mod state;
mod texts;
mod tracks;
mod views;
