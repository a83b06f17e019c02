//! Writing a data set: frames stream to disk, files get their names only when everything is whole.

pub(crate) mod publication;
#[cfg(feature = "pack")]
pub(crate) mod recovery;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use self::publication::Publication;
use crate::atomic_file::{AtomicFile, Temporary};
use crate::dataset_json::{self, DatasetJson, ShardJson};
use crate::folder_lock::FolderLock;
use crate::format::clip_entry::{self, ClipEntry, StringRef};
use crate::format::data_binding::{self, DataBinding, EDGE_BYTES};
use crate::format::frame_entry::FrameEntry;
use crate::format::header::{self, Header};
use crate::format::meta::Meta;
use crate::format::record_header::{self, RecordHeader};
use crate::format::section::{self, SectionEntry, SectionId};
use crate::format::{align_up, crc32, footer, recordio};
use crate::{Error, Result, jpeg, limits};

/// A clip to be written, all but its frames.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClipInfo {
    /// Label, at most [`limits::MAX_LABEL`]; `None` for a clip without one.
    pub label: Option<u32>,
    /// Source path relative to the input root, with `/` between folders.
    pub source: String,
    /// Class name; empty when there is none.
    pub class: String,
    /// Anything else that is known of the clip.
    pub attributes: Map<String, Value>,
    /// Width of every frame in pixels; 0 when they differ.
    pub width: u32,
    /// Height of every frame in pixels; 0 when they differ.
    pub height: u32,
    /// Unit of the frames' `pts` in seconds, as a fraction.
    pub time_base: (u32, u32),
    /// The source had fewer frames than were asked for, so some stand more than once.
    pub short: bool,
}

impl Default for ClipInfo {
    fn default() -> Self {
        ClipInfo {
            label: None,
            source: String::new(),
            class: String::new(),
            attributes: Map::new(),
            width: 0,
            height: 0,
            time_base: (1, 1_000_000),
            short: false,
        }
    }
}

/// A frame to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameData<'a> {
    /// The picture, a whole JPEG.
    pub jpeg: &'a [u8],
    /// Presentation time in units of the clip's time base.
    pub pts: i64,
    /// Ordinal among the frames that decode from the source, if known.
    pub source_index: Option<u32>,
}

/// How a data set is written.
#[derive(Debug, Clone, Default)]
pub struct WriterOptions {
    /// Class names, settings and provenance; stored as given.
    pub meta: Meta,
    /// Replace a data set that is already there. Off by default: then it is an error.
    pub overwrite: bool,
}

/// What [`Writer::finish`] wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Number of clips.
    pub clips: u64,
    /// Number of frames.
    pub frames: u64,
    /// Bytes of record and index files together.
    pub bytes: u64,
}

/// Writes a data set into a directory.
///
/// Nothing is visible under its final name before [`finish`](Self::finish); a writer that is dropped earlier leaves
/// the directory as it was. After an error the writer refuses to go on.
///
/// ```
/// use vidrec::{ClipInfo, Dataset, FrameData, Writer, WriterOptions};
/// # let dir = tempfile::tempdir().unwrap();
/// # let dir = dir.path().join("set");
/// # let mut jpeg = Vec::new();
/// # vidrec::jpeg::Encoder::new(90)?.encode(&vidrec::Planes::new(16, 16)?, &mut jpeg)?;
/// let mut writer = Writer::create(&dir, WriterOptions::default())?;
/// let clip = ClipInfo { label: Some(3), source: "a.mp4".into(), width: 16, height: 16, ..ClipInfo::default() };
/// writer.append(&clip, &[FrameData { jpeg: &jpeg, pts: 0, source_index: Some(0) }])?;
/// assert_eq!(writer.finish()?.clips, 1);
///
/// assert_eq!(Dataset::open(&dir)?.clip(0)?.label(), Some(3));
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug)]
pub struct Writer {
    dir: PathBuf,
    meta: Meta,
    // Before the lock, so that what is dropped is removed under it.
    finished: Vec<FinishedShard>,
    shard: ShardWriter,
    stale: Vec<PathBuf>,
    keep: bool,
    lock: FolderLock,
}

