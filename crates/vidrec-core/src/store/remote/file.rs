//! One version of one object. It is read at ranges, as a file is.

use std::any::Any;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed},
};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use super::blocks::Bytes;
use super::failure::Kind;
use super::fill_once::{self, FillOnce};
use super::pending::Pending;
use super::remote::Remote;
use super::request::Request;
use super::request::{Part, Version};
use super::url::Address;
use crate::store::cache::CachedObject;
use crate::store::per_process::PerProcess;
use crate::store::read_at::ReadAt;
use vidrec_format::error::{Error, Result};

use crate::stop;
use vidrec_format::allocation;

/// The bytes that one request asks for, or half as many again to avoid a small rest. AWS recommends ranges of 8 to 16 MB
/// ("Performance design patterns for Amazon S3"). Smaller ranges arrive sooner and cost less to repeat.
pub const REQUEST_BYTES: u64 = 8 << 20;
/// The first bytes of an object, and the unit of memory for tables.
const PAGE_BYTES: u64 = fill_once::BLOCK_BYTES;
/// The largest unit to which reads of tables are rounded up.
const MOST_TABLE_BYTES: u64 = 1 << 20;

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// An object that is open for reading. All reads are of the version that it had when it was opened.
///
/// A read looks for its bytes in two places: in the blocks that the data set has in memory, and in the cache on disk. What
/// neither has is asked for, as a new block.
#[derive(Debug)]
pub struct RemoteFile {
    remote: Arc<Remote>,
    address: Address,
    location: PathBuf,
    version: Version,
    /// The number of this file among all files of the process.
    number: u64,
    kept: Option<Arc<CachedObject>>,
    /// The end and the size of the last block that was asked for without a plan.
    sequence: PerProcess<Mutex<(u64, u64)>>,
    /// The parts of tables that were read. The second memory is used after bytes of the first proved wrong.
    tables: [OnceLock<FillOnce>; 2],
    generation: AtomicUsize,
    /// Bytes of tables that were fetched so far.
    table_bytes: AtomicU64,
}

/// An object that is being opened.
#[derive(Debug)]
pub struct Opening {
    remote: Arc<Remote>,
    address: Address,
    location: PathBuf,
    head: Pending<(Arc<Vec<u8>>, Version)>,
}

impl Opening {
    /// Starts to open the object at `location`. Set `is_empty` if the object is known to be empty.
    pub fn start(remote: &Arc<Remote>, location: &Path, is_empty: bool) -> Result<Self> {
        Self::start_with(remote, location, if is_empty { 0 } else { PAGE_BYTES })
    }

    /// Like [`start`](Self::start), with `head_bytes` bytes of the object's beginning.
    pub fn start_with(remote: &Arc<Remote>, location: &Path, head_bytes: u64) -> Result<Self> {
        let address = Address::of(location)?;
        let client = remote.client(&address)?;
        let request = Request::read(location, &address.key, head_bytes);
        let head = Pending::start(async move {
            // An empty object has no range to ask for.
            let part = if head_bytes == 0 { Part::Whole(0) } else { Part::Range(0..head_bytes) };
            let found = match client.fetch(&request, part, None).await {
                Err(e) if e.is(Kind::BeyondEnd) => client.fetch(&request, Part::Whole(0), None).await,
                found => found,
            };
            found.map(|(bytes, meta)| (Arc::new(bytes), Version::of(&meta)))
        })?;
        Ok(Opening { remote: remote.clone(), address, location: location.to_owned(), head })
    }

    /// Waits at most `time`. Returns whether there is nothing more to wait for.
    pub fn is_over_within(&self, time: Duration) -> bool {
        self.head.is_over_within(time)
    }

