//! How far the loader works ahead.

use serde::{Deserialize, Serialize};

use super::json::bytes;
use crate::loader::require::require;
use vidrec_format::error::Result;

/// How far the loader works ahead of the training loop.
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
    #[serde(with = "bytes")]
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
    /// Returns an error that names the option if a value makes no sense.
    pub(super) fn check(&self) -> Result<()> {
        require(self.batches > 0, "prefetch", 0, "1 or more")
    }

    /// The number of batches of `batch_bytes` that are made ahead at a time.
    pub(crate) fn depth(&self, batch_bytes: usize) -> usize {
        let affordable = self.bytes / (batch_bytes as u64).max(1);
        u64::from(self.batches).min(affordable).max(1) as usize
    }
}
