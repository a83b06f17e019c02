//! A data set on a server that counts, and caches for it.

use std::ops::Deref;
use std::path::Path;

use vidrec::{Batch, Dataset, Loader, LoaderOptions, Storage};

use crate::common::{self, sample_data_sets};

/// Bytes of a page of the cache.
pub const PAGE: u64 = 4096;

/// A data set in the folder `set`, and a server of what is above it.
pub struct Served {
    served: common::data_set_server::Served,
    pub set: Dataset,
}

impl Deref for Served {
    type Target = common::data_set_server::Served;

    fn deref(&self) -> &Self::Target {
        &self.served
    }
}

impl Served {
    /// Shards of so many clips each, of `frames` frames of about `bytes` bytes.
    pub fn new(shards: &[u32], frames: u32, bytes: u32) -> Self {
        Served::of(sample_data_sets::padded(shards, frames, bytes, 1))
    }

    /// What `write` makes in a folder.
    pub fn of(write: impl FnOnce(&Path)) -> Self {
        let served = common::data_set_server::Served::new(write);
        let set = served.local();
        Served { served, set }
    }

    /// Clips of more than 100 KB: 16 frames of about 7 KB.
    pub fn large() -> Self {
        Served::new(&[40, 14, 42], 16, 7_000)
    }

    /// Clips of about 20 KB.
    pub fn small() -> Self {
        Served::new(&[9, 8, 7], 4, 5_000)
    }

    /// Bytes of all record files.
    pub fn record_bytes(&self) -> u64 {
        self.files("rec")
    }

    /// Bytes of record files and indexes.
    pub fn all_bytes(&self) -> u64 {
        self.files("rec") + self.files("vidx")
    }

    fn files(&self, ending: &str) -> u64 {
        let files = std::fs::read_dir(self.dir()).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|file| file.extension().is_some_and(|e| e == ending)).map(|f| f.metadata().unwrap().len()).sum()
    }

    pub fn open(&self, storage: Storage) -> Dataset {
        self.open_with(storage).unwrap()
    }

    /// Requests for record files, and bytes of them, since the last call.
    pub fn downloaded(&self) -> (u64, u64) {
        let paths = self.server.counts().paths;
        self.server.reset_counts();
        let records = paths.iter().filter(|(path, _)| path.ends_with(".rec"));
        records.fold((0, 0), |(requests, bytes), (_, more)| (requests + more.0, bytes + more.1))
    }

    /// Bytes of the records of each clip.
    pub fn clip_bytes(&self) -> Vec<u64> {
        let bytes = |clip: u64| {
            let clip = self.set.clip(clip).unwrap();
            let (first, last) = (clip.frame(0).unwrap(), clip.frame(clip.frame_count() - 1).unwrap());
            // A record is its head of 32 bytes and a JPEG, padded to a multiple of 4.
            last.offset() + 32 + (last.jpeg().len() as u64).next_multiple_of(4) - first.offset()
        };
        (0..self.set.len()).map(bytes).collect()
    }
}

/// Options of loaders of these data sets.
pub fn options() -> LoaderOptions {
    common::options(5, (16, 16))
}

/// A cache in `dir` of at most `bytes`, and little memory.
pub fn cached(dir: &Path, bytes: u64) -> Storage {
    Storage { cache: Some(dir.to_owned()), cache_bytes: Some(bytes), memory_bytes: 8 << 20, ..Storage::default() }
}

/// The batches of an epoch, made ahead.
pub fn epoch(loader: &Loader, epoch: u64) -> Vec<Batch> {
    loader.iter(epoch).unwrap().map(|batch| batch.unwrap().into_batch()).collect()
}

/// The clips of some batches that count, in order.
pub fn clips(batches: &[Batch]) -> Vec<u64> {
    batches.iter().flat_map(common::counted).collect()
}
