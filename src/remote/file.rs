//! One version of one object, read at ranges as a file is.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed},
};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::attempt::Version;
use super::fetch::{FetchError, Link, Target};
use super::fill_once::{BLOCK_BYTES, FillOnce};
use super::held::{Found, Held};
use super::recent::Recent;
use super::remote::{Pending, Remote};
use super::sink::{Sink, Stretch};
use super::url::Address;
use crate::{Error, Result, allocation};

/// The first bytes of an object, which the request that binds its version brings.
const HEAD_BYTES: u64 = BLOCK_BYTES;
/// The most that one request asks for.
pub(crate) const REQUEST_BYTES: u64 = 8 << 20;
/// The most that a read of tables brings more than asked for.
const MOST_TABLE_BYTES: u64 = 1 << 20;

/// An object, open for reading. Everything that is read is of the version that it had when it was opened.
#[derive(Debug)]
pub(crate) struct RemoteFile {
    remote: Arc<Remote>,
    address: Address,
    target: Target,
    length: u64,
    head: Vec<u8>,
    held: Held,
    recent: Mutex<Recent>,
    /// What was read of tables. The second is used when what is in the first proved wrong.
    tables: [OnceLock<FillOnce>; 2],
    generation: AtomicUsize,
    /// Bytes of tables that were fetched so far.
    table_bytes: AtomicU64,
}

/// An object that is being opened.
pub(crate) struct Opening {
    remote: Arc<Remote>,
    address: Address,
    location: PathBuf,
    head: Pending<(Arc<Vec<u8>>, Version)>,
}

impl Opening {
    /// Starts to open the object at `location`. `is_empty` says that it is known to be.
    pub fn start(remote: &Arc<Remote>, location: &Path, is_empty: bool) -> Result<Self> {
        let address = Address::of(location)?;
        let link = remote.link(&address)?;
        let target = Target { location: location.to_owned(), key: address.key.clone(), version: None };
        let head = remote.start(async move {
            // There is no range in nothing.
            let range = if is_empty { Err(0) } else { Ok(0..HEAD_BYTES) };
            let (sink, version) = link.fetch(&target, range, Sink::all(0)).await?;
            let bytes = sink.into_stretches().pop().map(|stretch| stretch.bytes).unwrap_or_default();
            Ok((Arc::new(bytes), version))
        })?;
        Ok(Opening { remote: remote.clone(), address, location: location.to_owned(), head })
    }

    /// Waits, and says whether the answer is here, whatever it is.
    pub fn is_here_within(&self, time: Duration) -> bool {
        self.head.is_here_within(time)
    }

