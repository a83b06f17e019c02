//! Data sets of vidrec: where they are, how they are read and written, and batches of them for a training loop.
//!
//! A module imports only modules above it in this list:
//!
//! | module | purpose |
//! | --- | --- |
//! | [`store`] | files on disk, objects far away, and the cache between them |
//! | [`dataset`] | open, write, verify, edit and repair data sets |
//! | [`transfer`] | copy data sets from and to object storage |
//! | [`loader`] | batches for a training loop |
//!
//! Programs use the crate `vidrec`, which lists the public names.

pub mod dataset;
pub mod loader;
pub mod store;
pub mod transfer;

#[cfg(test)]
#[path = "../../../tests/common/fuzz_seeds.rs"]
mod fuzz_seeds;
#[cfg(test)]
#[path = "../../../tests/common/process_start_lock.rs"]
mod process_start_lock;
#[cfg(test)]
#[path = "../../../tests/common/skip.rs"]
mod skip;
