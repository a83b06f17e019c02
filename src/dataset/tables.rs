//! Bringing tables of a remote index, or some entries of them. For local ones this does nothing.

use std::ops::Range;

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

impl Shard {
    /// Brings whole tables.
    pub fn bring_all(&self, tables: Tables) -> Result<()> {
        let wanted = |table: &(bool, SectionId)| table.0;
        let all = [
            (tables.clips, SectionId::CLIPS),
            (tables.frames, SectionId::FRAMES),
            (tables.strings, SectionId::STRINGS),
        ];
        let ranges = all.into_iter().filter(wanted).filter_map(|(_, id)| self.index.section_range(id));
        self.index_bytes.bring(&ranges.collect::<Vec<_>>())
    }

    /// Brings the entries of some clips and of their frames, and with `strings` also their strings.
    pub fn bring(&self, clips: &[u64], strings: bool) -> Result<()> {
        let mut entries: Vec<Range<u64>> = clips.iter().filter_map(|&clip| self.index.clip_range(clip)).collect();
        // Where a clip's frames are is in its entry; but if all have the same number, as a rule, it need not be waited for.
        let (frames, all) = (self.index.header.frame_count, self.clip_count());
        if all > 0 && frames.is_multiple_of(all) {
            let each = frames / all;
            let guess = |&clip: &u64| self.index.frames_range(clip.checked_mul(each)?..(clip + 1).checked_mul(each)?);
            entries.extend(clips.iter().filter_map(guess));
        }
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

    /// Where a clip's entry, those of its frames and its strings are in the index.
    #[cfg(feature = "remote")]
    pub fn parts_of(&self, clip: u64) -> Result<Vec<Range<u64>>> {
        let entry = self.clip(clip)?;
        let entries = self.index.clip_range(clip).into_iter().chain(self.index.frames_range(entry.frames()));
        Ok(entries.chain(self.index.string_ranges(&entry)).collect())
    }
}
