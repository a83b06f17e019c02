//! Files that are read at positions, wherever they are: mapped, in memory, open, or in object storage.

use std::any::Any;
use std::fmt;
use std::ops::Range;

use vidrec_format::allocation;
use vidrec_format::error::{Error, Result};

/// The expected use of a range of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// It will be read soon: load it.
    Soon,
    /// It was read and will not be needed for a long time: its pages may be dropped.
    Done,
}

/// A file that many threads read at positions. The defaults are right for a file on this machine.
pub trait ReadAt: fmt::Debug + Send + Sync + Any {
    /// Length of the file when it was opened.
    fn len(&self) -> u64;

    /// The whole file, if it is mapped or in memory.
    fn bytes(&self) -> Option<&[u8]> {
        None
    }

    /// Returns a part of the file that stays in memory as long as this value. Meant for indexes and tables. `None` if
    /// the part is not within the file, or if the file can only be copied from.
    fn slice(&self, range: Range<u64>) -> Result<Option<&[u8]>> {
        let place = |at| usize::try_from(at).ok();
        let range = place(range.start).zip(place(range.end));
        Ok(self.bytes().zip(range).and_then(|(bytes, (begin, end))| bytes.get(begin..end)))
    }

    /// Replaces the contents of `buffer` with a range of the file. `around` returns the range that will be read next,
    /// which the same request may fetch.
    fn copy(&self, range: Range<u64>, _: &mut dyn FnMut() -> Range<u64>, buffer: &mut Vec<u8>) -> Result<()> {
        let bytes = self.slice(range)?.ok_or_else(|| Error::internal("a range outside of the bytes"))?;
        buffer.clear();
        allocation::reserve(buffer, bytes.len(), "a record")?;
        buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// Gives advice on a range of the file.
    fn advise(&self, _: Range<u64>, _: Advice) {}

    /// Pages that could not be read so far.
    fn lost(&self) -> u64 {
        0
    }

    /// Fetches parts, several requests at a time, so that [`slice`](Self::slice) finds them.
    fn prefetch(&self, _: &[Range<u64>]) -> Result<()> {
        Ok(())
    }

    /// Forgets fetched bytes that proved wrong, so that the next read fetches them. Returns whether that was possible.
    fn forget(&self, _: &Range<u64>) -> bool {
        false
    }

    /// The number of times that the parts that [`slice`](Self::slice) returns were forgotten.
    fn generation(&self) -> usize {
        0
    }

    /// Forgets the parts that [`slice`](Self::slice) returned in generation `seen`, because some of their bytes proved
    /// wrong. They are fetched once more. Returns whether that was possible.
    fn forget_slices(&self, _seen: usize) -> bool {
        false
    }
}

impl ReadAt for [u8] {
    fn len(&self) -> u64 {
        self.len() as u64
    }

    fn bytes(&self) -> Option<&[u8]> {
        Some(self)
    }
}

impl ReadAt for Vec<u8> {
    fn len(&self) -> u64 {
        ReadAt::len(&**self)
    }

    fn bytes(&self) -> Option<&[u8]> {
        Some(self)
    }
}
