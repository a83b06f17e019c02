//! Moves a data set to a place that is fast to read, and back.

use std::collections::VecDeque;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::dataset::prefetch::{SHARDS_AT_A_TIME, at_once};
use crate::dataset::{Dataset, Tables};
use crate::progress::{Progress, ProgressFn, tell};
use crate::store::disk::regular_file::{Advice, advise};
use crate::store::disk::regular_file::{Links, open_regular};
use crate::store::location::is_remote;
use crate::store::remote::{REQUEST_BYTES, RemoteFile};
use crate::store::storage::RemoteStats;
use vidrec_format::{Error, Hint, Result};

/// The most bytes that were asked for and are not proven yet.
const PENDING_BYTES: u64 = 16 * REQUEST_BYTES;
/// The time between two calls of the caller's callback while nothing arrives.
const TICK: Duration = Duration::from_millis(100);

/// The report of [`Dataset::warm`](crate::dataset::Dataset::warm). `vidrec cache warm --json` prints the same.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct WarmReport {
    /// Number of clips.
    pub clips: u64,
    /// Bytes of their records, or of all files if the data set is local.
    pub bytes: u64,
    /// Bytes of `bytes` that were in the cache before. Always 0 for local data sets.
    pub kept_bytes: u64,
    /// Number of clips that are not completely in the cache, because it has no room for them.
    pub missing_clips: u64,
    /// Bytes of the records, and of the indexes, that the cache has no room for.
    pub missing_bytes: u64,
    /// The most bytes that the cache may hold. `None` for local data sets.
    pub cache_bytes: Option<u64>,
    /// Counters of what was fetched so far, as in [`Dataset::remote_stats`](crate::dataset::Dataset::remote_stats).
    pub remote: RemoteStats,
}

