//! Uploads a file of this machine as an object.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::bucket::Bucket;
use super::pieces::{Pieces, Told};
use crate::disk::regular_file::{Links, open_regular};
use vidrec_format::error::{Error, Result};

/// A file as a source of pieces.
struct FilePieces {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl FilePieces {
    pub fn open(path: &Path) -> Result<Self> {
        let file = open_regular(path, Links::Follow)?;
        let bytes = file.metadata().map_err(|e| Error::io("read the file's size", path, e))?.len();
        Ok(FilePieces { path: path.to_owned(), file, bytes })
    }
}

impl Pieces for FilePieces {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn next(&mut self, bytes: usize) -> Result<Vec<u8>> {
        let mut piece = Vec::new();
        piece.try_reserve_exact(bytes).map_err(|_| Error::no_memory("a part of a file", bytes))?;
        piece.resize(bytes, 0);
        self.file.read_exact(&mut piece).map_err(|e| Error::io("read the file", &self.path, e))?;
        Ok(piece)
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Bucket {
    /// Writes a file as an object, as [`upload_pieces`](Self::upload_pieces) does.
    pub fn upload(&self, name: &str, file: &Path, told: Told<'_>) -> Result<()> {
        self.upload_pieces(name, &mut FilePieces::open(file)?, told)
    }
}