    /// Waits until the object is open.
    pub fn finish(self) -> Result<RemoteFile> {
        let (head, version) = self.remote.wait(&self.head)?;
        let kept = self.remote.kept(&self.location, &version)?;
        kept.iter().for_each(|kept| kept.store(0, &head));
        let file = RemoteFile {
            remote: self.remote,
            address: self.address,
            location: self.location,
            version,
            number: NUMBER.fetch_add(1, Relaxed),
            kept,
            sequence: PerProcess::new(),
            tables: Default::default(),
            generation: AtomicUsize::new(0),
            table_bytes: AtomicU64::new(0),
        };
        if !head.is_empty() {
            let range = 0..head.len() as u64;
            file.remote.blocks().insert(file.number, range, Pending::here(head), file.remote.memory_bytes());
        }
        Ok(file)
    }
}

impl RemoteFile {
    pub fn len(&self) -> u64 {
        self.version.length
    }

    pub fn remote(&self) -> &Arc<Remote> {
        &self.remote
    }

    /// The text that tells its version from others: the ETag, or the time of the last change if the server sends no
    /// ETag. Empty if the server sends neither.
    pub fn version(&self) -> &str {
        &self.version.tag
    }

    /// Replaces the contents of `buffer` with a range of the object. If the range is not on this machine, it is fetched
    /// now, together with the range that `around` returns, which will be read next.
    pub fn read(&self, range: Range<u64>, around: impl FnOnce() -> Range<u64>, buffer: &mut Vec<u8>) -> Result<()> {
        if range.start > range.end || range.end > self.len() {
            return Err(Error::format("record-bounds", "the range is not in the file")
                .file(&self.location)
                .at(range.start)
                .expected(format!("at most {} bytes", self.len()))
                .found(format!("bytes {} to {}", range.start, range.end)));
        }
        self.read_on(&range)?;
        if self.read_here(&range, buffer)? {
            return Ok(());
        }
        stop::check()?;
        self.ask(&[self.around(&range, around())])?;
        if self.read_here(&range, buffer)? {
            return Ok(());
        }
        // Blocks of other readers took the room before this one was read.
        let bytes = self.remote.wait(&self.start(range)?)?;
        copy([&bytes[..]], buffer)
    }

    /// Reads a range that is in memory, on its way, or in the cache on disk. Returns whether it was one of these.
    fn read_here(&self, range: &Range<u64>, buffer: &mut Vec<u8>) -> Result<bool> {
        let blocks = self.remote.blocks().covering(self.number, range);
        let Some(blocks) = blocks else {
            return self.kept.as_ref().map_or(Ok(false), |kept| kept.read(range.clone(), buffer));
        };
        let mut parts = Vec::new();
        for (start, bytes) in blocks {
            parts.push((start, self.remote.wait(&bytes)?));
        }
        let part = |(start, bytes): &(u64, Arc<Vec<u8>>)| {
            let end = start + bytes.len() as u64;
            (range.start.max(*start) - start) as usize..(range.end.min(end).max(*start) - start) as usize
        };
        copy(parts.iter().map(|found| &found.1[part(found)]), buffer)?;
        Ok(true)
    }

    /// Asks for ranges that will be read soon, and that are not on this machine.
    pub fn ask(&self, ranges: &[Range<u64>]) -> Result<()> {
        let is_new = |range: &&Range<u64>| !self.remote.blocks().missing(self.number, range).is_empty();
        let new = ranges.iter().filter(|range| range.start < range.end).filter(is_new);
        let wanted = new.filter(|range| !self.is_kept(range)).cloned().collect();
        let mut blocks = self.remote.blocks();
        for range in merged(wanted) {
            let missing = blocks.missing(self.number, &range);
            for piece in missing.into_iter().flat_map(|range| pieces(range, REQUEST_BYTES * 3 / 2)) {
                let bytes = self.start(piece.clone())?;
                blocks.insert(self.number, piece, bytes, self.remote.memory_bytes());
            }
        }
        Ok(())
    }

    /// Returns the range of the request for a range that is read without a plan. It doubles along a sequence of reads.
    fn around(&self, range: &Range<u64>, around: Range<u64>) -> Range<u64> {
        let is_around = around.start <= range.start && around.end >= range.end;
        let around = if is_around { around } else { range.clone() };
        let mut sequence = self.sequence.lock();
        let (end, size) = *sequence;
        // The last block may end with a whole page, in which this range begins.
        let follows = (end.saturating_sub(PAGE_BYTES)..=end).contains(&range.start) && size > 0;
        let grown = if follows { (size * 2).min(REQUEST_BYTES) } else { 0 };
        let end = around.end.min(around.start.saturating_add(REQUEST_BYTES)).max(range.end);
        let end = end.max(range.start.saturating_add(grown)).min(self.len());
        *sequence = (end, end - around.start);
        around.start..end
    }