/// A file of this name in a folder tells of an interrupted pack.
pub(crate) const JOURNAL: &str = ".pack.journal";

impl Writer {
    /// Begins a data set in `dir`, which is created if need be.
    ///
    /// # Errors
    ///
    /// [`Usage`](crate::ErrorKind::Usage) if `dir` holds a data set and `overwrite` is off, another process is
    /// writing one there, or there is a pack that was interrupted and can be resumed;
    /// [`Io`](crate::ErrorKind::Io) from the file system.
    pub fn create(dir: impl AsRef<Path>, options: WriterOptions) -> Result<Self> {
        let dir = dir.as_ref();
        Self::create_locked(dir, options, lock(dir)?)
    }

    /// As [`create`](Self::create), under a lock that is held already.
    pub(crate) fn create_locked(dir: &Path, options: WriterOptions, lock: FolderLock) -> Result<Self> {
        let stale = replaceable(dir, options.overwrite)?;
        remove_leftovers(dir)?;
        let shard = ShardWriter::create(&shard_path(dir, 0))?;
        // Whatever was copied from: these records are vidrec's own.
        let (dir, meta) = (dir.to_owned(), Meta { records: String::new(), ..options.meta });
        Ok(Writer { dir, meta, finished: Vec::new(), shard, stale, keep: false, lock })
    }

    /// From now on the temporary files stay when the writer is dropped.
    fn keep_files(&mut self) {
        self.shard.record.keep();
        self.shard.index.keep();
        self.finished.iter_mut().flat_map(|s| &mut s.files).for_each(Temporary::keep);
    }

