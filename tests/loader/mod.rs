//! The loader on data sets that are packed for the test.

mod batches;
mod cameras;
pub mod frozen;
mod homes;
mod into;
mod io;
mod jpegs;
mod lengths;
mod memory;
mod mix;
mod prefetch;
mod state;
mod texts;
mod tracks;
mod views;
