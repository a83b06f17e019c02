//! Data sets and folders in memory, and a comparison with a loader without a cache.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use vidrec::order::Order;
use vidrec::{Batch, Crop, DecodedCache, DecodedStats, Loader, LoaderOptions};

use crate::common::{loader, one_by_one, options};

/// A folder in memory of the test's own; `None` where there is none.
pub fn memory() -> Option<TempDir> {
    tempfile::tempdir_in("/dev/shm").ok()
}

/// The files that a cache in `dir` consists of now.
pub fn files(dir: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(dir).unwrap().map(|folder| folder.unwrap().path());
    let files = folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    files.map(|file| file.unwrap().path()).collect()
}

/// A cache in `dir`.
pub fn cache(dir: &Path, bytes: u64) -> Option<DecodedCache> {
    Some(DecodedCache { size: bytes, dir: Some(dir.to_owned()) })
}

/// Shuffled random crops.
pub fn training(batch_size: u32, size: (u32, u32)) -> LoaderOptions {
    LoaderOptions { crop: Crop::random_resized(size), flip: 0.5, order: Order::Shuffled, ..options(batch_size, size) }
}

/// The batches of some epochs.
pub fn batches(loader: &Loader, epochs: u64) -> Vec<Batch> {
    (0..epochs).flat_map(|epoch| one_by_one(loader, epoch)).map(Result::unwrap).collect()
}

/// The batches of a loader without a cache.
pub fn expected(set: &Path, options: &LoaderOptions, epochs: u64) -> Vec<Batch> {
    batches(&loader(set, LoaderOptions { decoded_cache: None, ..options.clone() }), epochs)
}

/// What the cache has done so far. Its counts add up.
pub fn stats(loader: &Loader) -> DecodedStats {
    let all = loader.stats();
    let stats = all.decoded_cache.unwrap();
    assert_eq!(stats.hits + stats.misses + stats.other_frames, all.frames, "{stats:?}");
    assert!(stats.taken_bytes <= stats.limit_bytes, "{stats:?}");
    stats
}
