//! The track file of a shard, open for reading.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::dataset::Source;
use crate::dataset::records::{prove_binding, proven, proven_slices};
use crate::store::disk::map;
use crate::store::read_at::ReadAt;
use crate::store::remote::RemoteFile;
use vidrec_format::data_binding::{EDGE_BYTES, edges_crc32};
use vidrec_format::track::directory::Entry;
use vidrec_format::track::file::{Footer, TableEntry};
use vidrec_format::track::payload::Payload;
use vidrec_format::track::schema::{Schema, TrackSchema};
use vidrec_format::track::{directory, file};
use vidrec_format::{DataBinding, Error, Result, crc32, limits};

/// The length of the end of a remote track file that the first request after the head fetches. Usually it contains
/// the schema and more.
const TAIL_BYTES: u64 = 64 << 10;

/// The track file of a shard. It is opened when it is first used. Local data sets use it when they are opened.
#[derive(Debug)]
pub struct TrackFile {
    /// The file.
    pub path: PathBuf,
    /// The identity of the file according to the index.
    pub binding: DataBinding,
    /// Number of clips in it.
    pub clips: u64,
    source: Source,
    opened: OnceLock<OpenTracks>,
}

/// A track file whose ends are proven.
#[derive(Debug)]
pub struct OpenTracks {
    pub records: Box<dyn ReadAt>,
    pub footer: Footer,
    pub schema: Schema,
}

/// The tracks of one clip: their bytes, whose checksums are compared when they are used.
#[derive(Debug)]
pub struct Block<'a> {
    pub range: Range<u64>,
    pub bytes: Cow<'a, [u8]>,
    pub entries: Vec<Entry>,
}

impl TrackFile {
    /// The track file at `path`. It is opened when it is first used.
    pub fn new(path: PathBuf, binding: DataBinding, clips: u64, source: &Source) -> Self {
        TrackFile { path, binding, clips, source: source.clone(), opened: OnceLock::new() }
    }

