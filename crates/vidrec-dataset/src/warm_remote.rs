//! Fills the cache on local disk with the clips of a remote data set.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::dataset::Dataset;
use super::prefetch::{SHARDS_AT_A_TIME, at_once};
use super::tables::Tables;
use super::warm_report::WarmReport;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::progress::{Progress, ProgressFn, tell};
use vidrec_store::remote::{Filled, Filling, REQUEST_BYTES, RemoteFile};

/// The most bytes that were asked for and are not proven yet. The server decides how many requests are in flight.
const COMING_BYTES: u64 = 16 * REQUEST_BYTES;
/// How often the caller's callback is called while nothing arrives.
const TICK: Duration = Duration::from_millis(100);

/// See [`Dataset::warm`].
pub(super) fn warm(set: &Dataset, progress: &mut ProgressFn<'_>) -> Result<WarmReport> {
    let Some(limit) = set.cache_limit() else {
        return Err(Error::usage("warming a remote data set needs a cache on local disk").hint(Hint::Set("cache")));
    };
    let report = WarmReport { clips: set.len(), cache_bytes: Some(limit), ..WarmReport::default() };
    let coming = VecDeque::new();
    let mut warming = Warming { set, progress, so_far: Progress::default(), report, coming, coming_bytes: 0 };
    warming.indexes()?;
    warming.survey()?;
    for (shard, clips) in set.clips_by_shard() {
        warming.records(&clips)?;
        warming.report.missing_bytes += set.missing_of_index(shard, &clips)?;
    }
    while let Some(clip) = warming.coming.pop_front() {
        warming.finish(&clip)?;
    }
    let remote = set.remote_stats().unwrap_or_default();
    Ok(WarmReport { remote, ..warming.report })
}

struct Warming<'s, 'p, 'f> {
    set: &'s Dataset,
    progress: &'p mut ProgressFn<'f>,
    so_far: Progress,
    report: WarmReport,
    /// Clips that were asked for, in this order.
    coming: VecDeque<Runs>,
    coming_bytes: u64,
}

/// A clip, and runs of its records in a remote file: all of them, or those that are in flight.
struct Runs {
    clip: u64,
    file: Arc<RemoteFile>,
    runs: Vec<Range<u64>>,
}

