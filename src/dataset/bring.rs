//! Bringing parts of remote indexes before they are used: many at a time, because each takes a round trip.

use std::collections::BTreeMap;
use std::ops::Range;

use super::dataset::Dataset;
use super::shard::Shard;
use crate::Result;
use crate::format::section::SectionId;

/// Which tables of the indexes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tables {
    pub clips: bool,
    pub frames: bool,
    pub strings: bool,
}

/// Shards that are opened, or whose entries are brought, at a time.
const SHARDS_AT_A_TIME: usize = 32;

impl Dataset {
    /// Brings what describes some clips: their entries and those of their frames, and with `strings` also their source,
    /// class and attributes. Does nothing for local data sets.
    pub(crate) fn bring(&self, clips: &[u64], strings: bool) -> Result<()> {
        if !self.is_remote() {
            return Ok(());
        }
        let mut of_shards: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for &clip in clips.iter().filter(|&&clip| clip < self.len()) {
            let (at, ordinal) = self.place(clip);
            of_shards.entry(at).or_default().push(ordinal);
        }
        let of_shards: Vec<_> = of_shards.into_iter().collect();
        for some in of_shards.chunks(SHARDS_AT_A_TIME) {
            at_once(some, |(at, clips)| self.shard(*at)?.bring(clips, strings))?;
        }
        Ok(())
    }
}

impl Dataset {
    /// Brings whole tables, for a pass over all clips. Does nothing for local data sets.
    pub(crate) fn bring_all(&self, tables: Tables) -> Result<()> {
        if !self.is_remote() {
            return Ok(());
        }
        let shards: Vec<usize> = (0..self.shard_count()).collect();
        for some in shards.chunks(SHARDS_AT_A_TIME) {
            at_once(some, |at| self.shard(*at)?.bring_all(tables))?;
        }
        Ok(())
    }
}

/// Does something with each of a few things, all at once.
fn at_once<T: Sync>(things: &[T], work: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    if let [one] = things {
        return work(one);
    }
    std::thread::scope(|scope| {
        let work = &work;
        let started: Vec<_> = things.iter().map(|thing| scope.spawn(move || work(thing))).collect();
        // A panic goes on in this thread.
        started.into_iter().try_for_each(|s| s.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

impl Shard {
    fn bring_all(&self, tables: Tables) -> Result<()> {
        let wanted = |table: &(bool, SectionId)| table.0;
        let all = [
            (tables.clips, SectionId::CLIPS),
            (tables.frames, SectionId::FRAMES),
            (tables.strings, SectionId::STRINGS),
        ];
        let ranges = all.into_iter().filter(wanted).filter_map(|(_, id)| self.index.section_range(id));
        self.index_bytes.bring(&ranges.collect::<Vec<_>>())
    }

    fn bring(&self, clips: &[u64], strings: bool) -> Result<()> {
        let entries: Vec<Range<u64>> = clips.iter().filter_map(|&clip| self.index.clip_range(clip)).collect();
        self.index_bytes.bring(&entries)?;
        let mut parts = Vec::new();
        for &clip in clips {
            let entry = self.clip(clip)?;
            parts.extend(self.index.frames_range(entry.frames()));
            if strings {
                parts.extend(self.index.string_ranges(&entry));
            }
        }
        self.index_bytes.bring(&parts)
    }
}
