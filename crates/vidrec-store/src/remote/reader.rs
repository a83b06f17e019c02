//! An object that is read at changing positions, as a program reads a file: mostly in sequence.

use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::file::RemoteFile;
use super::promise::Pending;
use super::sink::Stretch;
use vidrec_format::error::Result;

/// The size of the first request of a sequence, and the most that one request asks for. The size doubles along a
/// sequence.
const FIRST_BYTES: u64 = 1 << 20;
const MOST_BYTES: u64 = 4 << 20;
/// The most bytes of an object that are kept in memory beside its head. An object of this size is fetched once, in
/// whatever order it is read.
const KEPT_BYTES: u64 = 16 << 20;

/// The bytes of an object. Those that were read last are in memory. Several readers may share them.
#[derive(Debug)]
pub struct ObjectBytes {
    file: Arc<RemoteFile>,
    recent: Mutex<RecentStretches>,
}

/// A stretch of the object, and the request for it.
type AskedFor = (Range<u64>, Pending<Arc<Vec<Stretch>>>);

/// The stretches that were asked for, the latest first.
#[derive(Debug, Default)]
struct RecentStretches {
    stretches: VecDeque<AskedFor>,
    /// The end and the length of the last stretch.
    sequence: (u64, u64),
}

impl ObjectBytes {
    pub fn new(file: RemoteFile) -> Arc<Self> {
        Arc::new(ObjectBytes { file: Arc::new(file), recent: Mutex::default() })
    }

    pub fn len(&self) -> u64 {
        self.file.len()
    }

    /// The most bytes that are kept in memory.
    pub fn kept_bytes(&self) -> u64 {
        self.len().min(KEPT_BYTES + self.file.head().len() as u64)
    }

    /// Reads the bytes from `at` on that are at hand. It reads at least one byte, except at the end of the object.
    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<usize> {
        let head = self.file.head();
        if let Some(rest) = usize::try_from(at).ok().and_then(|at| head.get(at..)).filter(|rest| !rest.is_empty()) {
            return Ok(copy(rest, buffer));
        }
        if at >= self.len() || buffer.is_empty() {
            return Ok(0);
        }
        let (range, pending) = self.stretch_at(at)?;
        let found = self.file.remote().wait(&pending)?;
        let found = found.first().map_or(&[][..], |stretch| &stretch.bytes);
        let from = (at - range.start) as usize;
        found
            .get(from..)
            .filter(|rest| !rest.is_empty())
            .map(|rest| copy(rest, buffer))
            .ok_or_else(|| self.file.gone(&range))
    }

    /// Returns the stretch that contains byte `at`. In a sequence, it also asks for the next stretch.
    fn stretch_at(&self, at: u64) -> Result<AskedFor> {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let place = recent.stretches.iter().position(|(range, _)| range.contains(&at));
        match place {
            // The stretch in use moves to the front, so that it is dropped last.
            Some(place) => {
                let known = recent.stretches.remove(place);
                known.into_iter().for_each(|known| recent.stretches.push_front(known));
            }
            None => {
                let new = recent.next(at, self.file.head().len() as u64, self.len());
                recent.begin(&self.file, new)?;
            }
        }
        let found = recent.stretches[0].clone();
        let (end, size) = recent.sequence;
        if found.0.end == end && size > FIRST_BYTES && end < self.len() {
            let next = recent.next(end, 0, self.len());
            recent.begin(&self.file, next)?;
        }
        Ok(found)
    }
}

impl RecentStretches {
    /// Plans a stretch that begins at `at`. In a sequence, it is twice as long as the last one.
    fn next(&self, at: u64, head: u64, length: u64) -> Range<u64> {
        let (end, size) = self.sequence;
        let bytes = if at == end && at > head { (size * 2).clamp(FIRST_BYTES, MOST_BYTES) } else { FIRST_BYTES };
        // Bytes that are present are not asked for again.
        let known = self.stretches.iter().map(|(range, _)| range.start).filter(|&start| start > at).min();
        at..at.saturating_add(bytes).min(length).min(known.unwrap_or(length))
    }

