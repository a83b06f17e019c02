//! Replaces `memory_file.rs` on systems that have no known file system in memory.

use std::io;
use std::ops::Range;
use std::path::Path;

use super::shared_map::SharedMap;
use vidrec_format::error::{Error, Result};

/// Never exists on this system.
#[derive(Debug)]
pub(crate) enum MemoryFile {}

pub(crate) const IN_MEMORY: &str = "";

pub(crate) fn room(_: &Path) -> Result<u64> {
    Err(Error::usage("vidrec can keep decoded planes in memory only on Linux").help("turn off the decoded cache"))
}

impl MemoryFile {
    pub fn open(dir: &Path, _: &str, _: u64, _: &[u8]) -> Result<Self> {
        Err(room(dir).err().unwrap_or_else(|| Error::usage("no files in memory")))
    }

    pub fn map(&self) -> &SharedMap {
        match *self {}
    }

    pub fn path(&self) -> &Path {
        match *self {}
    }

    pub fn notice(&self) -> Option<&str> {
        match *self {}
    }

    pub fn write(&self, _: &[u8], _: u64) -> io::Result<()> {
        match *self {}
    }

    pub fn prepare(&self, _: Range<u64>) {
        match *self {}
    }

    pub fn is_ready(&self, _: Range<u64>) -> bool {
        match *self {}
    }
}