impl Warming<'_, '_, '_> {
    /// Opens all shards, and fetches the entries and strings of the clips. Objects that are open are never removed to
    /// make room, so all of them are opened before the first byte needs room.
    fn indexes(&mut self) -> Result<()> {
        let set = self.set;
        let shards: Vec<usize> = set.clips_by_shard().map(|(shard, _)| shard).collect();
        for some in shards.chunks(SHARDS_AT_A_TIME) {
            at_once(some, |&shard| set.shard(shard).map(drop))?;
            tell(self.progress, &self.so_far)?;
        }
        let mut all = set.clips_by_shard();
        loop {
            let some: Vec<_> = all.by_ref().take(SHARDS_AT_A_TIME).collect();
            if some.is_empty() {
                return Ok(());
            }
            at_once(&some, |(shard, clips)| set.bring_of_shard(*shard, clips))?;
            tell(self.progress, &self.so_far)?;
        }
    }

    /// Counts the bytes to fetch, and those that are in the cache.
    fn survey(&mut self) -> Result<()> {
        for clip in self.set.clips_by_shard().flat_map(|(_, clips)| clips) {
            let Some(Runs { file, runs, .. }) = self.runs(clip)? else { continue };
            self.report.bytes += bytes(&runs);
            self.report.kept_bytes += runs.iter().filter(|run| file.is_kept(run)).map(length).sum::<u64>();
        }
        self.so_far.total = Some(self.report.bytes);
        tell(self.progress, &self.so_far)
    }

    /// The ranges of a clip's records; `None` if they are local.
    fn runs(&self, clip: u64) -> Result<Option<Runs>> {
        let found = self.set.clip(clip)?;
        let frames: Vec<u32> = (0..found.frame_count()).collect();
        Ok(found.remote_runs(&frames)?.map(|(file, runs)| Runs { clip, file: file.clone(), runs }))
    }

    /// Asks for clips of one shard. Proves those that arrived meanwhile.
    fn records(&mut self, clips: &[u64]) -> Result<()> {
        let mut filling: Option<Filling> = None;
        for &clip in clips {
            // This proves the strings, which training may use.
            self.set.clip(clip)?.source()?;
            let Some(runs) = self.runs(clip)? else { continue };
            let filling = filling.get_or_insert_with(|| Filling::of(&runs.file));
            self.ask(runs, filling)?;
            while self.coming_bytes > COMING_BYTES {
                let Some(first) = self.coming.pop_front() else { break };
                if Arc::ptr_eq(&first.file, filling.file()) && first.runs.iter().any(|run| filling.holds_back(run)) {
                    filling.send()?;
                }
                self.finish(&first)?;
            }
        }
        filling.as_mut().map_or(Ok(()), Filling::send)
    }

    fn ask(&mut self, mut clip: Runs, filling: &mut Filling) -> Result<()> {
        let (mut coming, mut missing) = (Vec::new(), 0);
        for run in std::mem::take(&mut clip.runs) {
            match filling.add(&run)? {
                Filled::Here => self.so_far.done += length(&run),
                Filled::PendingRange => coming.push(run),
                Filled::NoRoom => missing += length(&run),
            }
        }
        self.miss(missing)?;
        clip.runs = coming;
        self.coming_bytes += bytes(&clip.runs);
        if !clip.runs.is_empty() {
            self.coming.push_back(clip);
        }
        tell(self.progress, &self.so_far)
    }

    /// Counts records of a clip for which there was no room.
    fn miss(&mut self, bytes: u64) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.report.missing_bytes += bytes;
        self.report.missing_clips += 1;
        // If the disk is full or fails, more room in the cache would not help.
        self.set.cache_failure().map_or(Ok(()), |failure| Err(Error::lost(failure)))
    }

    /// Waits for a clip, and proves its records. Wrong records are fetched once more, and so are those whose request
    /// failed.
    fn finish(&mut self, coming: &Runs) -> Result<()> {
        self.coming_bytes -= bytes(&coming.runs);
        coming.runs.iter().try_for_each(|run| self.wait(&coming.file, run))?;
        let (clip, mut buffer) = (self.set.clip(coming.clip)?, Vec::new());
        for (t, entry) in (0..).zip(clip.frame_entries()?) {
            if coming.runs.iter().any(|run| run.contains(&entry.record_offset)) {
                clip.frame_with(t, &mut buffer)?;
            }
        }
        let kept: u64 = coming.runs.iter().filter(|run| coming.file.is_kept(run)).map(length).sum();
        self.so_far.done += kept;
        self.miss(bytes(&coming.runs) - kept)?;
        tell(self.progress, &self.so_far)
    }

    /// Waits until no process fetches a run anymore.
    fn wait(&mut self, file: &RemoteFile, run: &Range<u64>) -> Result<()> {
        let begin = Instant::now();
        while !file.is_settled_within(run, TICK) && begin.elapsed() < file.remote().patience() {
            tell(self.progress, &self.so_far)?;
        }
        Ok(())
    }
}

impl Dataset {
    /// Fetches the entries and strings of clips of one shard. If this is not a selection of clips, it fetches all
    /// tables whole.
    fn bring_of_shard(&self, shard: usize, clips: &[u64]) -> Result<()> {
        let all = Tables { clips: true, frames: true, strings: true };
        match self.is_selection() {
            true => {
                self.shard(shard)?.prefetch(&clips.iter().map(|&clip| self.place(clip).1).collect::<Vec<_>>(), true)
            }
            false => self.shard(shard)?.prefetch_all(all),
        }
    }

    /// Bytes of the entries and strings of clips of one shard that are not in the cache.
    fn missing_of_index(&self, shard: usize, clips: &[u64]) -> Result<u64> {
        // If an entry was wrong, all entries were discarded.
        self.bring_of_shard(shard, clips)?;
        let (shard, mut missing) = (self.shard(shard)?, 0);
        for &clip in clips {
            let parts = shard.parts_of(self.place(clip).1)?;
            missing += parts.iter().filter(|part| !shard.index_bytes.is_kept(part)).map(length).sum::<u64>();
        }
        Ok(missing)
    }
}

fn length(run: impl std::borrow::Borrow<Range<u64>>) -> u64 {
    run.borrow().end - run.borrow().start
}

fn bytes(runs: &[Range<u64>]) -> u64 {
    runs.iter().map(length).sum()
}
