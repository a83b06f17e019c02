//! An object that is read at changing positions, as a program reads a file: mostly in sequence.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use super::file::RemoteFile;

/// The memory that a program should allow for each object that it reads so. One of this size is then fetched once, in
/// whatever order it is read.
pub const KEPT_BYTES: u64 = 20 << 20;
/// The length of a request at a position where no sequence of reads leads.
const FIRST_BYTES: u64 = 1 << 20;

/// A position in the bytes of an object.
///
/// A read error contains vidrec's own [`Error`](vidrec_format::error::Error).
#[derive(Debug)]
pub struct ObjectReader {
    file: Arc<RemoteFile>,
    at: u64,
    buffer: Vec<u8>,
}

impl ObjectReader {
    pub fn new(file: &Arc<RemoteFile>) -> Self {
        ObjectReader { file: file.clone(), at: 0, buffer: Vec::new() }
    }
}

impl Read for ObjectReader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let end = self.at.saturating_add(to.len() as u64).min(self.file.len());
        let range = self.at.min(end)..end;
        let around = || range.start..range.end.max(range.start.saturating_add(FIRST_BYTES)).min(self.file.len());
        self.file.read(range.clone(), around, &mut self.buffer).map_err(io::Error::other)?;
        to[..self.buffer.len()].copy_from_slice(&self.buffer);
        self.at = end.max(self.at);
        Ok(self.buffer.len())
    }
}

impl Seek for ObjectReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.file.len().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fault_proxy::{Fault, Origin, Rule, Server};

    use super::*;
    use crate::store::remote::{Opening, Remote};
    use crate::store::storage::Storage;
    use vidrec_format::random::Random;

    /// An object of `length` bytes that identify their positions, and its server.
    fn served(length: usize, head: u64) -> (tempfile::TempDir, Server, Vec<u8>, Arc<RemoteFile>) {
        let folder = tempfile::tempdir().unwrap();
        let content: Vec<u8> = (0..length).map(|i| (i as u32).wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
        std::fs::write(folder.path().join("a"), &content).unwrap();
        let server = Origin::serve(folder.path()).unwrap();
        let remote = Remote::new(&Storage { memory_bytes: MEMORY, ..Storage::default() }).unwrap();
        let location = format!("{}/a", server.url());
        let file = Opening::start_with(&remote, Path::new(&location), head).unwrap().finish().unwrap();
        (folder, server, content, Arc::new(file))
    }

    const MEMORY: u64 = 40 << 20;

    fn kept(file: &RemoteFile) -> u64 {
        file.remote().stats().held_bytes
    }

    #[test]
    fn a_sequence_takes_few_requests_and_each_byte_once() {
        let (_folder, server, content, bytes) = served(40 << 20, 10_000);
        let (mut reader, mut buffer, mut at) = (ObjectReader::new(&bytes), vec![0; 128 << 10], 0);
        while at < content.len() {
            let count = reader.read(&mut buffer).unwrap();
            assert!(count > 0 && buffer[..count] == content[at..at + count], "{at}");
            assert!(kept(&bytes) <= MEMORY);
            at += count;
        }
        assert_eq!(reader.read(&mut buffer).unwrap(), 0);
        let counts = server.counts();
        assert_eq!(counts.body_bytes, content.len() as u64);
        assert!(counts.requests < 15, "{}", counts.requests);
    }

    #[test]
    fn reads_anywhere_give_what_is_there() {
        let (_folder, server, content, bytes) = served((24 << 20) + 77, 4096);
        server.rules().add(Rule::new(Fault::Reset { after: 70_000 }).every(5));
        let readers = [ObjectReader::new(&bytes), ObjectReader::new(&bytes)];
        let (mut random, mut readers) = (Random::new(1, &[2, 3]), readers);
        for i in 0..80 {
            let reader = &mut readers[i % 2];
            let at = random.below(content.len() as u64 + 5) as usize;
            assert_eq!(reader.seek(SeekFrom::Start(at as u64)).unwrap(), at as u64);
            let mut buffer = vec![0; random.below(300_000) as usize];
            let count = reader.read(&mut buffer).unwrap();
            let rest = content.get(at..).unwrap_or_default();
            assert!(count > 0 || rest.is_empty() || buffer.is_empty(), "{at}");
            assert!(buffer[..count] == rest[..count], "{at}");
            assert!(kept(&bytes) <= MEMORY);
        }
        assert_eq!(readers[0].seek(SeekFrom::End(-7)).unwrap(), content.len() as u64 - 7);
        assert!(readers[0].seek(SeekFrom::Current(-(content.len() as i64))).is_err());
    }
}
