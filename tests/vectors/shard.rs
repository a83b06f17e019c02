//! A shard in parts, put together without the crate's writer, which refuses to write what a vector needs.

use vidrec::raw::clip_entry::{ClipEntry, StringRef};
use vidrec::raw::data_binding::{DataBinding, edge_crc32};
use vidrec::raw::frame_entry::FrameEntry;
use vidrec::raw::header::{self, Header};
use vidrec::raw::recordio::RecordHeader;
use vidrec::raw::section::{self, SectionEntry, SectionId};
use vidrec::raw::{crc32, recordio};

use sha2::{Digest, Sha256};

/// What a shard's two files are made from. Every field may be set to something that breaks a rule.
#[derive(Clone)]
pub struct Shard {
    pub records: Vec<u8>,
    pub frames: Vec<FrameEntry>,
    pub clips: Vec<ClipEntry>,
    pub strings: Vec<u8>,
    pub meta: Vec<u8>,
    /// Sections after `META`: id, flags, bytes.
    pub more: Vec<([u8; 4], u32, Vec<u8>)>,
    pub version_minor: u16,
    pub optional_flags: u32,
}

/// A frame to be added: its JPEG, presentation time and place in the source.
pub struct NewFrame<'a> {
    pub jpeg: &'a [u8],
    pub pts: i64,
    pub source_index: u32,
}

impl Shard {
    pub fn new(meta: &str) -> Self {
        Shard {
            records: Vec::new(),
            frames: Vec::new(),
            clips: Vec::new(),
            strings: Vec::new(),
            meta: meta.into(),
            more: Vec::new(),
            version_minor: 0,
            optional_flags: 0,
        }
    }

    /// Adds a clip; counts, places and checksums of `clip` are filled in.
    pub fn push(&mut self, mut clip: ClipEntry, [source, class, attributes]: [&[u8]; 3], frames: &[NewFrame<'_>]) {
        clip.first_frame = self.frames.len() as u64;
        clip.frame_count = frames.len() as u32;
        clip.source = self.push_string(source);
        clip.class = self.push_string(class);
        clip.attributes = self.push_string(attributes);
        clip.strings_crc32 = crc32(&[source, class, attributes].concat());
        for (t, frame) in (0..).zip(frames) {
            let header = RecordHeader::new(clip.label, self.frames.len() as u64, self.clips.len() as u64, t);
            self.push_record(&header.to_bytes(), frame);
        }
        self.clips.push(clip);
    }

    /// Adds a record with its frame entry; `head` is what stands before the JPEG.
    pub fn push_record(&mut self, head: &[u8], frame: &NewFrame<'_>) {
        self.frames.push(FrameEntry {
            record_offset: self.records.len() as u64,
            pts: frame.pts,
            jpeg_length: frame.jpeg.len() as u32,
            jpeg_crc32: crc32(frame.jpeg),
            source_index: frame.source_index,
        });
        recordio::append(head, frame.jpeg, &mut self.records).unwrap();
    }

    fn push_string(&mut self, text: &[u8]) -> StringRef {
        if text.is_empty() {
            return StringRef::default();
        }
        let offset = self.strings.len() as u64;
        self.strings.extend_from_slice(text);
        StringRef { offset, length: text.len() as u32 }
    }

    fn binding(&self) -> DataBinding {
        let sha256 = Sha256::digest(&self.records).into();
        DataBinding { length: self.records.len() as u64, sha256, edge_crc32: edge_crc32(&self.records) }
    }

    /// The index file, with every checksum right.
    pub fn index(&self) -> Index {
        let required = |id: SectionId, bytes: Vec<u8>| (id.0, section::FLAG_REQUIRED, bytes);
        let mut sections = vec![
            required(SectionId::FRAMES, (0..).zip(&self.frames).flat_map(|(i, f)| f.to_bytes(i)).collect()),
            required(SectionId::CLIPS, (0..).zip(&self.clips).flat_map(|(i, c)| c.to_bytes(i)).collect()),
            required(SectionId::STRINGS, self.strings.clone()),
            required(SectionId::DATA, self.binding().to_bytes().to_vec()),
            required(SectionId::META, self.meta.clone()),
        ];
        sections.extend(self.more.iter().cloned());

        let mut bytes = vec![0; header::BYTES];
        let mut table = Vec::new();
        for (id, flags, section) in &sections {
            let (offset, length) = (bytes.len() as u64, section.len() as u64);
            table.extend(SectionEntry { id: SectionId(*id), flags: *flags, offset, length, crc32: 0 }.to_bytes());
            bytes.extend_from_slice(section);
            bytes.resize(bytes.len().next_multiple_of(section::ALIGNMENT as usize), 0);
        }
        let head = Header {
            version_minor: self.version_minor,
            required_flags: 0,
            optional_flags: self.optional_flags,
            section_count: sections.len() as u32,
            section_table_offset: bytes.len() as u64,
            file_length: (bytes.len() + table.len() + header::FOOTER_BYTES) as u64,
            clip_count: self.clips.len() as u64,
            frame_count: self.frames.len() as u64,
            section_table_crc32: 0,
        };
        bytes[..header::BYTES].copy_from_slice(&head.to_bytes());
        bytes.extend(table);
        bytes.extend([0; header::FOOTER_BYTES]);
        let mut index = Index(bytes);
        index.seal(Seal::Sections);
        index
    }
}

/// From which checksum on an index that was changed is made right again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seal {
    /// Those of the sections, of the section table, of the header and of the footer.
    Sections,
    /// All but those of the sections.
    Table,
    /// Those of the header and of the footer.
    Header,
}

