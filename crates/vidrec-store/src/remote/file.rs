//! One version of one object. It is read at ranges, as a file is.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{
    AtomicBool, AtomicU64, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use std::sync::{Arc, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::attempt::Version;
use super::cached_pages::{CachedPages, Missing, copy};
use super::fetch::{FetchError, Link, Target};
use super::fill_once::{BLOCK_BYTES, FillOnce};
use super::per_process::PerProcess;
use super::prefetched::{Found, Prefetched};
use super::promise::Pending;
use super::recent::Recent;
use super::remote::Remote;
use super::runtime;
use super::sink::{Sink, Stretch};
use super::sizes::REQUEST_BYTES;
use super::url::Address;
use super::wanted::{RunFrom, Wanted};
use vidrec_format::error::{Error, Result};
use vidrec_format::{allocation, stop};

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// The length of the object's head, which arrives with the request that binds its version.
const HEAD_BYTES: u64 = BLOCK_BYTES;
/// The largest unit to which reads of tables are rounded up.
const MOST_TABLE_BYTES: u64 = 1 << 20;

/// An object that is open for reading. All reads are of the version that it had when it was opened.
#[derive(Debug)]
pub struct RemoteFile {
    remote: Arc<Remote>,
    address: Address,
    target: Target,
    length: u64,
    head: Vec<u8>,
    /// Whether bytes of the head proved wrong, so that all of them are fetched where they are needed.
    is_head_wrong: AtomicBool,
    /// The number of this file among all files of the process.
    number: u64,
    held: PerProcess<Prefetched>,
    kept: Option<CachedPages>,
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
        Self::start_with(remote, location, if is_empty { 0 } else { HEAD_BYTES })
    }

    /// Like [`start`](Self::start), with `head_bytes` bytes of the object's beginning.
    pub fn start_with(remote: &Arc<Remote>, location: &Path, head_bytes: u64) -> Result<Self> {
        let address = Address::of(location)?;
        let link = remote.link(&address)?;
        let target = Target { location: location.to_owned(), key: address.key.clone(), version: None };
        let head = remote.start(async move {
            // An empty object has no range to ask for.
            let range = if head_bytes == 0 { Err(0) } else { Ok(0..head_bytes) };
            let found = match link.fetch(&target, range, Sink::all(0)).await {
                Err(e) if e.is_beyond_end() => link.fetch(&target, Err(0), Sink::all(0)).await,
                found => found,
            };
            let (sink, version) = found?;
            let bytes = sink.into_stretches().pop().map(|stretch| stretch.bytes).unwrap_or_default();
            Ok((Arc::new(bytes), version))
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
        let target = Target { location: self.location, key: self.address.key.clone(), version: Some(version.clone()) };
        Ok(RemoteFile {
            remote: self.remote,
            address: self.address,
            target,
            length: version.length,
            head: Arc::unwrap_or_clone(head),
            is_head_wrong: AtomicBool::new(false),
            number: NUMBER.fetch_add(1, Relaxed),
            held: PerProcess::new(),
            kept,
            tables: Default::default(),
            generation: AtomicUsize::new(0),
            table_bytes: AtomicU64::new(0),
        })
    }
}

impl RemoteFile {
    pub fn len(&self) -> u64 {
        self.length
    }

    pub fn remote(&self) -> &Arc<Remote> {
        &self.remote
    }

    /// The text that tells its version from others: the ETag, or the time of the last change if the server sends no
    /// ETag. Empty if the server sends neither.
    pub fn version(&self) -> &str {
        self.target.version.as_ref().map_or("", |version| &version.tag)
    }

    /// The first bytes, which arrived when the object was opened.
    pub(super) fn head(&self) -> &[u8] {
        &self.head
    }

    /// The error about an answer that has fewer bytes than its request asked for.
    pub(super) fn gone(&self, range: &Range<u64>) -> Error {
        self.fault(range, "the answer is shorter than the requested range")
    }

    /// Reads a range of the object into memory that lasts as long as this value. Meant for the parts of an index.
    pub fn table(&self, range: Range<u64>) -> Result<&[u8]> {
        // More than one round is needed if another thread forgets what this one has fetched.
        for _ in 0..4 {
            if let Some(bytes) = self.kept.as_ref().and_then(|kept| kept.get(&range)) {
                return Ok(bytes);
            }
            if let Some(bytes) = self.tables()?.get(range.clone()) {
                return Ok(bytes);
            }
            self.fetch_tables(std::slice::from_ref(&range))?;
        }
        Err(self.fault(&range, "the range did not stay in memory"))
    }

    fn tables(&self) -> Result<&FillOnce> {
        let generation = self.generation();
        if let Some(tables) = self.tables[generation].get() {
            return Ok(tables);
        }
        let new = FillOnce::new(self.length)?;
        if generation == 0 {
            new.fill(0, &self.head);
        }
        Ok(self.tables[generation].get_or_init(|| new))
    }

    /// Fetches parts of tables, so that [`table`](Self::table) finds them. It sends several requests at a time. Each
    /// asks for a little more than is needed, in proportion to the bytes that were asked for before.
    pub fn fetch_tables(&self, ranges: &[Range<u64>]) -> Result<()> {
        let tables = self.tables()?;
        let unit = (self.table_bytes.load(Relaxed) / 16).clamp(BLOCK_BYTES, MOST_TABLE_BYTES);
        let unit = unit / BLOCK_BYTES * BLOCK_BYTES;
        let is_kept = |range: &Range<u64>| self.kept.as_ref().is_some_and(|kept| kept.get(range).is_some());
        let is_missing =
            |range: &&Range<u64>| range.start < range.end && tables.get((*range).clone()).is_none() && !is_kept(range);
        let whole = |range: &Range<u64>| range.start / unit * unit..range.end.next_multiple_of(unit).min(self.length);
        let wanted = ranges.iter().filter(is_missing).map(whole).collect();
        let wanted: Vec<_> = merged(wanted).into_iter().flat_map(|range| pieces(range, REQUEST_BYTES)).collect();
        self.table_bytes.fetch_add(wanted.iter().map(|range| range.end - range.start).sum(), Relaxed);
        let (mut pending, mut kept_later) = (Vec::new(), Vec::new());
        for range in &wanted {
            match self.kept.as_ref().map(|kept| kept.claim(range)) {
                Some(Missing::Fetch(pages)) => {
                    for pages in pages {
                        kept_later.push(self.start_kept(pages)?);
                    }
                }
                _ => pending.push(self.start(range.clone())?),
            }
        }
        for pending in &pending {
            for stretch in &*self.remote.wait(pending)? {
                tables.fill(stretch.range.start, &stretch.bytes);
            }
        }
        kept_later.iter().try_for_each(|kept| self.remote.wait(kept))?;
        let Some(kept) = &self.kept else { return Ok(()) };
        for range in wanted {
            kept.wait(&range, self.remote.patience());
            // Another process gave the pages up, or there was no room for them.
            if kept.get(&range).is_none() && tables.get(range.clone()).is_none() {
                let bytes = self.remote.wait(&self.start(range)?)?;
                bytes.iter().for_each(|stretch| tables.fill(stretch.range.start, &stretch.bytes));
            }
        }
        Ok(())
    }

    /// Starts one request for pages that the cache will keep. Its result says whether they arrived.
    fn start_kept(&self, pages: Range<u64>) -> Result<Pending<()>> {
        let claimed = self.kept.clone().map(|kept| Claimed(kept, Some(pages.clone())));
        let (link, target) = (self.remote.link(&self.address)?, self.target.clone());
        self.remote.start(async move {
            let sink = Sink::new(pages.start, [pages.clone()]);
            let mut stretches = fetch(&link, &target, pages, sink).await?;
            if let Some(claimed) = claimed {
                claimed.store(&stretches.pop().map(|stretch| stretch.bytes).unwrap_or_default());
            }
            Ok(())
        })
    }

    /// Replaces the contents of `buffer` with a range of the object. If the range is not in memory, it is fetched
    /// now, together with the range that `around` returns, which will be read next.
    pub fn read(&self, range: Range<u64>, around: impl FnOnce() -> Range<u64>, buffer: &mut Vec<u8>) -> Result<()> {
        if range.start > range.end || range.end > self.length {
            return Err(Error::format("record-bounds", "the range is not in the file")
                .file(&self.target.location)
                .at(range.start)
                .expected(format!("at most {} bytes", self.length))
                .found(format!("bytes {} to {}", range.start, range.end)));
        }
        if self.is_in_head(&range) {
            return copy(&self.head[range.start as usize..range.end as usize], buffer);
        }
        let waited = |time| self.remote.counters.waited(time);
        match self.held.get().read(&range, buffer, self.remote.until(), waited)? {
            Found::Read => return Ok(()),
            Found::Failed(e) => return Err(e.error()),
            Found::Absent => {}
        }
        if self.read_kept(&range, buffer)? {
            return Ok(());
        }
        stop::check()?;
        let around = around();
        let is_around = around.start <= range.start && around.end >= range.end;
        let around = if is_around { around.start..around.end.min(self.length) } else { range.clone() };
        let is_begun = self.lock_recent().has(self.number, &range);
        if !is_begun && let Some(kept) = self.keep(&around)? {
            if self.read_kept(&range, buffer)? {
                return Ok(());
            }
            // After a failure, another request would take as long to fail.
            kept.iter().try_for_each(|kept| self.remote.wait(kept))?;
        }
        let read = self.read_recent(&range, around, buffer);
        if read.is_err() {
            self.lock_recent().forget(self.number, &range);
        }
        read
    }

    /// Whether a range came with the request that opened the object, and nobody has forgotten it.
    fn is_in_head(&self, range: &Range<u64>) -> bool {
        range.end <= self.head.len() as u64 && !self.is_head_wrong.load(Acquire)
    }

    fn read_kept(&self, range: &Range<u64>, buffer: &mut Vec<u8>) -> Result<bool> {
        self.kept.as_ref().map_or(Ok(false), |kept| kept.read(range, self.remote.until(), buffer))
    }

    /// Starts to fetch a range into the cache. Returns the requests for it, or `None` if there is no room.
    fn keep(&self, range: &Range<u64>) -> Result<Option<Vec<Pending<()>>>> {
        // At most one request's worth of bytes: a cache would gain nothing from more.
        let range = range.start..range.end.min(range.start.saturating_add(REQUEST_BYTES));
        let Some(Missing::Fetch(pages)) = self.kept.as_ref().map(|kept| kept.claim(&range)) else { return Ok(None) };
        pages.into_iter().map(|pages| self.start_kept(pages)).collect::<Result<_>>().map(Some)
    }

    /// Reads a range from the stretches that were read last, or from new ones.
    fn read_recent(&self, range: &Range<u64>, around: Range<u64>, buffer: &mut Vec<u8>) -> Result<()> {
        let file = (self.number, self.length);
        let stretches = self.lock_recent().find(file, range, around, |range| self.start_bytes(range))?;
        buffer.clear();
        allocation::reserve(buffer, (range.end - range.start) as usize, "a record")?;
        for (stretch, pending) in stretches {
            let bytes = self.remote.wait(&pending)?;
            let (from, to) = (range.start.max(stretch.start), range.end.min(stretch.end));
            buffer.extend_from_slice(&bytes[(from - stretch.start) as usize..(to - stretch.start) as usize]);
        }
        Ok(())
    }

    /// Asks for a range that will be read soon.
    pub fn begin(&self, range: Range<u64>) -> Result<()> {
        if range.start >= range.end || self.is_in_head(&range) {
            return Ok(());
        }
        if self.keep(&range)?.is_some() {
            return Ok(());
        }
        self.lock_recent().begin(self.number, range, &|range| self.start_bytes(range))
    }

    fn start_bytes(&self, range: Range<u64>) -> Result<Pending<Arc<Vec<u8>>>> {
        let (link, target) = (self.remote.link(&self.address)?, self.target.clone());
        self.remote.start(async move {
            let sink = Sink::new(range.start, [range.clone()]);
            let (sink, _) = link.fetch(&target, Ok(range), sink).await?;
            Ok(Arc::new(sink.into_stretches().pop().map(|stretch| stretch.bytes).unwrap_or_default()))
        })
    }

    /// Forgets the bytes of a range, because they proved wrong: the next read fetches them again. Returns whether
    /// that was possible.
    pub fn forget(&self, range: &Range<u64>) -> bool {
        if range.start < self.head.len() as u64 {
            self.is_head_wrong.store(true, Release);
        }
        self.held.get().forget(range);
        self.kept.iter().for_each(|kept| kept.forget(range));
        self.lock_recent().forget(self.number, range);
        true
    }

    fn lock_recent(&self) -> MutexGuard<'_, Recent> {
        self.remote.recent.get().lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often the tables were forgotten.
    pub fn generation(&self) -> usize {
        self.generation.load(Acquire)
    }

    /// Like [`forget`](Self::forget), for all tables of the object. `seen` is the generation in which the wrong bytes
    /// were read. This is possible only once. Borrowed bytes stay valid.
    pub fn forget_tables(&self, seen: usize) -> bool {
        let is_first = self.generation.compare_exchange(0, 1, AcqRel, Acquire).is_ok();
        if is_first {
            self.kept.iter().for_each(|kept| kept.forget(&(0..self.length)));
        }
        // Another thread may have read the same bytes, and forgotten them first.
        is_first || seen == 0
    }

    /// Starts one request for a range.
    pub(super) fn start(&self, range: Range<u64>) -> Result<Pending<Arc<Vec<Stretch>>>> {
        let (link, target) = (self.remote.link(&self.address)?, self.target.clone());
        self.remote.start(async move {
            let sink = Sink::new(range.start, [range.clone()]);
            let (sink, _) = link.fetch(&target, Ok(range), sink).await?;
            Ok(Arc::new(sink.into_stretches()))
        })
    }

    /// Returns how a run of records reaches its reader.
    pub fn find(&self, run: &Range<u64>) -> RunFrom {
        match &self.kept {
            Some(kept) if kept.get(run).is_some() => RunFrom::Here,
            Some(kept) => match kept.claim(run) {
                Missing::Fetch(pages) => RunFrom::Keep(pages),
                Missing::NoRoom => RunFrom::Hold,
            },
            None => RunFrom::Hold,
        }
    }

    /// Whether the cache has all of a range.
    pub fn is_kept(&self, range: &Range<u64>) -> bool {
        self.kept.as_ref().is_some_and(|kept| kept.get(range).is_some())
    }

    /// Like [`is_kept`](Self::is_kept), for a part of a table. The first bytes of the object arrive when it is
    /// opened.
    pub fn is_table_kept(&self, range: &Range<u64>) -> bool {
        range.start >= range.end || range.end <= self.head.len() as u64 || self.is_kept(range)
    }

    /// Waits at most `at_most` until no process fetches pages of a range for the cache. Returns whether that is so.
    pub fn is_settled_within(&self, range: &Range<u64>, at_most: Duration) -> bool {
        let begin = Instant::now();
        let is_settled = self.kept.as_ref().is_none_or(|kept| kept.wait(range, at_most));
        self.remote.counters.waited(begin.elapsed());
        is_settled
    }

    /// Registers one more batch that needs a run of records. Returns whether the caller must ask for the run.
    pub fn hold(&self, run: &Range<u64>) -> bool {
        self.held.get().hold(run)
    }

    /// Gives up pages of the cache that [`find`](Self::find) returned and that nobody will ask for.
    pub fn give_up(&self, pages: &Range<u64>) {
        self.kept.iter().for_each(|kept| kept.give_up(pages.clone()));
    }

    /// Removes a run of records from the cache. Returns how many bytes there is room for now.
    pub fn evict(&self, run: &Range<u64>) -> u64 {
        self.kept.as_ref().map_or(0, |kept| kept.evict(run))
    }

    /// Unregisters a batch that needed a run and is done.
    pub fn release(&self, run: &Range<u64>) {
        self.remote.memory().give(self.held.get().release(run));
    }

    /// Starts one request for several parts. They are in order, do not overlap, and lie near each other. The caller
    /// has taken memory for their bytes.
    pub fn fetch_wanted(self: &Arc<Self>, parts: Vec<Wanted>) -> Result<()> {
        let is_wanted = |part: &Wanted| match part {
            Wanted::Hold(run) => self.held.get().coming(run),
            Wanted::Keep(_) => true,
        };
        let (wanted, dropped): (Vec<_>, Vec<_>) = parts.into_iter().partition(is_wanted);
        self.remote.memory().give(dropped.iter().map(Wanted::bytes).sum());
        let Some((first, last)) = wanted.first().zip(wanted.last()) else { return Ok(()) };
        let range = first.range().start..last.range().end;
        let answer = Answering { file: self.clone(), parts: wanted };
        let link = self.remote.link(&self.address)?;
        runtime::handle()?.spawn(async move {
            let sink = Sink::new(range.start, answer.parts.iter().map(|part| part.range().clone()));
            let fetched = link.fetch_if(|| answer.is_needed(), &answer.file.target, range, sink).await;
            let Some(found) = fetched else { return answer.give_back() };
            let found = found.map(|(sink, _)| sink.into_stretches());
            if answer.file.kept.is_some() {
                // Writing to the disk may take long, so it happens on another thread. Other answers arrive meanwhile.
                tokio::task::spawn_blocking(move || answer.give(found));
            } else {
                answer.give(found);
            }
        });
        Ok(())
    }

    fn fault(&self, range: &Range<u64>, what: &str) -> Error {
        Error::lost(what).file(&self.target.location).at(range.start)
    }
}

/// The parts that a request fetches. However the request ends, those who wait for them are told.
struct Answering {
    file: Arc<RemoteFile>,
    parts: Vec<Wanted>,
}

impl Answering {
    fn give(mut self, found: Result<Vec<Stretch>, FetchError>) {
        let parts = std::mem::take(&mut self.parts);
        match found {
            Ok(stretches) => {
                parts.iter().zip(stretches).for_each(|(part, stretch)| self.give_one(part, Ok(stretch.bytes)))
            }
            Err(e) => parts.iter().for_each(|part| self.give_one(part, Err(e.clone()))),
        }
    }

    /// Whether a batch still needs one of the parts, or the cache keeps it.
    fn is_needed(&self) -> bool {
        self.parts.iter().any(|part| match part {
            Wanted::Hold(run) => self.file.held.get().is_needed(run),
            Wanted::Keep(_) => true,
        })
    }

    /// Returns the memory of parts that no batch needs and that were not asked for.
    fn give_back(mut self) {
        self.file.remote.memory().give(std::mem::take(&mut self.parts).iter().map(Wanted::bytes).sum());
    }

    fn give_one(&self, part: &Wanted, bytes: Result<Vec<u8>, FetchError>) {
        match part {
            Wanted::Hold(run) => {
                if !self.file.held.get().arrived(run, bytes) {
                    self.file.remote.memory().give(part.bytes());
                }
            }
            Wanted::Keep(pages) => {
                match (&self.file.kept, &bytes) {
                    (Some(kept), Ok(bytes)) => kept.store(pages, bytes),
                    _ => self.file.give_up(pages),
                }
                self.file.remote.memory().give(part.bytes());
            }
        }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        let e = FetchError::lost(&self.file.target.location);
        std::mem::take(&mut self.parts).iter().for_each(|part| self.give_one(part, Err(e.clone())));
    }
}

/// Claimed pages of the cache. They are given up on drop, unless they were stored.
struct Claimed(CachedPages, Option<Range<u64>>);

impl Claimed {
    fn store(mut self, bytes: &[u8]) {
        self.1.take().iter().for_each(|pages| self.0.store(pages, bytes));
    }
}

impl Drop for Claimed {
    fn drop(&mut self) {
        self.1.take().into_iter().for_each(|pages| self.0.give_up(pages));
    }
}

async fn fetch(link: &Link, target: &Target, range: Range<u64>, sink: Sink) -> Result<Vec<Stretch>, FetchError> {
    Ok(link.fetch(target, Ok(range), sink).await?.0.into_stretches())
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

/// Splits a range into pieces of at most `most` bytes.
pub(super) fn pieces(range: Range<u64>, most: u64) -> impl Iterator<Item = Range<u64>> {
    let end = range.end;
    range.step_by(most as usize).map(move |at| at..at.saturating_add(most).min(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_that_read_a_wrong_table_may_read_it_once_more() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x"), [1; 10_000]).unwrap();
        let server = fault_proxy::Origin::serve(folder.path()).unwrap();
        let remote = Remote::new(&crate::storage::Storage::default()).unwrap();
        let location = PathBuf::from(format!("{}/x", server.url()));
        let file = Opening::start(&remote, &location, false).unwrap().finish().unwrap();
        let seen = file.generation();
        assert_eq!(file.table(0..10_000).unwrap(), [1; 10_000]);
        assert!(file.forget_tables(seen), "a thread finds that they are wrong");
        assert!(file.forget_tables(seen), "and another one, which read the same");
        assert_eq!(file.table(0..10_000).unwrap(), [1; 10_000]);
        assert!(!file.forget_tables(file.generation()), "but not those that were fetched again");
    }

    #[test]
    fn ranges_are_merged_and_cut() {
        assert_eq!(merged(vec![5..7, 0..2, 2..3, 6..9]), [0..3, 5..9]);
        assert!(pieces(3..13, 4).eq([3..7, 7..11, 11..13]));
        assert_eq!(pieces(3..3, 4).count(), 0);
    }
}
