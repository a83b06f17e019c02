//! The structure of an index file: the checks at open, and how entries are found afterwards.
//!
//! Opening takes the same time for ten frames as for a hundred million. It checks the header, the footer, the section
//! table and the two small sections. Each entry has its own CRC-32, which is checked when the entry is used.

use std::ops::Range;

use byteorder::{ByteOrder, LittleEndian as LE};

use crate::store::read_at::ReadAt;
use vidrec_format::clip_entry::StringRef;
use vidrec_format::header::Header;
use vidrec_format::{
    ClipEntry, DataBinding, Error, FrameEntry, Meta, Result, SectionEntry, SectionId, align_up, clip_entry, crc32,
    data_binding, frame_entry, header, limits, section,
};

/// The checked structure of an index file. It holds no reference to the file's bytes; each method takes them as an
/// argument.
#[derive(Debug)]
pub struct Index {
    /// The first bytes of the file.
    pub header: Header,
    /// The header's CRC-32, which covers all sections through the section table.
    pub header_crc32: u32,
    /// The table of sections, in the order of the file.
    pub sections: Vec<SectionEntry>,
    /// The identity of the record file that the index belongs to.
    pub binding: DataBinding,
    /// Classes, settings and versions.
    pub meta: Meta,
    /// The track file, if the shard has one.
    pub tracks: Option<DataBinding>,
    frames: SectionEntry,
    clips: SectionEntry,
    strings: SectionEntry,
}

impl Index {
    /// Checks the parts of an index that every reader depends on.
    pub fn prove(bytes: &(impl ReadAt + ?Sized)) -> Result<Self> {
        let header = prove_header(bytes)?;
        let sections = prove_section_table(bytes, &header)?;
        let find = |id| sections.iter().find(|s| s.id == id).copied().ok_or_else(|| missing(id));
        let (frames, clips, strings) = (find(SectionId::FRAMES)?, find(SectionId::CLIPS)?, find(SectionId::STRINGS)?);
        prove_length(&frames, header.frame_count, frame_entry::BYTES)?;
        prove_length(&clips, header.clip_count, clip_entry::BYTES)?;
        let binding = read_binding(bytes, &find(SectionId::DATA)?)?;
        let meta = read_meta(bytes, &find(SectionId::META)?)?;
        let tracks = sections.iter().find(|s| s.id == SectionId::TRACKS).map(|s| read_binding(bytes, s)).transpose()?;
        let header_crc32 = LE::read_u32(&head_bytes(bytes)?[header::BYTES - 4..]);
        Ok(Index { header, header_crc32, sections, binding, meta, tracks, frames, clips, strings })
    }

    /// The entry of clip `ordinal` of this shard.
    pub fn clip(&self, bytes: &(impl ReadAt + ?Sized), ordinal: u64) -> Result<ClipEntry> {
        let (at, entry) = table_entry(bytes, &self.clips, ordinal, self.header.clip_count)?;
        let fault = |rule, what: &str| fault(rule, SectionId::CLIPS.name(), at, what);
        let entry = ClipEntry::from_bytes(entry, ordinal)
            .ok_or_else(|| fault("clip-crc", "the clip entry's CRC-32 does not match"))?;
        let ClipEntry { first_frame, frame_count, label, time_base, .. } = entry;
        if first_frame.checked_add(frame_count.into()).is_none_or(|end| end > self.header.frame_count) {
            let e = fault("clip-frames", "the clip's frames are not in the frame table");
            let e = e.expected(format!("at most {} frames", self.header.frame_count));
            return Err(e.found(format!("{frame_count} frames from {first_frame}")));
        }
        if label != clip_entry::NO_LABEL && !(0..=limits::MAX_LABEL).contains(&label) {
            let e = fault("clip-label", "the label is out of range");
            return Err(e.expected(format!("-1 to {}", limits::MAX_LABEL)).found(label));
        }
        if time_base.0 == 0 || time_base.1 == 0 {
            let e = fault("clip-time-base", "the time base is not a positive fraction");
            return Err(e.found(format!("{}/{}", time_base.0, time_base.1)));
        }
        Ok(entry)
    }

    /// The entry of frame `ordinal` of this shard.
    pub fn frame(&self, bytes: &(impl ReadAt + ?Sized), ordinal: u64) -> Result<FrameEntry> {
        let (at, entry) = table_entry(bytes, &self.frames, ordinal, self.header.frame_count)?;
        let wrong = || fault("frame-crc", SectionId::FRAMES.name(), at, "the frame entry's CRC-32 does not match");
        FrameEntry::from_bytes(entry, ordinal).ok_or_else(wrong)
    }

    /// The range of the entries of clips in the file.
    pub fn clips_range(&self, clips: Range<u64>) -> Option<Range<u64>> {
        entries_range(&self.clips, clip_entry::BYTES, clips)
    }

    /// The range of the entries of frames in the file.
    pub fn frames_range(&self, frames: Range<u64>) -> Option<Range<u64>> {
        entries_range(&self.frames, frame_entry::BYTES, frames)
    }

