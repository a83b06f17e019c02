//! Requests for the parts of one object that the cache on local disk will keep. Neighbors share a request, and each
//! request has a good size.

use std::ops::Range;
use std::sync::Arc;

use super::file::{RemoteFile, pieces};
use super::sizes::REQUEST_BYTES;
use super::wanted::{Filled, RunFrom, Wanted};
use vidrec_format::error::Result;

/// Pages share a request if the gap between them is less than this fraction of the bytes in the request.
const GAP_SHARE: u64 = 64;

/// Pages of one object that will be asked for. Pages that were not asked for when this is dropped are given up.
pub struct Filling {
    file: Arc<RemoteFile>,
    /// In order, without overlaps.
    unsent: Vec<Range<u64>>,
    bytes: u64,
}

impl Filling {
    pub fn of(file: &Arc<RemoteFile>) -> Self {
        Filling { file: file.clone(), unsent: Vec::new(), bytes: 0 }
    }

    pub fn file(&self) -> &Arc<RemoteFile> {
        &self.file
    }

    /// Asks for a range, as soon as the bytes fill a request.
    pub fn add(&mut self, range: &Range<u64>) -> Result<Filled> {
        let pages = match self.file.find(range) {
            RunFrom::Here => return Ok(Filled::Here),
            RunFrom::Hold => return Ok(Filled::NoRoom),
            RunFrom::Keep(pages) => pages,
        };
        let mut sent = Ok(());
        for piece in pages.into_iter().flat_map(|pages| pieces(pages, REQUEST_BYTES)) {
            if !self.joins(&piece) {
                sent = sent.and(self.send());
            }
            self.bytes += piece.end - piece.start;
            self.unsent.push(piece);
        }
        sent.map(|()| Filled::PendingRange)
    }

    /// Asks for all pages that were not asked for yet.
    pub fn send(&mut self) -> Result<()> {
        let parts = std::mem::take(&mut self.unsent).into_iter().map(Wanted::Keep).collect();
        self.file.remote().memory().take_anyway(std::mem::take(&mut self.bytes));
        self.file.fetch_wanted(parts)
    }

    /// Whether part of a range was not asked for yet.
    pub fn holds_back(&self, range: &Range<u64>) -> bool {
        self.unsent.first().zip(self.unsent.last()).is_some_and(|(f, l)| f.start < range.end && range.start < l.end)
    }

    fn joins(&self, pages: &Range<u64>) -> bool {
        let Some((first, last)) = self.unsent.first().zip(self.unsent.last()) else { return true };
        let bytes = self.bytes + (pages.end - pages.start);
        let is_near = pages.start >= last.end && (pages.end - first.start) - bytes <= bytes / GAP_SHARE;
        is_near && bytes <= REQUEST_BYTES
    }
}

impl Drop for Filling {
    fn drop(&mut self) {
        self.unsent.iter().for_each(|pages| self.file.give_up(pages));
    }
}
