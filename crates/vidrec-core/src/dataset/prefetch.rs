//! Fetches parts of remote indexes before they are used. Many are fetched at a time, because each takes a round trip.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::dataset::{Dataset, Shard};
use crate::threads::in_order;
use vidrec_format::{Result, SectionId};

/// The number of shards that are opened, or whose entries are fetched, at a time.
const SHARDS_AT_A_TIME: usize = 32;

impl Dataset {
    /// Fetches the entries of some clips and of their frames, and with `strings` also their source, class and
    /// attributes. Does nothing for local data sets.
    pub(crate) fn prefetch(&self, clips: &[u64], strings: bool) -> Result<()> {
        if !self.is_remote() {
            return Ok(());
        }
        let mut of_shards: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for &clip in clips.iter().filter(|&&clip| clip < self.len()) {
            let (at, ordinal) = self.position(clip);
            of_shards.entry(at).or_default().push(ordinal);
        }
        let of_shards: Vec<_> = of_shards.into_iter().collect();
        self.at_once(&of_shards, |(at, clips)| self.shard(*at)?.prefetch(clips, strings))
    }

    /// Fetches whole tables, for a pass over all clips. Does nothing for local data sets.
    #[doc(hidden)]
    pub fn prefetch_all(&self, tables: &[SectionId]) -> Result<()> {
        let shards: Vec<usize> = (0..self.shard_count()).collect();
        self.at_once(&shards, |at| {
            let shard = self.shard(*at)?;
            let wanted = shard.index.sections.iter().filter(|section| tables.contains(&section.id));
            let ranges: Vec<_> = wanted.filter_map(|section| Some(section.offset..section.end()?)).collect();
            shard.index_bytes.prefetch(&ranges)
        })
    }

    /// Calls `work` for each shard, many at a time, if the data set is remote.
    pub(super) fn at_once<T: Sync>(&self, shards: &[T], work: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
        if !self.is_remote() {
            return Ok(());
        }
        in_order(shards.len(), SHARDS_AT_A_TIME, |i| work(&shards[i])).map(drop)
    }
}

impl Shard {
    /// Fetches the entries of some clips and of their frames, and with `strings` also their strings.
    pub fn prefetch(&self, clips: &[u64], strings: bool) -> Result<()> {
        let mut entries: Vec<Range<u64>> =
            clips.iter().filter_map(|&clip| self.index.clips_range(clip..clip + 1)).collect();
        // A clip's entry says where its frames are. Usually all clips have the same number of frames, so that the
        // frame entries can be fetched without waiting for the clip's entry.
        let (frames, all) = (self.index.header.frame_count, self.clip_count());
        if all > 0 && frames.is_multiple_of(all) {
            let each = frames / all;
            let guess = |&clip: &u64| self.index.frames_range(clip.checked_mul(each)?..(clip + 1).checked_mul(each)?);
            entries.extend(clips.iter().filter_map(guess));
        }
        self.index_bytes.prefetch(&entries)?;
        let mut parts = Vec::new();
        for &clip in clips {
            let entry = self.clip(clip)?;
            parts.extend(self.index.frames_range(entry.frames()));
            if strings {
                parts.extend(self.index.string_ranges(&entry));
            }
        }
        self.index_bytes.prefetch(&parts)
    }
}