    /// Appends a clip with its frames, in time order. The clip gets the next ordinal, counted from 0.
    ///
    /// A frame in which RecordIO's magic word would force a record in two parts gets one to three fill bytes in its
    /// JPEG header, which no decoder shows; so what is stored may be that much longer.
    ///
    /// # Errors
    ///
    /// [`Usage`](crate::ErrorKind::Usage): no frames, a label out of range or not that of the class, something that
    /// is not a JPEG, an earlier error. [`Limit`](crate::ErrorKind::Limit): too large. [`Io`](crate::ErrorKind::Io).
    pub fn append(&mut self, clip: &ClipInfo, frames: &[FrameData<'_>]) -> Result<()> {
        check_class(clip, &self.meta.classes)?;
        self.shard.append(clip, frames)
    }

    /// Ends the shard, brings it to the disk and begins the next one. A shard without clips is not ended.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append).
    pub fn next_shard(&mut self) -> Result<()> {
        if self.shard.clip_count == 0 {
            return Ok(());
        }
        let next = ShardWriter::create(&shard_path(&self.dir, self.finished.len() + 1))?;
        self.finished.push(std::mem::replace(&mut self.shard, next).finish(&self.meta)?);
        if self.keep {
            self.keep_files();
        }
        Ok(())
    }

    /// Number of clips appended so far.
    pub fn clips(&self) -> u64 {
        self.finished.iter().map(|s| s.done.json.clips).sum::<u64>() + self.shard.clip_count
    }

    /// Bytes that the record files have so far.
    pub fn bytes(&self) -> u64 {
        self.finished.iter().map(|s| s.done.json.bytes).sum::<u64>() + self.shard.length
    }

    /// Bytes that the record file of the shard in hand has so far.
    pub fn shard_bytes(&self) -> u64 {
        self.shard.length
    }

    /// Brings everything to the disk, then gives the files their names: record files, indexes, `dataset.json`.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append). On an error nothing is published, or, if renaming failed half way, the index
    /// does not fit the record file and is refused at open.
    pub fn finish(self) -> Result<Written> {
        let ready = self.complete()?;
        ready.publication.run(&ready.dir)?;
        Ok(ready.written)
    }

    /// Brings everything to the disk under the temporary names, and says what is left to do.
    pub(crate) fn complete(self) -> Result<Ready> {
        let Writer { dir, meta, mut finished, shard, stale, keep, lock } = self;
        // An empty last shard is left out, unless it is the only one.
        if shard.clip_count > 0 || finished.is_empty() {
            finished.push(shard.finish(&meta)?);
        } else {
            shard.discard();
        }
        if keep {
            finished.iter_mut().flat_map(|s| &mut s.files).for_each(Temporary::keep);
        }
        let bytes = finished.iter().map(|s| s.done.json.bytes + s.done.index_length).sum();
        let json = DatasetJson::new(&meta, finished.iter().map(|s| s.done.json.clone()).collect());
        let rename: Vec<String> =
            finished.iter().flat_map(|s| [s.done.json.record_file.clone(), s.done.json.index_file.clone()]).collect();
        let remove = stale.iter().map(|p| file_name(p)).filter(|name| !rename.contains(name)).collect();
        let mut publication = Publication::new(remove, rename);
        publication.write(dataset_json::FILE_NAME, String::from_utf8_lossy(&json.to_bytes()).into_owned());
        let written = Written { clips: json.clips, frames: json.frames, bytes };
        Ok(Ready { dir, publication, written, _files: finished, _lock: lock })
    }
}

/// A data set that is on the disk but for its names.
#[derive(Debug)]
pub(crate) struct Ready {
    dir: PathBuf,
    pub publication: Publication,
    pub written: Written,
    _files: Vec<FinishedShard>,
    _lock: FolderLock,
}

/// Locks `dir`, which is created if need be, for a process that is to write a data set there.
///
/// # Errors
///
/// [`Usage`](crate::ErrorKind::Usage) if another process does, or there is a pack that was interrupted and can be resumed.
pub(crate) fn lock(dir: &Path) -> Result<FolderLock> {
    let lock = FolderLock::take(dir)?;
    if dir.join(JOURNAL).exists() {
        return Err(Error::usage("an interrupted pack is here, which can be resumed")
            .file(dir)
            .help("go on with it (vidrec pack --resume), begin it anew (--restart), or choose another folder"));
    }
    Ok(lock)
}

/// Removes what processes that were killed left of shards. Under the lock nobody else writes there.
pub(crate) fn remove_leftovers(dir: &Path) -> Result<()> {
    for leftover in dataset_json::temporary_shard_files(dir)? {
        fs::remove_file(&leftover).map_err(|e| Error::io("remove what was left", &leftover, e))?;
    }
    Ok(())
}

/// The files of the data set in `dir`, if it may be replaced.
pub(crate) fn replaceable(dir: &Path, overwrite: bool) -> Result<Vec<PathBuf>> {
    let stale = dataset_json::files_of_a_data_set(dir)?;
    match stale.first() {
        Some(file) if !overwrite => Err(Error::usage("there is a data set here already")
            .file(file)
            .help("choose another folder, or ask for it to be replaced (--force)")),
        _ => Ok(stale),
    }
}

fn shard_path(dir: &Path, ordinal: usize) -> PathBuf {
    dir.join(format!("shard-{ordinal:05}.rec"))
}

fn check_class(clip: &ClipInfo, classes: &[String]) -> Result<()> {
    let Some(label) = clip.label.filter(|_| !classes.is_empty()) else {
        return Ok(());
    };
    match classes.get(label as usize) {
        Some(class) if clip.class.is_empty() || *class == clip.class => Ok(()),
        Some(class) => Err(Error::usage(format!("{}: the label is not that of the class", clip.source))
            .expected(format!("label {label} for \"{class}\""))
            .found(format!("\"{}\"", clip.class))),
        None => Err(Error::usage(format!("{}: label {label} has no class", clip.source))
            .expected(format!("at most {} classes", classes.len()))),
    }
}

/// What is known of a shard that is complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShardDone {
    pub json: ShardJson,
    pub index_length: u64,
}

/// A shard that is complete but not yet published.
#[derive(Debug)]
struct FinishedShard {
    files: [Temporary; 2],
    done: ShardDone,
}

