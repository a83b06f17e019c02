//! A file whose digest is computed while it is written.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::store::disk::map::MappedFile;
use crate::store::disk::{AtomicFile, Temporary};
use vidrec_format::data_binding::edge_crc32;
use vidrec_format::{DataBinding, Result};

/// A file that is written from its first byte to its last, and the digest of its bytes so far.
#[derive(Debug)]
pub(crate) struct DigestedFile {
    pub file: AtomicFile,
    pub digest: Sha256,
    pub length: u64,
}

impl DigestedFile {
    pub fn create(path: &Path) -> Result<Self> {
        Ok(DigestedFile { file: AtomicFile::create(path)?, digest: Sha256::new(), length: 0 })
    }

    /// Appends the next bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes)?;
        self.digest.update(bytes);
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Syncs the file to the disk, under its temporary name, and returns its identity.
    pub fn finish(mut self) -> Result<(Temporary, DataBinding)> {
        self.file.sync()?;
        let file = self.file.seal();
        let map = MappedFile::open(&file.path)?;
        let (sha256, edge_crc32) = (self.digest.finalize().into(), edge_crc32(&map));
        map.prove_whole(&file.path)?;
        Ok((file, DataBinding { length: self.length, sha256, edge_crc32 }))
    }
}
