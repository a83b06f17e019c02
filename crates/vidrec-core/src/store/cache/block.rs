//! A file with up to 256 neighboring pages of an object: the set of those that it has, and their bytes.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::layout::PAGE_BYTES;
use crate::store::disk::regular_file::{Links, open_if_there};

/// Pages in a block, which is a file of at most 1 MiB.
pub(super) const BLOCK_PAGES: u64 = 256;
pub(super) const BLOCK_BYTES: u64 = BLOCK_PAGES * PAGE_BYTES;
/// The set of pages at the beginning of a file.
pub(super) const HEADER_BYTES: u64 = BLOCK_PAGES / 8;
/// The age at which a read renews the time of a block's last use.
const RENEWED: Duration = Duration::from_secs(60);

/// A file with a block.
#[derive(Debug)]
pub(super) struct Block {
    pub file: File,
    pub pages: Pages,
    /// The length of the file.
    pub bytes: u64,
    used: Option<SystemTime>,
}

impl Block {
    /// Opens a block; `None` if there is none.
    pub fn open(path: &Path) -> Option<Self> {
        let mut file = open_if_there(path, Links::Refuse).ok()??;
        let meta = file.metadata().ok()?;
        let mut header = [0; HEADER_BYTES as usize];
        file.read_exact(&mut header).ok()?;
        let mut words = header.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()));
        let pages = Pages(std::array::from_fn(|_| words.next().unwrap_or_default()));
        Some(Block { file, pages, bytes: meta.len(), used: meta.modified().ok() })
    }

    /// Renews the time of the last use. If the system refuses, the block may be removed sooner.
    pub fn renew(&self) {
        if self.used.and_then(|used| used.elapsed().ok()).is_some_and(|age| age > RENEWED) {
            let _ = self.file.set_modified(SystemTime::now());
        }
    }
}

/// The set of pages that a block has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Pages(pub [u64; 4]);

impl Pages {
    pub fn of(pages: Range<u64>) -> Self {
        let mut all = Pages::default();
        pages.for_each(|page| all.0[(page / 64) as usize] |= 1 << (page % 64));
        all
    }

    pub fn header(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    pub fn has(&self, pages: &Range<u64>) -> bool {
        pages.clone().all(|page| self.0[(page / 64) as usize] >> (page % 64) & 1 == 1)
    }

    /// The number of pages before `page`.
    pub fn count(&self, page: u64) -> u64 {
        let before = |i: u64| match page.saturating_sub(i * 64) {
            64.. => u64::MAX,
            bits => (1 << bits) - 1,
        };
        (0..4).map(|i| u64::from((self.0[i as usize] & before(i)).count_ones())).sum()
    }

    /// The position of a page in the file.
    pub fn place(&self, page: u64) -> u64 {
        HEADER_BYTES + self.count(page) * PAGE_BYTES
    }
}