/// The bytes of an index file, to be changed in place.
#[derive(Clone)]
pub struct Index(pub Vec<u8>);

impl Index {
    /// Changes the file and makes its checksums right again, from `from` on.
    pub fn change(mut self, from: Seal, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self.seal(from);
        self
    }

    pub fn u32(&mut self, at: usize, value: u32) {
        self.0[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    /// Flips the lowest bit of the byte at `at`.
    pub fn flip(&mut self, at: usize) {
        self.0[at] ^= 1;
    }

    /// Adds to the integer of 64 bits at `at`.
    pub fn add(&mut self, at: usize, n: u64) {
        let sum = self.u64(at).wrapping_add(n);
        self.0[at..at + 8].copy_from_slice(&sum.to_le_bytes());
    }

    /// Exchanges the first two entries, of `bytes` each, of the table in section `n`.
    pub fn swap_entries(&mut self, n: usize, bytes: usize) {
        let first = self.section(n).start;
        let (a, b) = self.0[first..first + 2 * bytes].split_at_mut(bytes);
        a.swap_with_slice(b);
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.0[at..at + 8].try_into().unwrap())
    }

    /// Offset of section `n`'s entry in the section table.
    pub fn table_entry(&self, n: usize) -> usize {
        self.u64(24) as usize + n * section::BYTES
    }

    /// Where section `n` lies.
    pub fn section(&self, n: usize) -> std::ops::Range<usize> {
        let entry = self.table_entry(n);
        let begin = self.u64(entry + 8) as usize;
        begin..begin + self.u64(entry + 16) as usize
    }

    /// The byte after the table and before the footer.
    fn table_end(&self) -> usize {
        self.0.len() - header::FOOTER_BYTES
    }

    fn seal(&mut self, from: Seal) {
        if from <= Seal::Sections {
            for n in 0..(self.table_end() - self.table_entry(0)) / section::BYTES {
                let crc = crc32(&self.0[self.section(n)]);
                self.u32(self.table_entry(n) + 24, crc);
            }
        }
        if from <= Seal::Table {
            let crc = crc32(&self.0[self.table_entry(0)..self.table_end()]);
            self.u32(56, crc);
        }
        let crc = crc32(&self.0[..60]);
        self.u32(60, crc);
        let end = self.table_end();
        let head = self.0[..header::BYTES].try_into().unwrap();
        let foot = header::footer(self.0.len() as u64, head);
        self.0[end..].copy_from_slice(&foot);
    }
}
