//! A copy of a file that is being fetched.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::item::Item;
use crate::store::disk::{AtomicFile, Temporary};
use vidrec_format::error::Result;

/// A copy under its temporary name. It stays if this value is dropped. Bytes that an interrupted fetch left are read
/// again, for the digest that proves the whole file.
pub(super) struct Incoming {
    out: AtomicFile,
    digest: Sha256,
    /// Bytes in the copy so far.
    pub at: u64,
    /// Bytes of these that were in the folder before.
    pub kept: u64,
    length: u64,
}

impl Incoming {
    /// Continues the copy of a file of `length` bytes, or begins it. With `from_scratch`, it keeps nothing of an old
    /// copy.
    pub fn open(
        dir: &Path,
        item: &Item,
        length: u64,
        from_scratch: bool,
        tick: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Self> {
        let mut out = AtomicFile::reopen(&dir.join(&item.name))?;
        out.keep();
        let (mut digest, mut at, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 20]);
        loop {
            let count = if from_scratch { 0 } else { out.read(&mut buffer)? };
            if count == 0 {
                break;
            }
            digest.update(&buffer[..count]);
            at += count as u64;
            tick()?;
        }
        if at > length {
            // The bytes are of another file.
            (digest, at) = (Sha256::new(), 0);
        }
        out.cut(at)?;
        Ok(Incoming { out, digest, at, kept: at, length })
    }

    /// Appends the next bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes)?;
        self.digest.update(bytes);
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Bytes that are still missing.
    pub fn left(&self) -> u64 {
        self.length.saturating_sub(self.at)
    }

    pub fn is_complete(&self) -> bool {
        self.at == self.length
    }

    /// Syncs the copy to the disk, and proves it. A copy that does not match the listed file is removed.
    pub fn finish(mut self, item: &Item) -> Result<Temporary> {
        self.out.sync()?;
        let mut temporary = self.out.seal();
        match item.prove(temporary.path(), self.digest.finalize().into()) {
            Ok(()) => {
                temporary.keep();
                Ok(temporary)
            }
            Err(e) => {
                temporary.discard();
                Err(e)
            }
        }
    }
}