    fn begin(&mut self, file: &RemoteFile, range: Range<u64>) -> Result<()> {
        let pending = file.start(range.clone())?;
        self.sequence = (range.end, range.end - range.start);
        self.stretches.push_front((range, pending));
        let mut sum = 0;
        let fits = |(range, _): &&(Range<u64>, _)| {
            sum += range.end - range.start;
            sum <= KEPT_BYTES
        };
        let kept = self.stretches.iter().take_while(fits).count();
        self.stretches.truncate(kept);
        Ok(())
    }
}

fn copy(from: &[u8], to: &mut [u8]) -> usize {
    let count = from.len().min(to.len());
    to[..count].copy_from_slice(&from[..count]);
    count
}

/// A position in the bytes of an object.
///
/// A read error contains vidrec's own [`Error`](vidrec_format::error::Error).
#[derive(Debug)]
pub struct ObjectReader {
    bytes: Arc<ObjectBytes>,
    at: u64,
}

impl ObjectReader {
    pub fn new(bytes: &Arc<ObjectBytes>) -> Self {
        ObjectReader { bytes: bytes.clone(), at: 0 }
    }
}

impl Read for ObjectReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read_at(self.at, buffer).map_err(io::Error::other)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for ObjectReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.bytes.len().checked_add_signed(by),
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
    use crate::remote::{Opening, Remote};
    use crate::storage::Storage;
    use vidrec_format::random::Random;

    /// An object of `length` bytes that identify their positions, and its server.
    fn served(length: usize, head: u64) -> (tempfile::TempDir, Server, Vec<u8>, Arc<ObjectBytes>) {
        let folder = tempfile::tempdir().unwrap();
        let content: Vec<u8> = (0..length).map(|i| (i as u32).wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
        std::fs::write(folder.path().join("a"), &content).unwrap();
        let server = Origin::serve(folder.path()).unwrap();
        let remote = Remote::new(&Storage::default()).unwrap();
        let location = format!("{}/a", server.url());
        let file = Opening::start_with(&remote, Path::new(&location), head).unwrap().finish().unwrap();
        (folder, server, content, ObjectBytes::new(file))
    }

    fn kept(bytes: &ObjectBytes) -> u64 {
        bytes.recent.lock().unwrap().stretches.iter().map(|(range, _)| range.end - range.start).sum()
    }

    #[test]
    fn a_sequence_takes_few_requests_and_each_byte_once() {
        let (_folder, server, content, bytes) = served(40 << 20, 10_000);
        let (mut reader, mut buffer, mut at) = (ObjectReader::new(&bytes), vec![0; 128 << 10], 0);
        while at < content.len() {
            let count = reader.read(&mut buffer).unwrap();
            assert!(count > 0 && buffer[..count] == content[at..at + count], "{at}");
            assert!(kept(&bytes) <= KEPT_BYTES);
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
            assert!(kept(&bytes) <= KEPT_BYTES);
        }
        assert_eq!(readers[0].seek(SeekFrom::End(-7)).unwrap(), content.len() as u64 - 7);
        assert!(readers[0].seek(SeekFrom::Current(-(content.len() as i64))).is_err());
    }

    #[test]
    fn an_object_that_fits_is_fetched_once_and_an_empty_one_is_empty() {
        let (_folder, server, content, bytes) = served(12 << 20, 4096);
        for _ in 0..3 {
            let mut found = Vec::new();
            ObjectReader::new(&bytes).read_to_end(&mut found).unwrap();
            assert!(found == content);
        }
        assert_eq!(server.counts().body_bytes, content.len() as u64);
        let (_folder, _server, _, empty) = served(0, 4096);
        assert_eq!((empty.len(), ObjectReader::new(&empty).read(&mut [0; 9]).unwrap()), (0, 0));
    }
}