    /// The ranges of a clip's strings in the file.
    pub fn string_ranges(&self, clip: &ClipEntry) -> impl Iterator<Item = Range<u64>> {
        let refs = [clip.source, clip.class, clip.attributes];
        refs.into_iter().filter_map(|at| self.strings.part(at.offset..at.offset.checked_add(at.length.into())?))
    }

    /// Returns the source, class and attributes of a clip, after a check of their CRC-32.
    pub fn strings(&self, bytes: &(impl ReadAt + ?Sized), clip: &ClipEntry) -> Result<[String; 3]> {
        let refs = [clip.source, clip.class, clip.attributes];
        let mut hasher = crc32fast::Hasher::new();
        let mut texts = [const { String::new() }; 3];
        for (text, at) in texts.iter_mut().zip(refs) {
            // The check applies to a copy, because text in a mapped file may stop being UTF-8 at any time.
            let raw = self.string_bytes(bytes, at)?.to_vec();
            hasher.update(&raw);
            *text = String::from_utf8(raw).map_err(|_| self.string_fault(at, "the string is not UTF-8"))?;
        }
        let crc = hasher.finalize();
        if crc != clip.strings_crc32 {
            let e = self.string_fault(clip.source, "the CRC-32 of the clip's strings does not match");
            return Err(e.crc32(clip.strings_crc32, crc));
        }
        Ok(texts)
    }

    fn string_bytes<'a>(&self, bytes: &'a (impl ReadAt + ?Sized), at: StringRef) -> Result<&'a [u8]> {
        if at.length == 0 {
            return Ok(&[]);
        }
        let end = at.offset.checked_add(at.length.into()).filter(|&end| end <= self.strings.length);
        let range = end.and_then(|end| self.strings.part(at.offset..end));
        let found = range.map(|range| bytes.slice(range)).transpose()?.flatten();
        found.ok_or_else(|| {
            self.string_fault(at, "a string is not in the string pool")
                .expected(format!("at most {} bytes", self.strings.length))
                .found(format!("{} bytes from {}", at.length, at.offset))
        })
    }

    fn string_fault(&self, at: StringRef, what: &str) -> Error {
        fault("clip-string", SectionId::STRINGS.name(), self.strings.offset.saturating_add(at.offset), what)
    }
}

/// An error in the section table, or in a part of the file that has a name.
fn fault(rule: &'static str, section: &'static str, at: u64, what: impl Into<String>) -> Error {
    Error::format(rule, what.into()).section(section).at(at)
}

/// The first bytes of an index that is long enough to have a header.
fn head_bytes(bytes: &(impl ReadAt + ?Sized)) -> Result<&[u8]> {
    Ok(bytes.slice(0..header::BYTES as u64)?.unwrap_or_default())
}

fn prove_header(bytes: &(impl ReadAt + ?Sized)) -> Result<Header> {
    let (length, least) = (bytes.len(), (header::BYTES + header::FOOTER_BYTES) as u64);
    let foot = match length >= least {
        true => bytes.slice(length - header::FOOTER_BYTES as u64..length)?,
        false => None,
    };
    let ends = head_bytes(bytes)?.first_chunk().zip(foot.and_then(|foot| foot.first_chunk()));
    let Some((head, foot)) = ends else {
        let e = Error::format("index-length", "the file is too short for an index file");
        return Err(e.expected(format!("at least {least} bytes")).found(format!("{length} bytes")));
    };
    let header = Header::from_bytes(head)?;
    if header.file_length != length {
        let e = fault("index-file-length", "header", 32, "the index file was truncated or extended");
        return Err(e.bytes(header.file_length, length));
    }
    header::check_footer(foot, length, head)?;
    let most = limits::MAX_ORDINALS;
    if header.clip_count > most || header.frame_count > most {
        return Err(Error::limit("the shard has too many clips or frames").section("header").at(40).expected(most));
    }
    Ok(header)
}

fn prove_section_table(bytes: &(impl ReadAt + ?Sized), header: &Header) -> Result<Vec<SectionEntry>> {
    if header.section_count > limits::MAX_SECTIONS {
        let e = Error::limit("there are too many sections");
        return Err(e.expected(limits::MAX_SECTIONS).found(header.section_count));
    }
    let begin = header.section_table_offset;
    let length = header.section_count as usize * section::BYTES;
    let end = begin.checked_add(length as u64);
    let outside = |what: &str| fault("index-table-bounds", "section table", begin, what);
    if end.and_then(|e| e.checked_add(header::FOOTER_BYTES as u64)) != Some(header.file_length) {
        return Err(outside("the section table does not end where the footer begins"));
    }
    let table = bytes.slice(begin..begin + length as u64)?.ok_or_else(|| outside("outside the file"))?;
    let crc = crc32(table);
    if crc != header.section_table_crc32 {
        let e = fault("index-table-crc", "section table", begin, "the section table's CRC-32 does not match");
        return Err(e.crc32(header.section_table_crc32, crc));
    }
    let (entries, _) = table.as_chunks::<{ section::BYTES }>();
    let sections: Vec<SectionEntry> = entries.iter().map(SectionEntry::from_bytes).collect();
    prove_tiling(&sections, header)?;
    prove_known(&sections)?;
    Ok(sections)
}

