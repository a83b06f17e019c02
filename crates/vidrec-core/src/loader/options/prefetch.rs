//! The memory of a loader: batches made ahead, and decoded frames that are kept.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::values::{Size, bytes};

/// The limits of the work ahead of the training loop.
///
/// ```
/// use vidrec::{LoaderOptions, Prefetch};
///
/// let prefetch = Prefetch { batches: 8, ..Prefetch::default() };
/// let options = LoaderOptions { prefetch, ..LoaderOptions::default() };
/// assert_eq!(options.prefetch.bytes, 1 << 30);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Prefetch {
    /// The number of batches that [`Loader::iter`](crate::loader::Loader::iter) keeps ready or in progress ahead of the
    /// one in use, 1 or more. Default 4.
    pub batches: u32,
    /// The limit in bytes for the samples of those batches. One batch is always made. Default 1 GiB. Between
    /// epochs, the loader keeps the memory of those batches and of one more.
    #[serde(deserialize_with = "bytes")]
    pub bytes: u64,
    /// The number of batches after those whose pages the system is asked to read. Default 4; 0 asks for none.
    pub readahead: u32,
}

impl Default for Prefetch {
    fn default() -> Self {
        Prefetch { batches: 4, bytes: 1 << 30, readahead: 4 }
    }
}

impl Prefetch {
    /// The number of batches of `batch_bytes` that are made ahead at a time.
    pub(crate) fn depth(&self, batch_bytes: usize) -> usize {
        let affordable = self.bytes / (batch_bytes as u64).max(1);
        u64::from(self.batches).min(affordable).max(1) as usize
    }
}

/// A number of batches, with defaults.
impl From<u32> for Prefetch {
    fn from(batches: u32) -> Self {
        Prefetch { batches, ..Prefetch::default() }
    }
}

/// Keeps the planes of decoded frames in memory that all processes of the machine share. Frames are then decoded
/// once and not once an epoch. The batches have the same bits.
///
/// A frame takes 1.5 bytes a pixel, so a frame of 340x256 takes 131 kB. Frames that do not fit are decoded in
/// every epoch. Nothing is evicted, because any fixed part is as good as another if each clip comes once an epoch.
/// Use the cache if a good part of the data set fits, and for many epochs.
///
/// The memory is a file in `/dev/shm` (Linux only). Processes that read the same data set with the same limit
/// share it. The last one that ends in order removes it. A file that a killed process leaves behind is used or
/// removed by the next loader with such a cache.
///
/// ```no_run
/// use vidrec::{Dataset, DecodedCache, Loader, LoaderOptions};
///
/// let train = Dataset::open("train")?;
/// let decoded_cache = Some(DecodedCache { size: vidrec::parse_bytes("200GB")?, dir: None });
/// let loader = Loader::new(&train, LoaderOptions { decoded_cache, ..LoaderOptions::default() })?;
/// # Ok::<(), vidrec::Error>(())
/// ```
///
/// As JSON (serde): `{"size": "200GB"}`; the size is a number of bytes or a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecodedCache {
    /// The maximum number of bytes, for all processes together. It must not exceed the memory of the machine or
    /// its container, or the room in the file system.
    #[serde(deserialize_with = "bytes")]
    pub size: u64,
    /// A folder in memory (tmpfs), in which the cache creates a folder of its own. Default `None`: `/dev/shm`.
    pub dir: Option<PathBuf>,
}

impl From<Size> for Option<DecodedCache> {
    fn from(Size(size): Size) -> Self {
        Some(DecodedCache { size, dir: None })
    }
}