/// One record file with its index. The frame table streams to disk; clips and strings are kept until the end.
#[derive(Debug)]
struct ShardWriter {
    record_path: PathBuf,
    record: AtomicFile,
    index: AtomicFile,
    length: u64,
    clip_count: u64,
    frame_count: u64,
    /// Frames that belong to clips with an entry: all, but while a shard is recovered.
    clip_frames: u64,
    digest: Sha256,
    record_crc: crc32fast::Hasher,
    edges: Edges,
    frames_crc: crc32fast::Hasher,
    clips: Vec<u8>,
    strings: StringPool,
    buffer: Vec<u8>,
    failed: bool,
}

/// The first and the last bytes of what was pushed.
#[derive(Debug, Clone, Default)]
struct Edges {
    first: Vec<u8>,
    last: Vec<u8>,
}

impl Edges {
    fn push(&mut self, bytes: &[u8]) {
        let wanted = EDGE_BYTES.saturating_sub(self.first.len()).min(bytes.len());
        self.first.extend_from_slice(&bytes[..wanted]);
        self.last.extend_from_slice(&bytes[bytes.len().saturating_sub(EDGE_BYTES)..]);
        let surplus = self.last.len().saturating_sub(EDGE_BYTES);
        self.last.drain(..surplus);
    }

    fn crc32(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.first);
        hasher.update(&self.last);
        hasher.finalize()
    }
}

impl ShardWriter {
    fn create(record_path: &Path) -> Result<Self> {
        let record = AtomicFile::create(record_path)?;
        let mut index = AtomicFile::create(&record_path.with_extension("vidx"))?;
        index.write_all(&[0; header::BYTES])?;
        Ok(Self::with_files(record_path, record, index))
    }

    fn with_files(record_path: &Path, record: AtomicFile, index: AtomicFile) -> Self {
        ShardWriter {
            record_path: record_path.to_owned(),
            record,
            index,
            length: 0,
            clip_count: 0,
            frame_count: 0,
            clip_frames: 0,
            digest: Sha256::new(),
            record_crc: crc32fast::Hasher::new(),
            edges: Edges::default(),
            frames_crc: crc32fast::Hasher::new(),
            clips: Vec::new(),
            strings: StringPool::default(),
            buffer: Vec::new(),
            failed: false,
        }
    }

    fn check_usable(&self) -> Result<()> {
        if self.failed {
            return Err(Error::usage("the writer failed before and does not go on").file(&self.record_path));
        }
        Ok(())
    }

    /// Removes the files.
    fn discard(self) {
        self.record.discard();
        self.index.discard();
    }

