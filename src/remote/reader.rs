//! An object read from place to place, as a program reads a file: in sequence for the most part.

use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::file::RemoteFile;
use super::later::Pending;
use super::sink::Stretch;
use crate::Result;

/// What the first request of a sequence asks for, and the most that one does. A sequence doubles.
const FIRST_BYTES: u64 = 1 << 20;
const MOST_BYTES: u64 = 4 << 20;
/// The most bytes of an object that are kept in memory: an object of this size is fetched once, however it is read.
pub(crate) const KEPT_BYTES: u64 = 16 << 20;

/// The bytes of an object, of which those read last are in memory. Several readers may share them.
#[derive(Debug)]
pub(crate) struct ObjectBytes {
    file: Arc<RemoteFile>,
    recent: Mutex<RecentStretches>,
}

/// What was asked for, the latest first.
#[derive(Debug, Default)]
struct RecentStretches {
    stretches: VecDeque<(Range<u64>, Pending<Arc<Vec<Stretch>>>)>,
    /// Where the last stretch ends, and how long it is.
    sequence: (u64, u64),
}

impl ObjectBytes {
    pub fn new(file: RemoteFile) -> Arc<Self> {
        Arc::new(ObjectBytes { file: Arc::new(file), recent: Mutex::default() })
    }

    pub fn len(&self) -> u64 {
        self.file.len()
    }

    /// Reads from byte `at` on as much as is at hand, and at least one byte before the end.
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

    /// The stretch that has byte `at`. While a sequence is read, the one after it is on its way.
    fn stretch_at(&self, at: u64) -> Result<(Range<u64>, Pending<Arc<Vec<Stretch>>>)> {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let place = recent.stretches.iter().position(|(range, _)| range.contains(&at));
        match place {
            // What is read now goes last.
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
    /// A new stretch from `at` on: after the last one, or after the head of the object, twice as long.
    fn next(&self, at: u64, head: u64, length: u64) -> Range<u64> {
        let (end, size) = self.sequence;
        let bytes = if at == end && at > head { (size * 2).clamp(FIRST_BYTES, MOST_BYTES) } else { FIRST_BYTES };
        // What is there already is not asked for twice.
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

/// A place in the bytes of an object.
///
/// An error of reading holds this crate's own [`Error`](crate::Error).
#[derive(Debug)]
pub(crate) struct ObjectReader {
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
