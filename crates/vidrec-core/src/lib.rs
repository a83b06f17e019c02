//! Data sets of vidrec: where they are, how they are read and written, and batches of them for a training loop.
//!
//! A module imports only modules above it in this list:
//!
//! | module | purpose |
//! | --- | --- |
//! | [`progress`], [`stop`], [`threads`], … | what a long call reports, how it ends, and threads that help with it; names of files |
//! | [`store`] | files on disk, objects far away, and the cache between them |
//! | [`dataset`] | open, write, verify, edit and repair data sets |
//! | [`transfer`] | copy data sets from and to object storage |
//! | [`loader`] | batches for a training loop |
//!
//! Programs use the crate `vidrec`, which lists the public names.

pub mod byte_size;
pub mod dataset;
pub mod loader;
pub mod memory;
pub mod progress;
pub mod source_name;
pub mod stop;
pub mod store;
pub mod threads;
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
