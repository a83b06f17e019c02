//! Fetches parts of remote indexes before they are used. Many are fetched at a time, because each takes a round trip.

use std::collections::BTreeMap;

use super::data_set::Dataset;
use super::tables::Tables;
use crate::threads::in_order;
use vidrec_format::error::Result;

/// The number of shards that are opened, or whose entries are fetched, at a time.
pub(super) const SHARDS_AT_A_TIME: usize = 32;

impl Dataset {
    /// Fetches the entries of some clips and of their frames, and with `strings` also their source, class and
    /// attributes. Does nothing for local data sets.
    #[doc(hidden)]
    pub fn prefetch(&self, clips: &[u64], strings: bool) -> Result<()> {
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
            at_once(some, |(at, clips)| self.shard(*at)?.prefetch(clips, strings))?;
        }
        Ok(())
    }
}

impl Dataset {
    /// Opens all track files. Those of local data sets are open already.
    pub(super) fn open_tracks(&self) -> Result<()> {
        if !self.is_remote() {
            return Ok(());
        }
        let shards: Vec<usize> = self.shards_with_tracks().collect();
        let open = |&at: &usize| self.shard(at)?.tracks.as_ref().map_or(Ok(()), |file| file.open().map(drop));
        shards.chunks(SHARDS_AT_A_TIME).try_for_each(|some| at_once(some, open))
    }

    /// Fetches whole tables, for a pass over all clips. Does nothing for local data sets.
    #[doc(hidden)]
    pub fn prefetch_all(&self, tables: Tables) -> Result<()> {
        if !self.is_remote() {
            return Ok(());
        }
        let shards: Vec<usize> = (0..self.shard_count()).collect();
        for some in shards.chunks(SHARDS_AT_A_TIME) {
            at_once(some, |at| self.shard(*at)?.prefetch_all(tables))?;
        }
        Ok(())
    }
}

/// Calls `work` for each of a few values, all at the same time.
pub(super) fn at_once<T: Sync>(things: &[T], work: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    in_order(things.len(), things.len(), |i| work(&things[i])).map(drop)
}
