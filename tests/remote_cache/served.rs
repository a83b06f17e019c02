//! A data set on a server that counts, and caches for it.

use std::path::{Path, PathBuf};

use fault_proxy::{Origin, Server};
use tempfile::TempDir;
use vidrec::{Batch, ClipInfo, Dataset, FrameData, Loader, LoaderOptions, Storage, Writer, WriterOptions};

use crate::common::jpeg;

/// Bytes of a page of the cache.
pub const PAGE: u64 = 4096;
const SIZE: (u32, u32) = (16, 16);

/// A data set in the folder `set`, and a server of what is above it.
pub struct Served {
    pub folder: TempDir,
    pub server: Server,
    pub set: Dataset,
}

impl Served {
    /// Shards of so many clips each, of `frames` frames of about `bytes` bytes.
    pub fn new(shards: &[u32], frames: u32, bytes: u32) -> Self {
        Served::of(|dir| write(dir, shards, frames, bytes, 1))
    }

    /// What `write` makes in a folder.
    pub fn of(write: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("set"));
        let server = Origin::serve(folder.path()).unwrap();
        let set = Dataset::open(folder.path().join("set")).unwrap();
        Served { folder, server, set }
    }

    /// Clips of more than 100 KB: 16 frames of about 7 KB.
    pub fn large() -> Self {
        Served::new(&[40, 14, 42], 16, 7_000)
    }

    /// Clips of about 20 KB.
    pub fn small() -> Self {
        Served::new(&[9, 8, 7], 4, 5_000)
    }

    pub fn dir(&self) -> PathBuf {
        self.folder.path().join("set")
    }

    pub fn url(&self) -> String {
        format!("{}/set", self.server.url())
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
        Dataset::open_with(self.url(), storage).unwrap()
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

/// Writes a data set; another `version` has other pictures.
pub fn write(dir: &Path, shards: &[u32], frames: u32, bytes: u32, version: u32) {
    let mut writer = Writer::create(dir, WriterOptions::default()).unwrap();
    let mut noise = Noise(version);
    let mut c = 0;
    for &clips in shards {
        for _ in 0..clips {
            let jpegs: Vec<_> = (0..frames).map(|t| noise.padded(c * frames + t + version * 1000, bytes)).collect();
            let info = ClipInfo { label: Some(c % 5), width: SIZE.0, height: SIZE.1, ..ClipInfo::default() };
            let frame = |(t, jpeg)| FrameData { jpeg, pts: t, source_index: None };
            writer.append(&info, &(0..).zip(jpegs.iter().map(|jpeg| &**jpeg)).map(frame).collect::<Vec<_>>()).unwrap();
            c += 1;
        }
        writer.next_shard().unwrap();
    }
    writer.finish().unwrap();
}

/// xorshift32 (Marsaglia, 2003).
struct Noise(u32);

impl Noise {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    /// A small picture with a comment of noise of `bytes` bytes, more or less: large to read, fast to decode.
    fn padded(&mut self, seed: u32, bytes: u32) -> Vec<u8> {
        let picture = jpeg(SIZE, seed);
        let bytes = bytes * 4 / 5 + self.next() % (bytes * 2 / 5);
        let mut padded = picture[..2].to_vec();
        padded.extend([0xff, 0xfe]);
        padded.extend(u16::try_from(bytes + 2).unwrap().to_be_bytes());
        padded.extend((0..bytes).map(|_| self.next() as u8));
        padded.extend(&picture[2..]);
        padded
    }
}

/// Options of loaders of these data sets.
pub fn options() -> LoaderOptions {
    crate::common::options(5, SIZE)
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
    let all = batches.iter().flat_map(|batch| batch.clips.iter().zip(&batch.mask));
    all.filter(|(_, counts)| **counts).map(|(&clip, _)| clip).collect()
}
