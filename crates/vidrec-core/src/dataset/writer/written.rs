//! What is known about a file that is written from its first byte to its last.

use sha2::{Digest, Sha256};

use vidrec_format::data_binding::{DataBinding, EDGE_BYTES};

/// The contents of a file so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Written {
    pub length: u64,
    pub digest: Sha256,
    pub crc: crc32fast::Hasher,
    pub edges: Edges,
}

impl Written {
    pub fn push(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
        self.crc.update(bytes);
        self.edges.push(bytes);
        self.length += bytes.len() as u64;
    }

    /// The identity of the file, once it is complete.
    pub fn binding(self) -> DataBinding {
        let sha256 = self.digest.finalize().into();
        DataBinding { length: self.length, sha256, edge_crc32: self.edges.crc32() }
    }
}

/// The first and the last bytes of everything pushed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Edges {
    first: Vec<u8>,
    last: Vec<u8>,
}

impl Edges {
    fn push(&mut self, bytes: &[u8]) {
        let wanted = EDGE_BYTES.saturating_sub(self.first.len()).min(bytes.len());
        self.first.extend_from_slice(&bytes[..wanted]);
        self.last.extend_from_slice(&bytes[bytes.len().saturating_sub(EDGE_BYTES)..]);
        let surplus = self.last.len().saturating_sub(EDGE_BYTES);
        self.last.drain(..surplus);
    }

    fn crc32(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.first);
        hasher.update(&self.last);
        hasher.finalize()
    }
}
