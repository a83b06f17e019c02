//! Decoded frames in memory.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::json::bytes;

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
    #[serde(with = "bytes")]
    pub size: u64,
    /// A folder in memory (tmpfs), in which the cache creates a folder of its own. Default `None`: `/dev/shm`.
    #[serde(default)]
    pub dir: Option<PathBuf>,
}