    /// Asks for the next block of a sequence of reads that has reached the last one.
    fn read_on(&self, range: &Range<u64>) -> Result<()> {
        let mut sequence = self.sequence.lock();
        let (end, size) = *sequence;
        let is_last = size >= REQUEST_BYTES / 2 && (end - size..end).contains(&range.start) && end < self.len();
        if !is_last {
            return Ok(());
        }
        let next = end..end.saturating_add(REQUEST_BYTES).min(self.len());
        *sequence = (next.end, next.end - next.start);
        drop(sequence);
        self.ask(&[next])
    }

    /// Starts one request. The cache on disk has its bytes when it is over.
    pub(super) fn start(&self, range: Range<u64>) -> Result<Bytes> {
        let (client, kept, version) = (self.remote.client(&self.address)?, self.kept.clone(), self.version.clone());
        let request = Request::read(&self.location, &self.address.key, range.end - range.start);
        Pending::start(async move {
            let start = range.start;
            let bytes = Arc::new(client.fetch(&request, Part::Range(range), Some(&version)).await?.0);
            if let Some(kept) = kept {
                let of_disk = bytes.clone();
                // Writing may take long, so it happens on another thread. Other answers arrive meanwhile.
                let _ = tokio::task::spawn_blocking(move || kept.store(start, &of_disk)).await;
            }
            Ok(bytes)
        })
    }

    /// Asks for a range with one request, for a caller that has other work while it waits.
    pub fn request(self: &Arc<Self>, range: Range<u64>) -> Result<RangeRequest> {
        Ok(RangeRequest { file: self.clone(), pending: self.start(range)? })
    }

    /// Whether the cache on disk has all of a range.
    pub fn is_kept(&self, range: &Range<u64>) -> bool {
        self.kept.as_ref().is_some_and(|kept| kept.has(range))
    }

    fn tables(&self) -> Result<&FillOnce> {
        let place = &self.tables[self.generation.load(Acquire)];
        if let Some(tables) = place.get() {
            return Ok(tables);
        }
        let (new, mut head) = (FillOnce::new(self.len())?, Vec::new());
        if self.read_here(&(0..PAGE_BYTES.min(self.len())), &mut head)? {
            new.fill(0, &head);
        }
        Ok(place.get_or_init(|| new))
    }
}

impl ReadAt for Arc<RemoteFile> {
    fn len(&self) -> u64 {
        self.version.length
    }

    fn slice(&self, range: Range<u64>) -> Result<Option<&[u8]>> {
        if range.start > range.end || range.end > self.version.length {
            return Ok(None);
        }
        // More than one round is needed if another thread forgets what this one has fetched.
        for _ in 0..4 {
            if let Some(bytes) = self.tables()?.get(range.clone()) {
                return Ok(Some(bytes));
            }
            self.prefetch(std::slice::from_ref(&range))?;
        }
        Err(Error::lost("the range did not stay in memory").file(&self.location).at(range.start))
    }

    fn copy(&self, range: Range<u64>, around: &mut dyn FnMut() -> Range<u64>, buffer: &mut Vec<u8>) -> Result<()> {
        self.read(range, around, buffer)
    }

