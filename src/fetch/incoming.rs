//! A copy of a file on its way to this machine.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::item::Item;
use crate::Result;
use crate::disk::{AtomicFile, Temporary};

/// A copy under its temporary name, which stays if this is dropped. What an interrupted fetch left of it is read again,
/// for the digest that proves the whole file.
pub(super) struct Incoming {
    out: AtomicFile,
    digest: Sha256,
    /// Bytes that are here.
    pub at: u64,
    /// Bytes of them that were here before.
    pub kept: u64,
    length: u64,
}

impl Incoming {
    /// Continues the copy of a file of `length` bytes, or begins it. With `from_scratch`, nothing of it is kept.
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
            // Of another file.
            (digest, at) = (Sha256::new(), 0);
        }
        out.cut(at)?;
        Ok(Incoming { out, digest, at, kept: at, length })
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes)?;
        self.digest.update(bytes);
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Bytes that are still to come.
    pub fn left(&self) -> u64 {
        self.length.saturating_sub(self.at)
    }

    pub fn is_complete(&self) -> bool {
        self.at == self.length
    }

    /// Brings the copy to the disk, and proves it. A copy that is not what was listed is removed.
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
