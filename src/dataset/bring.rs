//! Bringing parts of remote indexes before they are used: many at a time, because each takes a round trip.

use std::collections::BTreeMap;

use super::dataset::Dataset;
use super::tables::Tables;
use crate::{Result, stop};

/// Shards that are opened, or whose entries are brought, at a time.
pub(super) const SHARDS_AT_A_TIME: usize = 32;

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
    /// Opens all track files. Those of local data sets are open.
    pub(super) fn open_tracks(&self) -> Result<()> {
        if !self.is_remote() {
            return Ok(());
        }
        let shards: Vec<usize> = self.shards_with_tracks().collect();
        let open = |&at: &usize| self.shard(at)?.tracks.as_ref().map_or(Ok(()), |file| file.open().map(drop));
        shards.chunks(SHARDS_AT_A_TIME).try_for_each(|some| at_once(some, open))
    }

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
pub(super) fn at_once<T: Sync>(things: &[T], work: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    if let [one] = things {
        return work(one);
    }
    let carry = stop::carry();
    let work = |thing| {
        carry();
        work(thing)
    };
    std::thread::scope(|scope| {
        let work = &work;
        let started: Vec<_> = things.iter().map(|thing| scope.spawn(move || work(thing))).collect();
        // A panic goes on in this thread.
        started.into_iter().try_for_each(|s| s.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