    /// Each request asks for a little more than is needed, in proportion to the bytes that were asked for before.
    fn prefetch(&self, ranges: &[Range<u64>]) -> Result<()> {
        let tables = self.tables()?;
        let unit = (self.table_bytes.load(Relaxed) / 16).clamp(PAGE_BYTES, MOST_TABLE_BYTES);
        let unit = unit / PAGE_BYTES * PAGE_BYTES;
        let missing = ranges.iter().filter(|range| range.start < range.end && tables.get((*range).clone()).is_none());
        let units =
            missing.map(|range| range.start / unit * unit..range.end.next_multiple_of(unit).min(self.version.length));
        let wanted = merged(units.collect());
        self.table_bytes.fetch_add(wanted.iter().map(|range| range.end - range.start).sum(), Relaxed);
        self.ask(&wanted)?;
        let mut bytes = Vec::new();
        for piece in wanted.into_iter().flat_map(|range| pieces(range, REQUEST_BYTES)) {
            self.read(piece.clone(), || piece.clone(), &mut bytes)?;
            tables.fill(piece.start, &bytes);
        }
        Ok(())
    }

    fn forget(&self, range: &Range<u64>) -> bool {
        self.remote.blocks().forget(self.number, range);
        self.kept.iter().for_each(|kept| kept.forget(range));
        true
    }

    fn generation(&self) -> usize {
        self.generation.load(Acquire)
    }

    /// This is possible only once. Borrowed bytes stay valid.
    fn forget_slices(&self, seen: usize) -> bool {
        let is_first = self.generation.compare_exchange(0, 1, AcqRel, Acquire).is_ok();
        if is_first {
            self.forget(&(0..self.version.length));
        }
        // Another thread may have read the same bytes, and forgotten them first.
        is_first || seen == 0
    }
}

impl dyn ReadAt {
    /// The remote file, if it is one.
    pub fn remote(&self) -> Option<&Arc<RemoteFile>> {
        (self as &dyn Any).downcast_ref()
    }
}

/// A range of an object that is on its way.
pub struct RangeRequest {
    file: Arc<RemoteFile>,
    pending: Bytes,
}

impl RangeRequest {
    /// Waits for the bytes. Calls `tick` at intervals; an error of `tick` ends the wait.
    pub fn wait(self, tick: &mut dyn FnMut() -> Result<()>) -> Result<Arc<Vec<u8>>> {
        let remote = self.file.remote();
        remote.wait_for(&self.pending, remote.patience(), Some(tick))
    }
}

impl Drop for RemoteFile {
    fn drop(&mut self) {
        self.remote.blocks().close(self.number);
    }
}

fn copy<'a>(from: impl IntoIterator<Item = &'a [u8]> + Clone, to: &mut Vec<u8>) -> Result<()> {
    to.clear();
    allocation::reserve(to, from.clone().into_iter().map(<[u8]>::len).sum(), "a record")?;
    from.into_iter().for_each(|part| to.extend_from_slice(part));
    Ok(())
}

/// Sorts ranges, and merges those that touch or overlap.
fn merged(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Splits a range into as few pieces of at most `most` bytes as possible, all but the last of whole pages and about
/// the same size.
fn pieces(range: Range<u64>, most: u64) -> impl Iterator<Item = Range<u64>> {
    let (start, end) = (range.start, range.end);
    let count = (end - start).div_ceil(most).max(1);
    let each = (end - start).div_ceil(count).next_multiple_of(PAGE_BYTES).max(1);
    (0..).map(move |i| start + i * each).take_while(move |&at| at < end).map(move |at| at..(at + each).min(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::storage::Storage;

    #[test]
    fn all_threads_that_read_a_wrong_table_may_read_it_once_more() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x"), [1; 10_000]).unwrap();
        let server = fault_proxy::Origin::serve(folder.path()).unwrap();
        let remote = Remote::new(&Storage::default()).unwrap();
        let location = PathBuf::from(format!("{}/x", server.url()));
        let file = Opening::start(&remote, &location, false).unwrap().finish().unwrap();
        let file = Arc::new(file);
        let seen = file.generation();
        assert_eq!(file.slice(0..10_000).unwrap(), Some(&[1; 10_000][..]));
        assert!(file.forget_slices(seen), "a thread finds that they are wrong");
        assert!(file.forget_slices(seen), "and another one, which read the same");
        assert_eq!(file.slice(0..10_000).unwrap(), Some(&[1; 10_000][..]));
        assert!(!file.forget_slices(file.generation()), "but not those that were fetched again");
    }
}
