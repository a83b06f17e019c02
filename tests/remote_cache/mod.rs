//! The cache on local disk, while loaders read remote data sets through it: what batches are, what is downloaded, what
//! is on the disk, and processes that share it. The cache by itself is tested in
//! `crates/vidrec-core/src/store/cache/object.rs`.

mod damage;
mod disk_use;
mod downloads;
mod equal;
mod forks;
mod full_disk;
mod kills;
mod memory;
mod orders;
mod processes;
mod served;
mod worker;
