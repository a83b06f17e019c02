//! The digest of a record file.

use sha2::{Digest, Sha256};

use super::records::Records;
use vidrec_format::error::Result;

/// The SHA-256 of a record file, computed while its records are read in order. Each byte is read from the disk once,
/// because recently read bytes are still in memory.
#[derive(Debug, Default)]
pub(crate) struct RecordsDigest {
    digest: Sha256,
    /// Bytes of the file that are in the digest.
    at: u64,
    buffer: Vec<u8>,
}

impl RecordsDigest {
    /// Adds bytes of the file to the digest, at least up to `end`. It calls `go_on` at intervals, and stops if
    /// `go_on` returns an error.
    pub fn advance(&mut self, records: &Records, end: u64, go_on: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let stretch = if records.remote().is_some() { REMOTE_STRETCH } else { STRETCH };
        while self.at < end.min(records.len()) {
            let end = self.at.saturating_add(stretch).min(records.len());
            match records.bytes() {
                Some(bytes) => self.digest.update(&bytes[self.at as usize..end as usize]),
                None => {
                    records.read(self.at..end, &mut self.buffer)?;
                    self.digest.update(&self.buffer);
                }
            }
            self.at = end;
            go_on()?;
        }
        Ok(())
    }

    /// Returns the SHA-256 of the whole file. The rest of the file is read now.
    pub fn finish(mut self, records: &Records, go_on: &mut dyn FnMut() -> Result<()>) -> Result<[u8; 32]> {
        self.advance(records, records.len(), go_on)?;
        Ok(self.digest.finalize().into())
    }
}

/// The bytes that a digest reads at a time. They are few enough to stay in the processor's cache until their records
/// are read. For a remote file, they fill one request.
const STRETCH: u64 = 1 << 20;
const REMOTE_STRETCH: u64 = 8 << 20;