/// Checks that the sections follow each other from the header to the section table, with less than one unit of padding
/// between them.
fn prove_tiling(sections: &[SectionEntry], header: &Header) -> Result<()> {
    let wrong = |at: u64, what: String| fault("section-bounds", "section table", at, what);
    let mut next = Some(header::BYTES as u64);
    for s in sections {
        if Some(s.offset) != next {
            let e = wrong(s.offset, format!("section {:?} does not begin where the previous section ends", s.id));
            let expected = next.map_or_else(|| "in range".into(), |n| n.to_string());
            return Err(e.expected(format!("offset {expected}")).found(format!("offset {}", s.offset)));
        }
        next = s.end().and_then(|end| align_up(end, section::ALIGNMENT));
    }
    if next == Some(header.section_table_offset) {
        return Ok(());
    }
    Err(wrong(header.section_table_offset, "the last section does not end where the section table begins".into()))
}

fn prove_known(sections: &[SectionEntry]) -> Result<()> {
    for (i, s) in sections.iter().enumerate() {
        if s.flags & section::FLAG_REQUIRED != 0 && !SectionId::ALL.contains(&s.id) {
            let what = format!("the file requires the unknown section {:?}", s.id);
            let e = fault("section-unknown", "section table", s.offset, what);
            return Err(e.help("a newer version of vidrec may read it"));
        }
        if sections[..i].iter().any(|other| other.id == s.id) {
            let what = format!("section {:?} occurs twice", s.id);
            return Err(fault("section-duplicate", "section table", s.offset, what));
        }
    }
    Ok(())
}

fn missing(id: SectionId) -> Error {
    Error::format("section-missing", format!("required section {id:?} is missing")).section("section table")
}

fn prove_length(s: &SectionEntry, count: u64, entry_bytes: usize) -> Result<()> {
    if count.checked_mul(entry_bytes as u64) == Some(s.length) {
        return Ok(());
    }
    let what = "the section's length does not match the counts in the header";
    let e = fault("section-size", s.id.name(), s.offset, what);
    Err(e.expected(format!("{count} entries of {entry_bytes} bytes")).found(format!("{} bytes", s.length)))
}

/// Returns a section's bytes, after a check of their CRC-32.
pub fn proven_bytes<'a>(bytes: &'a (impl ReadAt + ?Sized), s: &SectionEntry) -> Result<&'a [u8]> {
    let found = s.end().map(|end| bytes.slice(s.offset..end)).transpose()?.flatten().ok_or_else(|| missing(s.id))?;
    let crc = crc32(found);
    if crc == s.crc32 {
        return Ok(found);
    }
    let e = fault("section-crc", s.id.name(), s.offset, "the section's CRC-32 does not match");
    Err(e.crc32(s.crc32, crc))
}

/// Reads the identity of a file from a section.
fn read_binding(bytes: &(impl ReadAt + ?Sized), s: &SectionEntry) -> Result<DataBinding> {
    prove_length(s, 1, data_binding::BYTES)?;
    let binding = proven_bytes(bytes, s)?.first_chunk().map(DataBinding::from_bytes);
    binding.ok_or_else(|| missing(s.id))
}

fn read_meta(bytes: &(impl ReadAt + ?Sized), s: &SectionEntry) -> Result<Meta> {
    if s.length > limits::MAX_META_BYTES {
        let e = Error::limit("section META is too long").at(s.offset);
        return Err(e.expected(limits::MAX_META_BYTES).found(s.length));
    }
    Meta::from_json(proven_bytes(bytes, s)?)
        .map_err(|e| fault("meta-json", s.id.name(), s.offset, "section META is not the expected JSON").found(e))
}

fn table_entry<'a, const N: usize>(
    bytes: &'a (impl ReadAt + ?Sized),
    table: &SectionEntry,
    ordinal: u64,
    count: u64,
) -> Result<(u64, &'a [u8; N])> {
    // Opening checked that the table holds `count` entries and lies in the file.
    let range = (ordinal < count).then(|| entries_range(table, N, ordinal..ordinal + 1)).flatten();
    let entry = range.clone().map(|range| bytes.slice(range)).transpose()?.flatten().and_then(|e| e.first_chunk::<N>());
    range.zip(entry).map(|(range, entry)| (range.start, entry)).ok_or_else(|| {
        let e = Error::usage(format!("there is no entry {ordinal} in {}", table.id.name()));
        e.expected(format!("less than {count}"))
    })
}

/// The range of the entries of a table with these ordinals in the file.
fn entries_range(table: &SectionEntry, entry_bytes: usize, ordinals: Range<u64>) -> Option<Range<u64>> {
    let bytes = entry_bytes as u64;
    table.part(ordinals.start.checked_mul(bytes)?..ordinals.end.checked_mul(bytes)?)
}