    /// Waits until the object is open. `None` if there is none.
    pub fn finish(self) -> Result<RemoteFile> {
        let (head, version) = self.remote.wait(&self.head)?;
        let target = Target { location: self.location, key: self.address.key.clone(), version: Some(version.clone()) };
        Ok(RemoteFile {
            remote: self.remote,
            address: self.address,
            target,
            length: version.length,
            head: Arc::unwrap_or_clone(head),
            held: Held::default(),
            recent: Mutex::default(),
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

    /// A range of the object, in memory that stays. For the parts of an index: what is read stays as long as this.
    pub fn table(&self, range: Range<u64>) -> Result<&[u8]> {
        // Twice, if another thread forgets what this one has fetched.
        for _ in 0..4 {
            if let Some(bytes) = self.tables()?.get(range.clone()) {
                return Ok(bytes);
            }
            self.fetch_tables(std::slice::from_ref(&range))?;
        }
        Err(self.fault(&range, "the range did not stay in memory"))
    }

    fn tables(&self) -> Result<&FillOnce> {
        let generation = self.generation.load(Acquire);
        if let Some(tables) = self.tables[generation].get() {
            return Ok(tables);
        }
        let new = FillOnce::new(self.length)?;
        if generation == 0 {
            new.fill(0, &self.head);
        }
        Ok(self.tables[generation].get_or_init(|| new))
    }

    /// Brings parts of tables, so that [`table`](Self::table) finds them: several requests at a time, and each a little
    /// more than asked for, in proportion to what was asked for before.
    pub fn fetch_tables(&self, ranges: &[Range<u64>]) -> Result<()> {
        let tables = self.tables()?;
        let unit = (self.table_bytes.load(Relaxed) / 16).clamp(BLOCK_BYTES, MOST_TABLE_BYTES);
        let unit = unit / BLOCK_BYTES * BLOCK_BYTES;
        let is_missing = |range: &&Range<u64>| range.start < range.end && tables.get((*range).clone()).is_none();
        let whole = |range: &Range<u64>| range.start / unit * unit..range.end.next_multiple_of(unit).min(self.length);
        let wanted = ranges.iter().filter(is_missing).map(whole).collect();
        let wanted: Vec<_> = merged(wanted).into_iter().flat_map(|range| pieces(range, REQUEST_BYTES)).collect();
        self.table_bytes.fetch_add(wanted.iter().map(|range| range.end - range.start).sum(), Relaxed);
        let pending: Vec<_> = wanted.into_iter().map(|range| self.start(range)).collect::<Result<_>>()?;
        for pending in &pending {
            for stretch in &*self.remote.wait(pending)? {
                tables.fill(stretch.range.start, &stretch.bytes);
            }
        }
        Ok(())
    }

    /// Replaces the contents of `buffer` with a range of the object. If it is not in memory, it is fetched now, with what
    /// `around` says will be read next.
    pub fn read(&self, range: Range<u64>, around: impl FnOnce() -> Range<u64>, buffer: &mut Vec<u8>) -> Result<()> {
        if range.start > range.end || range.end > self.length {
            return Err(Error::format("record-bounds", "the range is not in the file")
                .file(&self.target.location)
                .at(range.start)
                .expected(format!("at most {} bytes", self.length))
                .found(format!("bytes {} to {}", range.start, range.end)));
        }
        if range.end <= self.head.len() as u64 {
            return copy(&self.head[range.start as usize..range.end as usize], buffer);
        }
        let waited = |time| self.remote.counters.waited(time);
        match self.held.read(&range, buffer, self.remote.until(), waited)? {
            Found::Read => return Ok(()),
            Found::Failed(e) => return Err(e.error()),
            Found::Absent => {}
        }
        let around = around();
        let around = around.start.min(range.start)..around.end.max(range.end).min(self.length);
        let (at, bytes) = self.recent(&range, around)?;
        copy(&bytes[(range.start - at) as usize..(range.end - at) as usize], buffer)
    }

    /// A stretch that contains `range`: one of those that were read last, or a new one.
    fn recent(&self, range: &Range<u64>, around: Range<u64>) -> Result<(u64, Arc<Vec<u8>>)> {
        let start = |range: Range<u64>| {
            let begin = range.start;
            let (link, target) = (self.remote.link(&self.address)?, self.target.clone());
            self.remote.start(async move {
                let sink = Sink::new(begin, [range.clone()]);
                let (sink, _) = link.fetch(&target, Ok(range), sink).await?;
                Ok(Arc::new(sink.into_stretches().pop().map(|stretch| stretch.bytes).unwrap_or_default()))
            })
        };
        let recent = || self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let found = recent().find(range, around, self.length, start)?;
        let (at, pending) = found;
        let bytes = self.remote.wait(&pending);
        if bytes.is_err() {
            recent().forget(range);
        }
        Ok((at, bytes?))
    }

    /// Forgets the bytes of a range, which proved wrong: the next read fetches them. Returns whether that was possible.
    pub fn forget(&self, range: &Range<u64>) -> bool {
        self.held.forget(range);
        self.recent.lock().unwrap_or_else(PoisonError::into_inner).forget(range);
        true
    }

    /// As [`forget`](Self::forget), for all tables of the object. It is possible once; what was borrowed stays.
    pub fn forget_tables(&self) -> bool {
        self.generation.compare_exchange(0, 1, AcqRel, Acquire).is_ok()
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

    /// One more batch needs a run of records. Returns whether it must be asked for.
    pub fn hold(&self, run: &Range<u64>) -> bool {
        self.held.hold(run)
    }

    /// A batch that needed a run is done.
    pub fn release(&self, run: &Range<u64>) {
        self.remote.memory.give(self.held.release(run));
    }

    /// Starts one request for runs of records that were held: in order, without overlaps, and near each other. Their
    /// memory was taken.
    pub fn fetch_runs(self: &Arc<Self>, runs: Vec<Range<u64>>) -> Result<()> {
        let (wanted, dropped): (Vec<_>, Vec<_>) = runs.into_iter().partition(|run| self.held.coming(run));
        self.remote.memory.give(dropped.iter().map(|run| run.end - run.start).sum());
        let Some((first, last)) = wanted.first().zip(wanted.last()) else { return Ok(()) };
        let range = first.start..last.end;
        let link = match self.remote.link(&self.address) {
            Ok(link) => link,
            Err(e) => {
                let failed = FetchError::of(&self.target.location, &e);
                wanted.iter().for_each(|run| self.held.arrived(run, Err(failed.clone())));
                return Err(e);
            }
        };
        let file = self.clone();
        super::runtime::handle()?.spawn(async move {
            let sink = Sink::new(range.start, wanted.clone());
            match fetch(&link, &file.target, range, sink).await {
                Ok(stretches) => {
                    stretches.into_iter().for_each(|stretch| file.held.arrived(&stretch.range, Ok(stretch.bytes)));
                }
                Err(e) => wanted.iter().for_each(|run| file.held.arrived(run, Err(e.clone()))),
            }
        });
        Ok(())
    }

    fn fault(&self, range: &Range<u64>, what: &str) -> Error {
        Error::lost(what).file(&self.target.location).at(range.start)
    }
}

fn copy(from: &[u8], to: &mut Vec<u8>) -> Result<()> {
    to.clear();
    allocation::reserve(to, from.len(), "a record")?;
    to.extend_from_slice(from);
    Ok(())
}

async fn fetch(link: &Link, target: &Target, range: Range<u64>, sink: Sink) -> Result<Vec<Stretch>, FetchError> {
    Ok(link.fetch(target, Ok(range), sink).await?.0.into_stretches())
}

/// Ranges in order, those that touch or overlap as one.
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

/// A range in pieces of at most `most` bytes.
fn pieces(range: Range<u64>, most: u64) -> impl Iterator<Item = Range<u64>> {
    let end = range.end;
    range.step_by(most as usize).map(move |at| at..at.saturating_add(most).min(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_merged_and_cut() {
        assert_eq!(merged(vec![5..7, 0..2, 2..3, 6..9]), [0..3, 5..9]);
        assert!(pieces(3..13, 4).eq([3..7, 7..11, 11..13]));
        assert_eq!(pieces(3..3, 4).count(), 0);
    }
}
