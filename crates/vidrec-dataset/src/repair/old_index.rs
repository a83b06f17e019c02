//! Reads the intact parts of an index.

use crate::{Index, proven_bytes};
use vidrec_format::clip_entry;
use vidrec_format::clip_entry::ClipEntry;
use vidrec_format::data_binding::DataBinding;
use vidrec_format::frame_entry;
use vidrec_format::frame_entry::FrameEntry;
use vidrec_format::header;
use vidrec_format::header::Header;
use vidrec_format::limits;
use vidrec_format::meta::Meta;
use vidrec_format::section;
use vidrec_format::section::{SectionEntry, SectionId};
use vidrec_format::{align_up, crc32, footer};

/// An index file that may be damaged. Each entry is checked when it is used.
pub(super) struct OldIndex<'a> {
    bytes: &'a [u8],
    index: Option<Index>,
    /// The numbers of clips and frames according to the header, if it is intact.
    pub counts: Option<(u64, u64)>,
    /// The number of clip entries that fit in the file.
    pub clip_entries: u64,
    /// The number of frame entries that fit in the file.
    pub frame_entries: u64,
    pub binding: Option<DataBinding>,
    pub meta: Option<Meta>,
    pub tracks: Option<DataBinding>,
    /// Whether the whole file is intact.
    pub is_whole: bool,
    /// What is wrong with the file.
    pub damage: Option<String>,
}

impl<'a> OldIndex<'a> {
    pub fn read(bytes: &'a [u8]) -> Self {
        match Index::prove(bytes) {
            Ok(index) => Self::proven(bytes, index),
            Err(e) => OldIndex { damage: Some(e.to_string()), ..Self::damaged(bytes) },
        }
    }

    fn proven(bytes: &'a [u8], index: Index) -> Self {
        let (clips, frames) = (index.header.clip_count, index.header.frame_count);
        let mut old = OldIndex {
            bytes,
            counts: Some((clips, frames)),
            clip_entries: clips,
            frame_entries: frames,
            binding: Some(index.binding),
            meta: Some(index.meta.clone()),
            tracks: index.tracks,
            is_whole: true,
            damage: None,
            index: Some(index),
        };
        old.damage = old.first_fault();
        old.is_whole = old.damage.is_none();
        old
    }

    /// The first problem that `verify` finds in the sections, entries and strings of an index that opens.
    fn first_fault(&self) -> Option<String> {
        let index = self.index.as_ref()?;
        for (i, s) in index.sections.iter().enumerate() {
            if let Err(e) = proven_bytes(self.bytes, s) {
                return Some(e.to_string());
            }
            let next = index.sections.get(i + 1).map_or(index.header.section_table_offset, |n| n.offset);
            let padding = s.end().and_then(|end| self.bytes.get(end as usize..next as usize));
            if padding.is_none_or(|padding| padding.iter().any(|&b| b != 0)) {
                return Some("the padding after a section is not zero".into());
            }
        }
        let mut next_frame = 0;
        for ordinal in 0..index.header.clip_count {
            let clip = match index.clip(self.bytes, ordinal) {
                Ok(clip) => clip,
                Err(e) => return Some(e.in_clip(ordinal).to_string()),
            };
            if clip.first_frame != next_frame {
                return Some(format!("clip {ordinal}: its frames do not follow those of the previous clip"));
            }
            next_frame += u64::from(clip.frame_count);
            if let Err(e) = index.strings(self.bytes, &clip) {
                return Some(e.in_clip(ordinal).to_string());
            }
        }
        let frames = index.header.frame_count;
        let bad = (0..frames).find_map(|f| index.frame(self.bytes, f).err());
        let extra = (next_frame != frames).then(|| "frames at the end belong to no clip".to_owned());
        bad.map(|e| e.to_string()).or(extra)
    }

    fn damaged(bytes: &'a [u8]) -> Self {
        let header = bytes.first_chunk().and_then(|head| Header::from_bytes(head).ok());
        let header = header.filter(|h| h.clip_count.max(h.frame_count) <= limits::MAX_ORDINALS);
        let table = header.as_ref().and_then(|h| table_of(bytes, h)).or_else(|| table_at_end(bytes));
        let sections = table.or_else(|| header.as_ref().and_then(|h| usual_places(bytes, h))).unwrap_or_default();
        let find = |id| sections.iter().find(|s| s.id == id).copied();
        let proven = |id| find(id).and_then(|s| proven_bytes(bytes, &s).ok());
        let tables = find(SectionId::FRAMES).zip(find(SectionId::CLIPS)).zip(find(SectionId::STRINGS));
        let tables = tables.map(|((f, c), s)| [f, c, s].map(|section| within(bytes, section)));
        let counts =
            tables.map(|[f, c, _]| (c.length / clip_entry::BYTES as u64, f.length / frame_entry::BYTES as u64));
        let said = header.as_ref().map(|h| (h.clip_count, h.frame_count));
        let index = tables.zip(said.or(counts)).map(|(tables, (clip_count, frame_count))| {
            Index::unproven(Header { clip_count, frame_count, ..no_header() }, tables)
        });
        OldIndex {
            bytes,
            index,
            counts: said.or(counts),
            clip_entries: counts.map_or(0, |(clips, _)| clips),
            frame_entries: counts.map_or(0, |(_, frames)| frames),
            binding: proven(SectionId::DATA).and_then(|b| b.first_chunk()).map(DataBinding::from_bytes),
            tracks: proven(SectionId::TRACKS).and_then(|b| b.first_chunk()).map(DataBinding::from_bytes),
            meta: proven(SectionId::META).and_then(|b| Meta::from_json(b).ok()),
            is_whole: false,
            damage: None,
        }
    }