    fn append(&mut self, clip: &ClipInfo, frames: &[FrameData<'_>]) -> Result<()> {
        self.check_usable()?;
        let label = check_clip(clip, frames)?;
        if self.clip_count >= limits::MAX_ORDINALS || self.frame_count + frames.len() as u64 > limits::MAX_ORDINALS {
            return Err(Error::limit("the shard is full").file(&self.record_path).help("begin another shard"));
        }
        let entries = self.encode_records(label, frames)?;
        // From here on a failure leaves a torn clip, so the writer must not go on.
        self.failed = true;
        self.write_records()?;
        for entry in &entries {
            self.index.write_all(entry)?;
            self.frames_crc.update(entry);
        }
        self.push_clip_entry(label, clip, self.frame_count, frames.len() as u32)?;
        self.clip_count += 1;
        self.frame_count += frames.len() as u64;
        self.clip_frames = self.frame_count;
        self.failed = false;
        Ok(())
    }

    /// Puts the clip's records into `buffer` and gives their index entries.
    fn encode_records(&mut self, label: i32, frames: &[FrameData<'_>]) -> Result<Vec<[u8; 32]>> {
        self.buffer.clear();
        let mut entries = Vec::with_capacity(frames.len());
        let mut shifted = Vec::new();
        for (t, frame) in frames.iter().enumerate() {
            let mut jpeg = frame.jpeg;
            if recordio::needs_parts(record_header::BYTES, jpeg) {
                shifted.clear();
                shifted.extend_from_slice(jpeg);
                if jpeg::avoid_magic(&mut shifted) {
                    jpeg = &shifted;
                }
            }
            let header = RecordHeader::new(label, self.frame_count + t as u64, self.clip_count, t as u32);
            let record_offset = self.length + self.buffer.len() as u64;
            recordio::append(&header.to_bytes(), jpeg, &mut self.buffer)?;
            let entry = FrameEntry {
                record_offset,
                pts: frame.pts,
                jpeg_length: jpeg.len() as u32,
                jpeg_crc32: crc32(jpeg),
                source_index: frame.source_index.unwrap_or(crate::format::frame_entry::UNKNOWN_SOURCE_INDEX),
            };
            entries.push(entry.to_bytes(self.frame_count + t as u64));
        }
        Ok(entries)
    }

    fn write_records(&mut self) -> Result<()> {
        self.record.write_all(&self.buffer)?;
        self.digest.update(&self.buffer);
        self.record_crc.update(&self.buffer);
        self.edges.push(&self.buffer);
        self.length += self.buffer.len() as u64;
        Ok(())
    }

    fn push_clip_entry(&mut self, label: i32, clip: &ClipInfo, first_frame: u64, frame_count: u32) -> Result<()> {
        let attributes = if clip.attributes.is_empty() {
            String::new()
        } else {
            serde_json::to_string(&clip.attributes).map_err(|e| Error::usage(format!("attributes: {e}")))?
        };
        let strings_crc32 = crc32(format!("{}{}{attributes}", clip.source, clip.class).as_bytes());
        let entry = ClipEntry {
            first_frame,
            frame_count,
            label,
            width: clip.width as u16,
            height: clip.height as u16,
            flags: if clip.short { clip_entry::FLAG_SHORT } else { 0 },
            time_base: clip.time_base,
            source: self.strings.push(&clip.source)?,
            class: self.strings.push_shared(&clip.class)?,
            attributes: self.strings.push(&attributes)?,
            strings_crc32,
        };
        self.clips.extend_from_slice(&entry.to_bytes(self.clip_count));
        Ok(())
    }

    /// Completes the index and brings both files to the disk, under their temporary names.
    fn finish(mut self, meta: &Meta) -> Result<FinishedShard> {
        self.check_usable()?;
        self.record.sync()?;
        let sha256: [u8; 32] = std::mem::take(&mut self.digest).finalize().into();
        let binding = DataBinding { length: self.length, sha256, edge_crc32: self.edges.crc32() };
        let meta = serde_json::to_vec(meta).map_err(|e| Error::usage(format!("settings: {e}")))?;
        if meta.len() as u64 > limits::MAX_META_BYTES {
            return Err(Error::limit("class names and settings are too long").expected(limits::MAX_META_BYTES));
        }
        let frames_crc = std::mem::take(&mut self.frames_crc).finalize();
        let frames_length = self.frame_count * crate::format::frame_entry::BYTES as u64;
        let mut sections = SectionWriter::after_frames(frames_length, frames_crc);
        sections.write(&mut self.index, SectionId::CLIPS, &self.clips)?;
        sections.write(&mut self.index, SectionId::STRINGS, &self.strings.bytes)?;
        sections.write(&mut self.index, SectionId::DATA, &binding.to_bytes())?;
        sections.write(&mut self.index, SectionId::META, &meta)?;
        let index_length = sections.finish(&mut self.index, self.clip_count, self.frame_count)?;
        self.index.sync()?;
        let index_path = self.record_path.with_extension("vidx");
        let json = ShardJson {
            record_file: file_name(&self.record_path),
            index_file: file_name(&index_path),
            clips: self.clip_count,
            frames: self.frame_count,
            bytes: self.length,
            sha256: data_binding::hex(&sha256),
        };
        Ok(FinishedShard { files: [self.record.seal(), self.index.seal()], done: ShardDone { json, index_length } })
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn check_clip(clip: &ClipInfo, frames: &[FrameData<'_>]) -> Result<i32> {
    let fault = |what: &str| Err(Error::usage(format!("{}: {what}", clip.source)));
    if frames.is_empty() || frames.len() > limits::MAX_FRAMES_PER_CLIP as usize {
        return fault("a clip needs frames, and not more than a million");
    }
    if frames.iter().any(|f| !f.jpeg.starts_with(&[0xff, 0xd8]) || f.jpeg.len() as u64 > limits::MAX_RECORD_BYTES) {
        return fault("a frame is not a JPEG");
    }
    check_info(clip)
}

/// Checks all but the frames, and gives the label as it is stored.
fn check_info(clip: &ClipInfo) -> Result<i32> {
    let fault = |what: &str| Err(Error::usage(format!("{}: {what}", clip.source)));
    if clip.width > limits::MAX_SIDE || clip.height > limits::MAX_SIDE {
        return fault("the frames are too large");
    }
    if clip.time_base.0 == 0 || clip.time_base.1 == 0 {
        return fault("the time base must be a positive fraction");
    }
    match clip.label.map_or(Ok(clip_entry::NO_LABEL), i32::try_from) {
        Ok(label) if label <= limits::MAX_LABEL => Ok(label),
        _ => fault("the label is over 2^24; keep such numbers in the attributes"),
    }
}

/// Strings end to end; class names, which repeat, are stored once.
#[derive(Debug, Default)]
pub(crate) struct StringPool {
    pub bytes: Vec<u8>,
    shared: HashMap<String, StringRef>,
}

impl StringPool {
    pub fn push(&mut self, text: &str) -> Result<StringRef> {
        if text.is_empty() {
            return Ok(StringRef::default());
        }
        let length = u32::try_from(text.len()).map_err(|_| Error::limit("a string over 4 GiB"))?;
        let offset = self.bytes.len() as u64;
        self.bytes.extend_from_slice(text.as_bytes());
        Ok(StringRef { offset, length })
    }

    pub fn push_shared(&mut self, text: &str) -> Result<StringRef> {
        if let Some(known) = self.shared.get(text) {
            return Ok(*known);
        }
        let new = self.push(text)?;
        self.shared.insert(text.to_owned(), new);
        Ok(new)
    }
}

/// Puts sections one after the other and remembers where they are.
pub(crate) struct SectionWriter {
    entries: Vec<SectionEntry>,
    end: u64,
}

impl SectionWriter {
    /// The frame table comes first because it streams to the file while clips are appended.
    pub fn after_frames(length: u64, crc32: u32) -> Self {
        let offset = header::BYTES as u64;
        let entry = SectionEntry { id: SectionId::FRAMES, flags: section::FLAG_REQUIRED, offset, length, crc32 };
        SectionWriter { entries: vec![entry], end: offset + length }
    }

    pub fn write(&mut self, file: &mut AtomicFile, id: SectionId, bytes: &[u8]) -> Result<()> {
        self.pad(file)?;
        let length = bytes.len() as u64;
        let entry = SectionEntry { id, flags: section::FLAG_REQUIRED, offset: self.end, length, crc32: crc32(bytes) };
        self.entries.push(entry);
        file.write_all(bytes)?;
        self.end += length;
        Ok(())
    }

    fn pad(&mut self, file: &mut AtomicFile) -> Result<()> {
        let end = align_up(self.end, section::ALIGNMENT).unwrap_or(self.end);
        file.write_all(&[0; section::ALIGNMENT as usize][..(end - self.end) as usize])?;
        self.end = end;
        Ok(())
    }

    /// Writes section table and footer, and the header in the place kept for it. Returns the file's length.
    pub fn finish(mut self, file: &mut AtomicFile, clip_count: u64, frame_count: u64) -> Result<u64> {
        self.pad(file)?;
        let table: Vec<u8> = self.entries.iter().flat_map(SectionEntry::to_bytes).collect();
        let file_length = self.end + table.len() as u64 + footer::BYTES as u64;
        let header = Header {
            version_minor: header::VERSION.1,
            required_flags: 0,
            optional_flags: 0,
            section_count: self.entries.len() as u32,
            section_table_offset: self.end,
            file_length,
            clip_count,
            frame_count,
            section_table_crc32: crc32(&table),
        }
        .to_bytes();
        file.write_all(&table)?;
        file.write_all(&footer::to_bytes(file_length, &header))?;
        file.patch_start(&header)?;
        Ok(file_length)
    }
}
