//! Fetches parts of remote indexes before they are used, and chooses the requests for the records of a clip. Many parts are
//! fetched at a time, because each takes a round trip.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::dataset::{Dataset, Shard, Tables};
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
        for some in of_shards.chunks(SHARDS_AT_A_TIME) {
            at_once(some, |(at, clips)| self.shard(*at)?.prefetch(clips, strings))?;
        }
        Ok(())
    }

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
fn at_once<T: Sync>(things: &[T], work: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    in_order(things.len(), things.len(), |i| work(&things[i])).map(drop)
}

impl Shard {
    /// Fetches whole tables.
    pub fn prefetch_all(&self, tables: Tables) -> Result<()> {
        let wanted = |table: &(bool, SectionId)| table.0;
        let all = [
            (tables.clips, SectionId::CLIPS),
            (tables.frames, SectionId::FRAMES),
            (tables.strings, SectionId::STRINGS),
        ];
        let ranges = all.into_iter().filter(wanted).filter_map(|(_, id)| self.index.section_range(id));
        self.index_bytes.prefetch(&ranges.collect::<Vec<_>>())
    }

    /// Fetches the entries of some clips and of their frames, and with `strings` also their strings.
    pub fn prefetch(&self, clips: &[u64], strings: bool) -> Result<()> {
        let mut entries: Vec<Range<u64>> = clips.iter().filter_map(|&clip| self.index.clip_range(clip)).collect();
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

/// The longest gap within a clip that is read rather than skipped. One more request would cost more than these bytes.
///
/// Of every second frame of 18 kB, one request for 16 frames of a clip fetches 1.87 times the bytes that are needed. Skipping
/// gaps until at most 1.25 times the bytes are fetched takes six, and 32 requests at a time and 30 ms then allow 1,400 frames
/// per second. Of frames of 22.5 kB, 3.0 requests for a clip fetch 1.35 times the bytes.
const GAP_BYTES: u64 = 32 << 10;
/// The longest range, unless one record is longer.
const MOST_BYTES: u64 = 4 << 20;

/// The ranges that contain `records` of a clip, which are in any order and may repeat.
pub(super) fn request_ranges(mut records: Vec<Range<u64>>) -> Vec<Range<u64>> {
    records.sort_unstable_by_key(|record| (record.start, record.end));
    records.dedup();
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for record in records {
        match ranges.last_mut() {
            Some(range)
                if record.start.saturating_sub(range.end) <= GAP_BYTES && record.end - range.start <= MOST_BYTES =>
            {
                range.end = range.end.max(record.end);
            }
            _ => ranges.push(record),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_gaps_are_read_and_large_ones_skipped() {
        let records: Vec<_> = (0..8u64).map(|t| t * 100_000..(t + 1) * 100_000).collect();
        let some = |ts: &[usize]| request_ranges(ts.iter().map(|&t| records[t].clone()).collect());
        assert_eq!(some(&[7, 0, 1, 3, 5, 5]), [0..200_000, 300_000..400_000, 500_000..600_000, 700_000..800_000]);
        assert_eq!(some(&[6, 0, 1]), [0..200_000, 600_000..700_000]);
        assert!(request_ranges(vec![0..10, 32_000..33_000]).into_iter().eq(std::iter::once(0..33_000)));
        assert!(request_ranges(vec![]).is_empty());
        let large: Vec<_> = (0..9u64).map(|t| t << 20..(t + 1) << 20).collect();
        assert_eq!(request_ranges(large), [0..4 << 20, 4 << 20..8 << 20, 8 << 20..9 << 20]);
    }

    proptest! {
        #[test]
        fn each_record_is_in_a_range_and_no_more_than_the_clip_is_read(
            lengths in prop::collection::vec(1u64..100_000, 1..20), chosen in prop::collection::vec(any::<prop::sample::Index>(), 1..20),
        ) {
            let mut at = 7;
            let all: Vec<_> = lengths.iter().map(|&n| { at += n; at - n..at }).collect();
            let clip: u64 = lengths.iter().sum();
            let wanted: Vec<_> = chosen.iter().map(|i| all[i.index(all.len())].clone()).collect();
            let found = request_ranges(wanted.clone());
            prop_assert!(wanted.iter().all(|w| found.iter().any(|f| f.start <= w.start && f.end >= w.end)));
            prop_assert!(found.windows(2).all(|two| two[0].end <= two[1].start));
            prop_assert!(found.iter().map(|f| f.end - f.start).sum::<u64>() <= clip);
        }
    }
}
