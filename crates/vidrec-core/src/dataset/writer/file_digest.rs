//! The identity of a file that is written from its first byte to its last.

use sha2::{Digest, Sha256};

use vidrec_format::DataBinding;
use vidrec_format::data_binding::{EDGE_BYTES, edges_crc32};

/// The length, the SHA-256 and the two ends of the bytes so far.
#[derive(Debug, Clone, Default)]
pub(super) struct FileDigest {
    pub length: u64,
    digest: Sha256,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl FileDigest {
    pub fn push(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
        self.length += bytes.len() as u64;
        let missing = EDGE_BYTES.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..missing]);
        self.tail.extend_from_slice(&bytes[bytes.len().saturating_sub(EDGE_BYTES)..]);
        let surplus = self.tail.len().saturating_sub(EDGE_BYTES);
        self.tail.drain(..surplus);
    }

    /// The identity of the file, once it is complete.
    pub fn binding(self) -> DataBinding {
        let sha256 = self.digest.finalize().into();
        DataBinding { length: self.length, sha256, edge_crc32: edges_crc32(&self.head, &self.tail) }
    }
}
