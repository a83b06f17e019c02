//! Copies of data sets: [`fetch`] makes local copies of remote data sets, and [`upload`] makes remote copies of local
//! ones.
//!
//! Both prove the copied files by the data set's checksums, resume after an interruption, and commit in one step.

pub mod fetch;
pub mod upload;

mod both_ways;