    /// Returns the entry of a clip, if it is intact.
    pub fn clip(&self, ordinal: u64) -> Option<ClipEntry> {
        self.index.as_ref()?.clip(self.bytes, ordinal).ok()
    }

    /// Returns the entry of a frame, if it is intact.
    pub fn frame(&self, ordinal: u64) -> Option<FrameEntry> {
        self.index.as_ref()?.frame(self.bytes, ordinal).ok()
    }

    /// Source, class and attributes of a clip, if they are intact.
    pub fn strings(&self, clip: &ClipEntry) -> Option<[String; 3]> {
        self.index.as_ref()?.strings(self.bytes, clip).ok()
    }

    /// The intact labels of the clips that have one, with the names of their classes.
    pub fn labels(&self) -> impl Iterator<Item = (u32, String)> {
        (0..self.clip_entries).filter_map(|ordinal| {
            let clip = self.clip(ordinal)?;
            let [_, class, _] = self.strings(&clip).unwrap_or_default();
            Some((u32::try_from(clip.label).ok()?, class))
        })
    }
}

fn no_header() -> Header {
    Header {
        version_minor: 0,
        required_flags: 0,
        optional_flags: 0,
        section_count: 0,
        section_table_offset: 0,
        file_length: 0,
        clip_count: 0,
        frame_count: 0,
        section_table_crc32: 0,
    }
}

/// A section, truncated at the end of the file.
fn within(bytes: &[u8], section: SectionEntry) -> SectionEntry {
    let room = (bytes.len() as u64).saturating_sub(section.offset);
    SectionEntry { length: section.length.min(room), ..section }
}

fn entries(table: &[u8]) -> Vec<SectionEntry> {
    table.as_chunks::<{ section::BYTES }>().0.iter().map(SectionEntry::from_bytes).collect()
}

/// The section table where an intact header says it is, if its CRC-32 matches.
fn table_of(bytes: &[u8], header: &Header) -> Option<Vec<SectionEntry>> {
    let length = usize::try_from(header.section_count.min(limits::MAX_SECTIONS)).ok()? * section::BYTES;
    let begin = usize::try_from(header.section_table_offset).ok()?;
    let table = bytes.get(begin..begin.checked_add(length)?)?;
    (crc32(table) == header.section_table_crc32).then(|| entries(table))
}

/// The section table before the footer, recognized by sections that follow each other from the header up to it.
fn table_at_end(bytes: &[u8]) -> Option<Vec<SectionEntry>> {
    let end = bytes.len().checked_sub(footer::BYTES)?;
    (1..=limits::MAX_SECTIONS as usize).find_map(|count| {
        let begin = end.checked_sub(count * section::BYTES)?;
        let sections = entries(bytes.get(begin..end)?);
        let tile = |next: u64, s: &SectionEntry| {
            (s.offset == next).then(|| s.end().and_then(|end| align_up(end, section::ALIGNMENT))).flatten()
        };
        let reached = sections.iter().try_fold(header::BYTES as u64, tile);
        (reached == Some(begin as u64)).then_some(sections)
    })
}

/// The places where vidrec puts the tables, for the numbers of clips and frames in an intact header.
fn usual_places(bytes: &[u8], header: &Header) -> Option<Vec<SectionEntry>> {
    let mut offset = header::BYTES as u64;
    let mut place = |id, length: u64| {
        let section = SectionEntry { id, flags: section::FLAG_REQUIRED, offset, length, crc32: 0 };
        offset = align_up(section.end()?, section::ALIGNMENT)?;
        Some(section)
    };
    let frames = place(SectionId::FRAMES, header.frame_count.checked_mul(frame_entry::BYTES as u64)?)?;
    let clips = place(SectionId::CLIPS, header.clip_count.checked_mul(clip_entry::BYTES as u64)?)?;
    // Its length is unknown, but each string is checked when it is used.
    let strings = place(SectionId::STRINGS, (bytes.len() as u64).saturating_sub(clips.end()?))?;
    Some(vec![frames, clips, strings])
}