    /// Opens the file, and checks in constant time that it is the one that the index names.
    pub fn open(&self) -> Result<&OpenTracks> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let opened = self.open_now().map_err(|e| self.named(e))?;
        // Another thread may have opened it, too. Either result will do.
        Ok(self.opened.get_or_init(|| opened))
    }

    /// The tracks of the file, if it is open.
    pub fn opened(&self) -> Option<&Schema> {
        self.opened.get().map(|opened| &opened.schema)
    }

    /// Pages that could not be read so far.
    pub fn lost(&self) -> u64 {
        self.opened.get().map_or(0, |opened| opened.records.lost())
    }

    fn named(&self, e: Error) -> Error {
        match e.path() {
            Some(_) => e,
            None if self.lost() > 0 => map::lost(&self.path),
            None => e.file(&self.path),
        }
    }

    fn open_now(&self) -> Result<OpenTracks> {
        let records = self.source.open(&self.path)?;
        let length = records.len();
        records.prefetch(&[0..length.min(file::END_BYTES as u64), length.saturating_sub(TAIL_BYTES)..length])?;
        let (footer, schema) = proven_slices(&*records, || self.prove(&*records))?;
        Ok(OpenTracks { records, footer, schema })
    }

    /// Proves the ends of the file.
    fn prove(&self, records: &dyn ReadAt) -> Result<(Footer, Schema)> {
        // The ends are read as tables, because the first requests for a remote file fetched them.
        let (length, edge) = (records.len(), records.len().min(EDGE_BYTES as u64));
        let edges = || Ok(edges_crc32(&part(records, 0..edge)?, &part(records, length - edge..length)?));
        let faults: [fn() -> Error; 2] = [
            || Error::format("track-length", "the track file's length does not match its index"),
            || Error::format("track-edges", "the CRC-32 of the track file's ends does not match its index"),
        ];
        prove_binding(records, &self.binding, edges, faults)?;
        let end = file::END_BYTES as u64;
        let ends = || Ok((part(records, 0..end)?, part(records, length - end..length)?));
        let (head, tail) = if length < 2 * end { Default::default() } else { ends()? };
        let (Some(head), Some(tail)) = (head.first_chunk(), tail.first_chunk()) else {
            return Err(Error::format("track-layout", "the file is too short for header and footer"));
        };
        let footer = Footer::from_bytes(tail, file::check_header(head)?)?;
        footer.check_layout(length, self.clips)?;
        if u64::from(footer.schema_length) > limits::MAX_TRACK_SCHEMA_BYTES {
            let e = Error::limit("the schema is too long").at(footer.schema_offset);
            return Err(e.expected(limits::MAX_TRACK_SCHEMA_BYTES).found(footer.schema_length));
        }
        let at = footer.schema_offset;
        let schema = part(records, at..at + u64::from(footer.schema_length))?;
        let found = crc32(&schema);
        if found != footer.schema_crc32 {
            return Err(Error::format("track-schema", "the schema's CRC-32 does not match")
                .at(at)
                .crc32(footer.schema_crc32, found));
        }
        Ok((footer, Schema::from_bytes(&schema).map_err(|e| e.at(at))?))
    }

    /// The entry of clip `ordinal` of the shard.
    pub fn entry(&self, ordinal: u64) -> Result<TableEntry> {
        let opened = self.open()?;
        let at = opened.footer.table_offset + ordinal * file::TABLE_ENTRY_BYTES as u64;
        let entry = proven_slices(&*opened.records, || {
            let bytes = part(&*opened.records, at..at + file::TABLE_ENTRY_BYTES as u64)?;
            let entry = bytes.first_chunk().and_then(|bytes| TableEntry::from_bytes(bytes, ordinal));
            let wrong = || Error::format("track-entry-crc", "the CRC-32 of the clip's entry does not match");
            entry.ok_or_else(|| wrong().section("table").at(at))
        });
        entry.map_err(|e| self.named(e))
    }

    /// The tracks of clip `ordinal` of the shard; `None` if it has none.
    pub fn block(&self, ordinal: u64) -> Result<Option<Block<'_>>> {
        let opened = self.open()?;
        let entry = self.entry(ordinal)?;
        let Some(range) = entry.range(opened.footer.table_offset).map_err(|e| self.named(e))? else { return Ok(None) };
        let block = proven(&*opened.records, &range, || {
            let block = self.read_block(opened, ordinal, entry, range.clone())?;
            if opened.records.remote().is_some() {
                block.entries.iter().try_for_each(|entry| {
                    let proven = entry.payload(&block.bytes, &opened.schema).map(drop);
                    self.named_track(&block, entry, proven)
                })?;
            }
            Ok(block)
        });
        // If a track is still wrong, the others can be read: each is proven when it is taken.
        block.or_else(|_| self.read_block(opened, ordinal, entry, range.clone())).map(Some)
    }

    /// The location of the tracks of clip `ordinal` of the shard, if they are remote.
    pub fn remote_block(&self, ordinal: u64) -> Result<Option<(&Arc<RemoteFile>, Range<u64>)>> {
        let opened = self.open()?;
        let Some(file) = opened.records.remote() else { return Ok(None) };
        let range = self.entry(ordinal)?.range(opened.footer.table_offset)?;
        Ok(range.map(|range| (file, range)))
    }

    fn read_block<'a>(
        &'a self,
        opened: &'a OpenTracks,
        ordinal: u64,
        entry: TableEntry,
        range: Range<u64>,
    ) -> Result<Block<'a>> {
        let bytes = match opened.records.bytes() {
            Some(_) => Cow::Borrowed(opened.records.slice(range.clone())?.unwrap_or_default()),
            None => {
                let mut buffer = Vec::new();
                opened.records.read(range.clone(), &mut buffer).map_err(|e| self.named(e))?;
                Cow::Owned(buffer)
            }
        };
        let entries = directory::prove(&bytes, entry.length, ordinal, entry.directory_crc32, &opened.schema);
        let entries = entries.map_err(|e| self.named(e.at(range.start)))?;
        Ok(Block { range, bytes, entries })
    }

    /// Returns a track of a block, after a comparison of its checksum and a check of everything that readers rely on.
    pub fn payload<'a>(&'a self, block: &'a Block<'_>, entry: &Entry, frames: u32) -> Result<Payload<'a>> {
        let payload = entry.payload(&block.bytes, &self.open()?.schema);
        self.named_track(block, entry, payload.and_then(|payload| payload.prove(frames).map(|()| payload)))
    }

    /// Checks as much as [`payload`](Self::payload), except for blocks of coded values, which are checked when they are
    /// decoded.
    pub fn prove_head(&self, block: &Block<'_>, entry: &Entry, frames: u32) -> Result<()> {
        let payload = entry.unproven(&block.bytes, &self.open()?.schema)?;
        let proven = entry.compare(crc32(payload.summed())).and_then(|()| payload.prove(frames));
        self.named_track(block, entry, proven)
    }

    /// Names a track of a block in the error of what was made of it.
    pub fn named_track<T>(&self, block: &Block<'_>, entry: &Entry, result: Result<T>) -> Result<T> {
        result.map_err(|e| {
            let tracks = self.opened().map(Schema::tracks).unwrap_or_default();
            let name = tracks.get(entry.track as usize).map_or("", |track| &track.name);
            self.named(e.in_track(name).at(block.range.start + entry.offset))
        })
    }
}

/// Returns a part of a file that is read at open, or a part of its table.
fn part(records: &dyn ReadAt, range: Range<u64>) -> Result<Cow<'_, [u8]>> {
    if let Some(bytes) = records.slice(range.clone())? {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut buffer = Vec::new();
    records.read(range, &mut buffer)?;
    Ok(Cow::Owned(buffer))
}

/// Joins the tracks of several shards, each with the path of its file, into one list.
///
/// # Errors
///
/// Rule `dataset-tracks`.
pub(super) fn joined<'a>(tracks: impl Iterator<Item = (&'a Path, &'a TrackSchema)>) -> Result<Schema> {
    let mut joined = Schema::default();
    for (path, track) in tracks {
        joined.join(track).map_err(|e| {
            Error::format("dataset-tracks", "a track is not the same in all shards").found(e).file(path)
        })?;
    }
    Ok(joined)
}
