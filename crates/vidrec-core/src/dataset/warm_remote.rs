//! Fills the cache on local disk with the clips of a remote data set.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::data_set::Dataset;
use super::prefetch::{SHARDS_AT_A_TIME, at_once};
use super::tables::Tables;
use super::warm_report::WarmReport;
use crate::progress::{Progress, ProgressFn, tell};
use crate::store::remote::{REQUEST_BYTES, RemoteFile};
use vidrec_format::error::{Error, Hint, Result};

/// The most bytes that were asked for and are not proven yet.
const COMING_BYTES: u64 = 16 * REQUEST_BYTES;
/// How often the caller's callback is called while nothing arrives.
const TICK: Duration = Duration::from_millis(100);

/// See [`Dataset::warm`].
pub(super) fn warm(set: &Dataset, progress: &mut ProgressFn<'_>) -> Result<WarmReport> {
    let Some(limit) = set.cache_limit() else {
        return Err(Error::usage("warming a remote data set needs a cache on local disk").hint(Hint::Set("cache")));
    };
    let report = WarmReport { clips: set.len(), cache_bytes: Some(limit), ..WarmReport::default() };
    let mut warming = Warming { set, progress, so_far: Progress::default(), report, coming: VecDeque::new() };
    warming.indexes()?;
    warming.survey()?;
    for (shard, clips) in set.clips_by_shard() {
        warming.records(&clips)?;
        warming.report.missing_bytes += set.missing_of_index(shard, &clips)?;
    }
    while let Some(group) = warming.coming.pop_front() {
        warming.finish(group)?;
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
    coming: VecDeque<Vec<Runs>>,
}

/// A clip, and runs of its records in a remote file that are not in the cache.
struct Runs {
    clip: u64,
    file: Arc<RemoteFile>,
    runs: Vec<Range<u64>>,
}

impl Warming<'_, '_, '_> {
    /// Opens all shards, and fetches the entries and strings of the clips.
    fn indexes(&mut self) -> Result<()> {
        let mut all = self.set.clips_by_shard();
        loop {
            let some: Vec<_> = all.by_ref().take(SHARDS_AT_A_TIME).collect();
            if some.is_empty() {
                return Ok(());
            }
            at_once(&some, |(shard, clips)| self.set.bring_of_shard(*shard, clips))?;
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
        self.so_far.done = self.report.kept_bytes;
        tell(self.progress, &self.so_far)
    }

    /// The ranges of a clip's records; `None` if they are local.
    fn runs(&self, clip: u64) -> Result<Option<Runs>> {
        let found = self.set.clip(clip)?;
        let frames: Vec<u32> = (0..found.frame_count()).collect();
        Ok(found.remote_runs(&frames)?.map(|(file, runs)| Runs { clip, file: file.clone(), runs }))
    }

    /// Asks for clips of one shard, in groups of about one request. Proves those that arrived meanwhile.
    fn records(&mut self, clips: &[u64]) -> Result<()> {
        let mut group = Vec::new();
        for &clip in clips {
            // This proves the strings, which training may use.
            self.set.clip(clip)?.source()?;
            let Some(mut runs) = self.runs(clip)? else { continue };
            runs.runs.retain(|run| !runs.file.is_kept(run));
            if runs.runs.is_empty() {
                continue;
            }
            if self.has_room(&runs, all_bytes(&group))? {
                group.push(runs);
            } else {
                self.miss(bytes(&runs.runs))?;
            }
            if all_bytes(&group) >= REQUEST_BYTES {
                self.ask(std::mem::take(&mut group))?;
            }
        }
        self.ask(group)
    }

    /// Whether there is room for a clip, beside `more` bytes that will be asked for with it.
    fn has_room(&mut self, clip: &Runs, more: u64) -> Result<bool> {
        let needed = more + bytes(&clip.runs);
        let coming: u64 = self.coming.iter().map(|group| all_bytes(group)).sum();
        if clip.file.has_room(coming + needed) {
            return Ok(true);
        }
        // Much of what was asked for may have its room already.
        while let Some(group) = self.coming.pop_front() {
            self.finish(group)?;
        }
        Ok(clip.file.has_room(needed))
    }

    fn ask(&mut self, group: Vec<Runs>) -> Result<()> {
        if let Some(Runs { file, .. }) = group.first() {
            file.remote().need_memory(4 * REQUEST_BYTES);
            file.ask(&group.iter().flat_map(|clip| clip.runs.clone()).collect::<Vec<_>>())?;
            let most = COMING_BYTES.min(file.remote().memory_bytes() / 2);
            self.coming.push_back(group);
            while self.coming.iter().map(|group| all_bytes(group)).sum::<u64>() > most {
                let Some(group) = self.coming.pop_front() else { break };
                self.finish(group)?;
            }
        }
        tell(self.progress, &self.so_far)
    }

    /// Waits for clips, and proves their records. Wrong records are fetched once more, and so are those whose request
    /// failed.
    fn finish(&mut self, group: Vec<Runs>) -> Result<()> {
        for Runs { clip, file, runs } in group {
            for run in &runs {
                while !file.is_over_within(run, TICK) {
                    tell(self.progress, &self.so_far)?;
                }
            }
            let (clip, mut buffer) = (self.set.clip(clip)?, Vec::new());
            for (t, entry) in (0..).zip(clip.frame_entries()?) {
                if runs.iter().any(|run| run.contains(&entry.record_offset)) {
                    clip.frame_with(t, &mut buffer)?;
                }
            }
            let kept: u64 = runs.iter().filter(|run| file.is_kept(run)).map(length).sum();
            self.so_far.done += kept;
            self.miss(bytes(&runs) - kept)?;
            tell(self.progress, &self.so_far)?;
        }
        Ok(())
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

fn all_bytes(group: &[Runs]) -> u64 {
    group.iter().map(|clip| bytes(&clip.runs)).sum()
}
