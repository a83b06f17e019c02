//! Bringing parts of remote indexes before they are used: many at a time, because each takes a round trip.

use std::collections::BTreeMap;
use std::ops::Range;

use super::dataset::Dataset;
use super::shard::Shard;
use crate::Result;

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
            if let [(at, clips)] = some {
                self.shard(*at)?.bring(clips, strings)?;
                continue;
            }
            std::thread::scope(|scope| {
                let bring = |(at, clips): &(usize, Vec<u64>)| self.shard(*at)?.bring(clips, strings);
                let started: Vec<_> = some.iter().map(|part| scope.spawn(move || bring(part))).collect();
                // A panic goes on in this thread.
                started.into_iter().try_for_each(|s| s.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            })?;
        }
        Ok(())
    }
}

impl Shard {
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
