//! Files that are memory-mapped for reading. Only this file maps for reading, and it contains the safety argument.

use std::fs::File;
use std::ops::{Deref, Range};
use std::path::Path;

use memmap2::Mmap;

use super::open_files::{Held, Share};
use super::regular_file::{Links, open_regular};
use super::sigbus::Watch;
use crate::store::read_at::{Advice, ReadAt};
use vidrec_format::error::{Error, Result};

/// The bytes of a file, read through the page cache without a copy. All threads and forked processes share them.
///
/// Do not change a mapped file in place while it is open: the map shows the new bytes. On Linux, pages that were cut
/// off or that cannot be read become zeros, and [`lost`](Self::lost) counts them. Other systems end the process.
/// vidrec itself replaces files by renaming, which leaves open maps intact.
#[derive(Debug)]
pub struct MappedFile {
    /// Declared before the map, so that it is dropped first.
    watch: Option<Watch>,
    map: Option<Mmap>,
    /// Its part of the share of maps, if it counts toward one.
    _held: Option<Held>,
}

impl MappedFile {
    /// Maps a file of a kind that is rarely open many times.
    pub fn open(path: &Path) -> Result<Self> {
        Self::of(&open_regular(path, Links::Follow)?, path, None)
    }

    /// Maps a file of a kind that may be open many times; `None` if `share` is used up.
    pub fn open_within(path: &Path, share: &Share) -> Result<Option<Self>> {
        let map = |held| Self::of(&open_regular(path, Links::Follow)?, path, Some(held));
        share.take().map(map).transpose()
    }

    /// Maps an open file.
    pub(super) fn of(file: &File, path: &Path, held: Option<Held>) -> Result<Self> {
        let meta = file.metadata().map_err(|e| Error::io("read the file's size", path, e))?;
        if meta.len() == 0 {
            return Ok(MappedFile { watch: None, map: None, _held: None });
        }
        // SAFETY: the map is private to this type and only ever read. The remaining risk is that another process
        // truncates or rewrites the file in place. No reader of a map can rule that out, and the type's documentation
        // says so. All reads are bounds-checked against the mapped length, and no code relies on a value that was read
        // to stay the same: JPEGs are copied before C reads them (`PrivateJpeg`), and texts before they are checked.
        let map = unsafe { Mmap::map(file) }.map_err(|e| Error::io("map the file", path, e))?;
        Ok(MappedFile { watch: Some(Watch::over(&map)), map: Some(map), _held: held })
    }

    /// Returns an error unless everything that was read so far was in the file.
    pub fn prove_whole(&self, path: &Path) -> Result<()> {
        if self.lost() == 0 { Ok(()) } else { Err(lost(path)) }
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}

impl ReadAt for MappedFile {
    fn len(&self) -> u64 {
        (**self).len() as u64
    }

    fn bytes(&self) -> Option<&[u8]> {
        Some(self)
    }

    /// The number of pages that could not be read so far and are now zeros. The file was truncated while it was open,
    /// or its disk is failing.
    fn lost(&self) -> u64 {
        self.watch.as_ref().map_or(0, Watch::lost)
    }

    /// Gives advice on a range of the file. Only [`Advice::Soon`] has an effect on a map, and only on Unix.
    fn advise(&self, range: Range<u64>, advice: Advice) {
        let Some(map) = &self.map else { return };
        let place = |at: u64| usize::try_from(at).map_or(map.len(), |at| at.min(map.len()));
        let (begin, end) = (place(range.start), place(range.end));
        if advice == Advice::Soon && begin < end {
            // Without the advice, only speed is lost.
            #[cfg(unix)]
            let _ = map.advise_range(memmap2::Advice::WillNeed, begin, end - begin);
        }
    }
}

/// The error about a file with lost pages. It includes the file's current length, which shows what happened.
pub fn lost(path: &Path) -> Error {
    let what = "part of the file could not be read: it was truncated while it was open, or its disk is failing";
    let e = Error::lost(what).file(path);
    match std::fs::metadata(path) {
        Ok(meta) => e.found(format!("{} bytes now", meta.len())),
        Err(_) => e,
    }
}
