//! Fetches tables of a remote index, or some entries of them. For local indexes, this does nothing.

use std::ops::Range;

use super::shard::Shard;
use vidrec_format::error::Result;
use vidrec_format::section::SectionId;

/// The tables to fetch.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tables {
    /// The entries of clips.
    pub clips: bool,
    /// The entries of frames.
    pub frames: bool,
    /// Sources and attributes.
    pub strings: bool,
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

    /// The ranges of a clip's entry, of its frames' entries and of its strings in the index.
    pub fn parts_of(&self, clip: u64) -> Result<Vec<Range<u64>>> {
        let entry = self.clip(clip)?;
        let entries = self.index.clip_range(clip).into_iter().chain(self.index.frames_range(entry.frames()));
        Ok(entries.chain(self.index.string_ranges(&entry)).collect())
    }
}