impl Dataset {
    /// Reads the data set once, so that the next epoch reads it from a faster place. A local data set is then in the
    /// system's page cache. A remote one is in the [`cache`](crate::store::storage::Storage::cache) on local disk.
    ///
    /// For a local data set, this reads all files from start to end. That pays off if the disk is slow at random
    /// reads and the data set fits in memory. For a remote one, it fetches the records of all clips, or of those that
    /// [`select`](Self::select) chose, and their part of the indexes. It uses large requests. It compares every
    /// fetched byte with its checksum, and fetches wrong bytes once more. It skips bytes that are in the cache
    /// already, so the call resumes after an interruption. Bytes for which the cache has no room stay on the server,
    /// and the report counts them. An item of `progress` is a byte.
    ///
    /// ```no_run
    /// use vidrec::{Dataset, Storage};
    ///
    /// let storage = Storage { cache: Some("/scratch/vidrec".into()), ..Storage::default() };
    /// let train = Dataset::open_with("s3://bucket/train", storage)?;
    /// let report = train.warm(&mut vidrec::no_progress)?;
    /// assert_eq!(report.missing_bytes, 0, "the cache is too small");
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Io`](vidrec_format::error::ErrorKind::Io) if a file cannot be read, or the cache's disk is full or failing.
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage) if the data set is remote and has no cache.
    /// [`Format`](vidrec_format::error::ErrorKind::Format) if a fetched record or entry is damaged.
    /// [`Interrupted`](vidrec_format::error::ErrorKind::Interrupted) if `progress` stops the call.
    pub fn warm(&self, progress: &mut ProgressFn<'_>) -> Result<WarmReport> {
        if self.is_remote() {
            return warm_remote(self, progress);
        }
        let (mut so_far, mut buffer) = (Progress::default(), vec![0; 1 << 20]);
        for path in self.files() {
            read_through(path, &mut buffer, &mut |bytes| {
                so_far.done += bytes;
                so_far.bytes = so_far.done;
                tell(progress, &so_far)
            })?;
        }
        Ok(WarmReport { clips: self.len(), bytes: so_far.done, ..WarmReport::default() })
    }

    /// Asks the system to drop the files from the page cache, so that a measurement starts cold. Returns whether the
    /// system agreed for all files. Pages that any process has mapped and used stay, so call this before reading.
    ///
    /// # Errors
    ///
    /// [`Io`](vidrec_format::error::ErrorKind::Io) if a file cannot be opened.
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage) if the data set is remote.
    pub fn cool(&self) -> Result<bool> {
        if let Some(path) = self.record_files().find(|path| is_remote(path)) {
            let e = Error::usage("the page cache of the system does not hold remote data sets").file(path);
            return Err(e.help("clear its cache on local disk, or read it without one"));
        }
        let cool = |path: &Path| {
            let file = open_regular(path, Links::Follow)?;
            let length = file.metadata().map_err(|e| Error::io("read the file's size", path, e))?.len();
            Ok(advise(&file, 0..length, Advice::Done))
        };
        self.files().map(cool).try_fold(true, |all, taken| Ok(all & taken?))
    }
}

/// Reads a file from start to end, and calls `came` with the number of bytes that each read returned.
fn read_through(path: &Path, buffer: &mut [u8], came: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
    let failed = |e| Error::io("read the file", path, e);
    let mut file = open_regular(path, Links::Follow)?;
    loop {
        match file.read(buffer).map_err(failed)? {
            0 => return Ok(()),
            n => came(n as u64)?,
        }
    }
}

fn warm_remote(set: &Dataset, progress: &mut ProgressFn<'_>) -> Result<WarmReport> {
    let limit = set.remotes().iter().filter_map(|remote| remote.cache_limit()).min();
    let Some(limit) = limit else {
        return Err(Error::usage("warming a remote data set needs a cache on local disk").hint(Hint::Set("cache")));
    };
    let report = WarmReport { clips: set.len(), cache_bytes: Some(limit), ..WarmReport::default() };
    let mut warming = CacheWarmer { set, progress, so_far: Progress::default(), report, pending: VecDeque::new() };
    warming.fetch_indexes()?;
    warming.count()?;
    for (shard, clips) in set.clips_by_shard() {
        warming.fetch_records(&clips)?;
        warming.report.missing_bytes += missing_index_bytes(set, shard, &clips)?;
    }
    warming.finish(0)?;
    Ok(WarmReport { remote: set.remote_stats().unwrap_or_default(), ..warming.report })
}

struct CacheWarmer<'s, 'p, 'f> {
    set: &'s Dataset,
    progress: &'p mut ProgressFn<'f>,
    so_far: Progress,
    report: WarmReport,
    /// Clips that were asked for, in this order.
    pending: VecDeque<Vec<ClipRanges>>,
}

/// A clip, and the ranges of its records in a remote file.
struct ClipRanges {
    clip: u64,
    file: Arc<RemoteFile>,
    ranges: Vec<Range<u64>>,
}

impl ClipRanges {
    /// `None` if the clip's records are local.
    fn new(set: &Dataset, clip: u64) -> Result<Option<Self>> {
        let found = set.clip(clip)?;
        let frames: Vec<u32> = (0..found.frame_count()).collect();
        Ok(found.remote_ranges(&frames)?.map(|(file, ranges)| ClipRanges { clip, file: file.clone(), ranges }))
    }

    fn bytes(&self) -> u64 {
        self.ranges.iter().map(length).sum()
    }

    fn kept_bytes(&self) -> u64 {
        self.ranges.iter().filter(|range| self.file.is_kept(range)).map(length).sum()
    }
}

impl CacheWarmer<'_, '_, '_> {
    /// Opens all shards, and fetches the entries and strings of the clips.
    fn fetch_indexes(&mut self) -> Result<()> {
        let all: Vec<_> = self.set.clips_by_shard().collect();
        for some in all.chunks(SHARDS_AT_A_TIME) {
            at_once(some, |(shard, clips)| fetch_index(self.set, *shard, clips))?;
            tell(self.progress, &self.so_far)?;
        }
        Ok(())
    }

    /// Counts the bytes to fetch, and those that are in the cache.
    fn count(&mut self) -> Result<()> {
        for clip in self.set.clips_by_shard().flat_map(|(_, clips)| clips) {
            if let Some(ranges) = ClipRanges::new(self.set, clip)? {
                self.report.bytes += ranges.bytes();
                self.report.kept_bytes += ranges.kept_bytes();
            }
        }
        self.so_far.total = Some(self.report.bytes);
        self.so_far.done = self.report.kept_bytes;
        tell(self.progress, &self.so_far)
    }

    /// Asks for clips of one shard, in groups of about one request. Proves those that arrived meanwhile.
    fn fetch_records(&mut self, clips: &[u64]) -> Result<()> {
        let mut group = Vec::new();
        for &clip in clips {
            // This proves the strings, which training may use.
            self.set.clip(clip)?.source()?;
            let Some(mut ranges) = ClipRanges::new(self.set, clip)? else { continue };
            ranges.ranges.retain(|range| !ranges.file.is_kept(range));
            let needed = ranges.bytes() + bytes(&group);
            if !ranges.file.has_room(needed + self.pending_bytes()) {
                // Much of what was asked for may have its room already.
                self.finish(0)?;
            }
            match ranges.file.has_room(needed + self.pending_bytes()) {
                _ if ranges.ranges.is_empty() => {}
                true => group.push(ranges),
                false => self.count_missing(ranges.bytes())?,
            }
            if bytes(&group) >= REQUEST_BYTES {
                self.ask(std::mem::take(&mut group))?;
            }
        }
        self.ask(group)
    }

    fn ask(&mut self, group: Vec<ClipRanges>) -> Result<()> {
        if let Some(ClipRanges { file, .. }) = group.first() {
            file.remote().need_memory(4 * REQUEST_BYTES);
            file.ask(&group.iter().flat_map(|clip| clip.ranges.clone()).collect::<Vec<_>>())?;
            let most = PENDING_BYTES.min(file.remote().memory_bytes() / 2);
            self.pending.push_back(group);
            self.finish(most)?;
        }
        tell(self.progress, &self.so_far)
    }

    fn pending_bytes(&self) -> u64 {
        self.pending.iter().map(|group| bytes(group)).sum()
    }

    /// Waits for clips until at most `most` bytes are pending, and proves their records. Wrong records are fetched once
    /// more, and so are those whose request failed.
    fn finish(&mut self, most: u64) -> Result<()> {
        while self.pending_bytes() > most {
            for clip in self.pending.pop_front().unwrap_or_default() {
                self.prove(&clip)?;
            }
        }
        Ok(())
    }

    fn prove(&mut self, ranges: &ClipRanges) -> Result<()> {
        for range in &ranges.ranges {
            while !ranges.file.is_over_within(range, TICK) {
                tell(self.progress, &self.so_far)?;
            }
        }
        let (clip, mut buffer) = (self.set.clip(ranges.clip)?, Vec::new());
        for (t, entry) in (0..).zip(clip.frame_entries()?) {
            if ranges.ranges.iter().any(|range| range.contains(&entry.record_offset)) {
                clip.frame_with(t, &mut buffer)?;
            }
        }
        let kept = ranges.kept_bytes();
        self.so_far.done += kept;
        self.count_missing(ranges.bytes() - kept)?;
        tell(self.progress, &self.so_far)
    }

    /// Counts records of a clip for which there was no room.
    fn count_missing(&mut self, bytes: u64) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.report.missing_bytes += bytes;
        self.report.missing_clips += 1;
        // If the disk is full or fails, more room in the cache would not help.
        self.set.cache_failure().map_or(Ok(()), |failure| Err(Error::lost(failure)))
    }
}

/// Fetches the entries and strings of clips of one shard. If this is not a selection of clips, it fetches all tables.
fn fetch_index(set: &Dataset, shard: usize, clips: &[u64]) -> Result<()> {
    if !set.is_selection() {
        return set.shard(shard)?.prefetch_all(Tables { clips: true, frames: true, strings: true });
    }
    set.shard(shard)?.prefetch(&clips.iter().map(|&clip| set.position(clip).1).collect::<Vec<_>>(), true)
}

/// Bytes of the entries and strings of clips of one shard that are not in the cache.
fn missing_index_bytes(set: &Dataset, shard: usize, clips: &[u64]) -> Result<u64> {
    // If an entry was wrong, all entries were discarded.
    fetch_index(set, shard, clips)?;
    let (shard, mut missing) = (set.shard(shard)?, 0);
    for &clip in clips {
        let parts = shard.index_ranges(set.position(clip).1)?;
        missing += parts.iter().filter(|part| !shard.index_bytes.is_kept(part)).map(length).sum::<u64>();
    }
    Ok(missing)
}

fn length(range: &Range<u64>) -> u64 {
    range.end - range.start
}

fn bytes(group: &[ClipRanges]) -> u64 {
    group.iter().map(ClipRanges::bytes).sum()
}
