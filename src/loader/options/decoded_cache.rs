//! Decoded frames in memory.

use std::path::PathBuf;

/// Keeps the planes of decoded frames in memory that all processes of the machine share, so that frames are decoded once
/// and not once an epoch. The batches have the same bits.
///
/// A frame takes 1.5 bytes a pixel; a frame of 340x256, 131 kB. What does not fit is decoded in every epoch: nothing is
/// evicted, because where each clip comes once an epoch, any fixed part is as good as another. It is for data sets of which
/// a good part fits, and for many epochs.
///
/// The memory is a file in `/dev/shm` (Linux only). Processes that read the same data set with the same limit share it; the
/// last one that ends in order removes it. What a killed process leaves is used, or removed, by the next loader with such a
/// cache.
///
/// ```no_run
/// use vidrec::{Dataset, DecodedCache, Loader, LoaderOptions};
///
/// let train = Dataset::open("train")?;
/// let decoded_cache = Some(DecodedCache { bytes: vidrec::parse_bytes("200GB")?, ..DecodedCache::default() });
/// let loader = Loader::new(&train, LoaderOptions { decoded_cache, ..LoaderOptions::default() })?;
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DecodedCache {
    /// The most bytes that it takes, for all processes together. Must not be more than the machine, or its container, has
    /// memory, or than the file system has room for.
    pub bytes: u64,
    /// A folder in memory (tmpfs), in which the cache gets a folder of its own. Default `None`: `/dev/shm`.
    pub dir: Option<PathBuf>,
}
