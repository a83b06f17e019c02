//! Reading a data set: its files, clips, and frames that borrow from a map or a buffer.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::advice::{Advice, advise};
use crate::dataset_json::{DatasetJson, ShardJson};
use crate::fingerprint::Fingerprint;
use crate::format::clip_entry::{self, ClipEntry};
use crate::format::data_binding;
use crate::format::frame_entry::{FrameEntry, UNKNOWN_SOURCE_INDEX};
use crate::format::meta::Meta;
use crate::format::record_header::{self, RecordHeader};
use crate::format::{crc32, names, recordio};
use crate::index::Index;
use crate::listing::{self, ShardFiles};
use crate::map;
use crate::storage::{self, IndexBytes, Io, Records};
use crate::{Error, Result};

/// A data set, open for reading. Cloning is cheap; all clones share the maps.
///
/// Opening takes the same time whatever the number of clips: the heads of the files are proven, and each clip's and
/// frame's entry when it is used. [`verify`](crate::verify) proves everything. Reads are positional, without a shared
/// cursor, so threads and forked processes do not disturb each other. The files must not be changed in place while
/// they are open; vidrec itself replaces files by renaming, which is safe.
///
/// ```no_run
/// let train = vidrec::Dataset::open("train")?;
/// for i in 0..train.len() {
///     let clip = train.clip(i)?;
///     println!("{} {:?} {} frames", clip.source()?, clip.label(), clip.frame_count());
///     let first = clip.frame(0)?;
///     first.check()?; // CRC-32
///     std::fs::write("first.jpg", first.jpeg()).unwrap();
/// }
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Dataset(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    shards: Vec<Arc<Shard>>,
    /// Ordinal of each shard's first clip, and the number of clips at the end.
    starts: Vec<u64>,
    frame_count: u64,
    io: Io,
    /// Of the clips in the shards, those that this data set has.
    chosen: Option<Chosen>,
}

/// Some of the clips of the shards, in any order.
#[derive(Debug)]
struct Chosen {
    /// Ordinals in all shards together.
    clips: Vec<u64>,
    /// Frames of every clip, if all have as many.
    frames_per_clip: Option<u32>,
    /// As [`Dataset::draws`].
    draws: u32,
}

/// Whether `clips` are whole groups of `draws` in a row.
fn are_whole_groups(clips: &[u64], draws: u32) -> bool {
    let draws = u64::from(draws);
    let is_group =
        |group: &[u64]| group[0].is_multiple_of(draws) && group.iter().copied().eq(group[0]..group[0] + draws);
    clips.chunks(draws as usize).all(is_group)
}

impl Inner {
    fn new(shards: Vec<Arc<Shard>>, io: Io) -> Result<Self> {
        let Some(first) = shards.first() else {
            return Err(Error::usage("no shards to open"));
        };
        for other in &shards[1..] {
            if other.index.meta.classes != first.index.meta.classes {
                return Err(Error::format("dataset-classes", "the shards do not have the same class names")
                    .file(&other.index_path)
                    .expected(format!("those of {}", first.index_path.display())));
            }
        }
        let mut starts = vec![0];
        for shard in &shards {
            starts.push(starts.last().unwrap_or(&0) + shard.clip_count());
        }
        let frame_count = shards.iter().map(|s| s.index.header.frame_count).sum();
        Ok(Inner { shards, starts, frame_count, io, chosen: None })
    }

    /// As [`Dataset::draws`], of all clips in the shards.
    fn draws(&self) -> u32 {
        let of = |shard: &Arc<Shard>| shard.index.meta.draws.unwrap_or(1);
        let draws = self.shards.first().map_or(1, of);
        let whole =
            |shard: &Arc<Shard>| of(shard) == draws && shard.clip_count().is_multiple_of(u64::from(draws.max(1)));
        if self.shards.iter().all(whole) { draws.max(1) } else { 1 }
    }

    /// Number of clips in all shards.
    fn stored(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }
}

/// One record file and its index.
#[derive(Debug)]
pub(crate) struct Shard {
    pub record_path: PathBuf,
    pub index_path: PathBuf,
    pub records: Records,
    pub index_bytes: IndexBytes,
    pub index: Index,
}

impl Shard {
    fn open(files: &ShardFiles, io: Io) -> Result<Self> {
        let shard = Self::open_unbound(files, io).map_err(|e| match &files.listed {
            Some(_) if e.path().is_some_and(|path| !path.exists()) => {
                e.help("dataset.json lists it: bring it back, or let `vidrec repair` save what is left")
            }
            _ => e,
        })?;
        shard.prove_binding()?;
        shard.prove_listed(files.listed.as_ref())?;
        Ok(shard)
    }

    /// Opens index and record file without proving that they belong together.
    pub fn open_unbound(files: &ShardFiles, io: Io) -> Result<Self> {
        let index_path = files.index.clone();
        let index_bytes = IndexBytes::open(&index_path, io)?;
        let index = Index::prove(&index_bytes).map_err(|e| e.file(&index_path))?;
        let record_path = files.record.clone().unwrap_or_else(|| record_of(&index_path, &index));
        let records = Records::open(&record_path, io)?;
        Ok(Shard { record_path, index_path, records, index_bytes, index })
    }

    /// Proves in constant time that this is the shard that `dataset.json` lists.
    pub fn prove_listed(&self, listed: Option<&ShardJson>) -> Result<()> {
        let found = self.to_json();
        let Some(listed) = listed.filter(|listed| !listed.is(&found)) else { return Ok(()) };
        let words = |s: &ShardJson| {
            let index = s.index_crc32.map_or(String::new(), |crc| format!(", index CRC-32 {crc:#010x}"));
            format!("{} clips, {} frames, {} bytes, SHA-256 {}{index}", s.clips, s.frames, s.bytes, s.sha256)
        };
        Err(Error::format("dataset-shard", "this is not the shard that dataset.json lists")
            .file(&self.index_path)
            .expected(words(listed))
            .found(words(&found))
            .help("bring back the listed files, or let `vidrec repair` make dataset.json from those that are here"))
    }

    /// Proves in constant time that index and record file belong together.
    pub fn prove_binding(&self) -> Result<()> {
        let binding = &self.index.binding;
        let fault = |rule, what: &str| {
            Error::format(rule, what.to_owned())
                .file(&self.record_path)
                .help("the record file was cut or replaced, or the index belongs to another one")
        };
        let length = self.records.len();
        if length != binding.length {
            return Err(fault("data-length", "the record file does not have the length that its index says")
                .expected(format!("{} bytes", binding.length))
                .found(format!("{length} bytes")));
        }
        let edges = self.records.edge_crc32().map_err(|e| e.file(&self.record_path))?;
        if edges != binding.edge_crc32 {
            return Err(fault("data-edges", "the CRC-32 of the record file's ends is not what its index says")
                .expected(format!("{:#010x}", binding.edge_crc32))
                .found(format!("{edges:#010x}")));
        }
        Ok(())
    }

    pub fn clip_count(&self) -> u64 {
        self.index.header.clip_count
    }

    pub fn to_json(&self) -> ShardJson {
        let name = |p: &Path| p.file_name().unwrap_or_default().to_string_lossy().into_owned();
        ShardJson {
            record_file: name(&self.record_path),
            index_file: name(&self.index_path),
            clips: self.index.header.clip_count,
            frames: self.index.header.frame_count,
            bytes: self.index.binding.length,
            sha256: data_binding::hex(&self.index.binding.sha256),
            index_crc32: Some(self.index.header_crc32),
        }
    }

    pub fn clip(&self, ordinal: u64) -> Result<ClipEntry> {
        self.of_index(|index, bytes| index.clip(bytes, ordinal))
    }

    /// Reads from the index; again where a page was lost meanwhile, so that an entry is never of two minds.
    pub fn of_index<'a, T>(&'a self, read: impl Fn(&Index, &'a [u8]) -> Result<T>) -> Result<T> {
        loop {
            let lost = self.index_bytes.lost();
            let found = read(&self.index, &self.index_bytes);
            if self.index_bytes.lost() == lost {
                return found
                    .map_err(|e| if lost > 0 { map::lost(&self.index_path) } else { e.file(&self.index_path) });
            }
        }
    }

    /// Whether all that was read so far was in the files, and not zeros in place of what they lost.
    pub fn prove_whole(&self) -> Result<()> {
        match (self.index_bytes.lost(), self.records.lost()) {
            (0, 0) => Ok(()),
            (0, _) => Err(map::lost(&self.record_path)),
            _ => Err(map::lost(&self.index_path)),
        }
    }

    /// An error in a record: of the file's bytes, or because they are lost.
    fn in_record(&self, e: Error) -> Error {
        if self.records.lost() > 0 { map::lost(&self.record_path) } else { e.file(&self.record_path) }
    }

    /// Entry, record header and JPEG of frame `ordinal` of the shard.
    pub fn frame(&self, ordinal: u64) -> Result<(FrameEntry, RecordHeader, Cow<'_, [u8]>)> {
        let entry = self.frame_entry(ordinal)?;
        if let Records::Mapped(map) = &self.records {
            let record = recordio::read(map, entry.record_offset).and_then(|record| split_record(record, &entry));
            let (header, jpeg) = record.map_err(|e| self.in_record(e))?;
            return Ok((entry, header, jpeg));
        }
        let mut buffer = Vec::new();
        let (entry, header, jpeg) = self.frame_with(ordinal, &mut buffer)?;
        let jpeg = jpeg.into_owned();
        Ok((entry, header, Cow::Owned(jpeg)))
    }

    /// As [`frame`](Self::frame), with a buffer that is used where the file is not mapped.
    pub fn frame_with<'a>(
        &'a self,
        ordinal: u64,
        buffer: &'a mut Vec<u8>,
    ) -> Result<(FrameEntry, RecordHeader, Cow<'a, [u8]>)> {
        let entry = self.frame_entry(ordinal)?;
        let record = self.records.record(&entry, buffer).and_then(|record| split_record(record, &entry));
        let (header, jpeg) = record.map_err(|e| self.in_record(e))?;
        Ok((entry, header, jpeg))
    }

    fn frame_entry(&self, ordinal: u64) -> Result<FrameEntry> {
        self.of_index(|index, bytes| index.frame(bytes, ordinal))
    }
}

/// Header and JPEG of a record.
fn split_record<'a>(record: recordio::Record<'a>, entry: &FrameEntry) -> Result<(RecordHeader, Cow<'a, [u8]>)> {
    let (header, jpeg_at) = split_payload(&record.payload, entry.record_offset)?;
    let jpeg = match record.payload {
        Cow::Borrowed(payload) => Cow::Borrowed(&payload[jpeg_at..]),
        Cow::Owned(mut payload) => Cow::Owned(payload.split_off(jpeg_at)),
    };
    if jpeg.len() as u64 != u64::from(entry.jpeg_length) {
        return Err(Error::format("record-length", "the record's JPEG does not have the length that the index says")
            .section("record")
            .at(entry.record_offset)
            .expected(format!("{} bytes", entry.jpeg_length))
            .found(format!("{} bytes", jpeg.len())));
    }
    Ok((header, jpeg))
}

/// A payload's header and the offset of its JPEG, after the label vector if there is one.
pub(crate) fn split_payload(payload: &[u8], at: u64) -> Result<(RecordHeader, usize)> {
    let short = || Error::format("record-header", "the record is too short for its header").section("record").at(at);
    let (header, image) = RecordHeader::split(payload).ok_or_else(short)?;
    let labels = (header.flag as usize).checked_mul(4).filter(|&n| n <= image.len()).ok_or_else(short)?;
    Ok((header, record_header::BYTES + labels))
}

/// The record file of an index that was named by itself: that of the same name, or else the one that it says.
fn record_of(index_path: &Path, index: &Index) -> PathBuf {
    let same = index_path.with_extension("rec");
    let name = index_path.file_name().unwrap_or_default().to_string_lossy();
    if same.exists() || names::stem(&name) == same.file_stem().unwrap_or_default() {
        return same;
    }
    index_path.with_file_name(names::with_digest(names::stem(&name), &index.binding.sha256, "rec"))
}

impl Dataset {
    /// Opens a data set's directory, a `.rec` file, a `.vidx` file or a `dataset.json`.
    ///
    /// A directory is a data set if it has a `dataset.json`, which lists the shards. A single shard can be opened by either
    /// of its files.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::ErrorKind::Io): something is missing or cannot be read. [`Format`](crate::ErrorKind::Format): a
    /// file is cut, is not what it should be, or index and record file do not belong together.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, Io::Map)
    }

    /// As [`open`](Self::open), with a choice of how the files are read.
    ///
    /// ```no_run
    /// let train = vidrec::Dataset::open_with("/net/train", vidrec::Io::Read)?;
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, io: Io) -> Result<Self> {
        Self::open_files(&listing::find(path.as_ref())?.shards, io)
    }

    /// Opens several shards as one data set; clip ordinals count on from one to the next.
    ///
    /// Each path is a `.rec` or `.vidx` file; the other of the pair lies beside it.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open); and if the shards do not agree on the class names.
    pub fn open_shards<P: AsRef<Path>>(paths: &[P]) -> Result<Self> {
        Self::open_shards_with(paths, Io::Map)
    }

    /// As [`open_shards`](Self::open_shards), with a choice of how the files are read.
    ///
    /// # Errors
    ///
    /// As [`open_shards`](Self::open_shards).
    pub fn open_shards_with<P: AsRef<Path>>(paths: &[P], io: Io) -> Result<Self> {
        let files = paths.iter().map(|path| listing::shard(path.as_ref())).collect::<Result<Vec<_>>>()?;
        Self::open_files(&files, io)
    }

    pub(crate) fn open_files(files: &[ShardFiles], io: Io) -> Result<Self> {
        let shards = files.iter().map(|files| Shard::open(files, io).map(Arc::new)).collect::<Result<_>>()?;
        Ok(Dataset(Arc::new(Inner::new(shards, io)?)))
    }

    /// Some of the clips, in the order of `clips`, each of which is an ordinal in this data set; the same may come more
    /// than once. Files are shared and nothing is copied; the chosen clips' entries are read once, to count frames.
    ///
    /// Ordinals count anew from 0: clip `i` of the result is clip `clips[i]` of this data set. What there is to say of
    /// files ([`to_json`](Self::to_json), [`record_files`](Self::record_files)) is said of all of them.
    ///
    /// ```no_run
    /// let train = vidrec::Dataset::open("train")?;
    /// let odd = train.select((0..train.len()).filter(|i| i % 2 == 1))?;
    /// assert_eq!(odd.clip(3)?.source()?, train.clip(7)?.source()?);
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Usage`](crate::ErrorKind::Usage) if there is no such clip; [`Format`](crate::ErrorKind::Format) if an entry is
    /// damaged.
    pub fn select(&self, clips: impl IntoIterator<Item = u64>) -> Result<Self> {
        let mut chosen = Vec::new();
        let (mut frame_count, mut least, mut most) = (0u64, u32::MAX, 0);
        for ordinal in clips {
            let frames = self.clip(ordinal)?.frame_count();
            frame_count = frame_count.saturating_add(frames.into());
            (least, most) = (least.min(frames), most.max(frames));
            chosen.push(self.stored_ordinal(ordinal));
        }
        let draws = if are_whole_groups(&chosen, self.0.draws()) { self.0.draws() } else { 1 };
        let chosen = Some(Chosen { clips: chosen, frames_per_clip: (least == most).then_some(most), draws });
        let Inner { shards, starts, io, .. } = &*self.0;
        let (shards, starts) = (shards.clone(), starts.clone());
        Ok(Dataset(Arc::new(Inner { shards, starts, frame_count, io: *io, chosen })))
    }

    /// The clips of several data sets, one after another. Files are shared and nothing is copied.
    ///
    /// # Errors
    ///
    /// [`Usage`](crate::ErrorKind::Usage) if there are no data sets; [`Format`](crate::ErrorKind::Format) if they do
    /// not have the same class names, or an entry is damaged.
    pub fn concat(parts: &[Dataset]) -> Result<Self> {
        let shards = parts.iter().flat_map(|part| part.0.shards.iter().cloned()).collect();
        let io = parts.first().map_or(Io::Map, Dataset::io);
        let whole = Dataset(Arc::new(Inner::new(shards, io)?));
        if parts.iter().all(|part| part.0.chosen.is_none()) {
            return Ok(whole);
        }
        let mut start = 0;
        let mut clips = Vec::new();
        for part in parts {
            clips.extend((0..part.len()).map(|i| start + part.stored_ordinal(i)));
            start += part.0.stored();
        }
        whole.select(clips)
    }

    /// Where in all shards together clip `ordinal`, of which there must be one, is stored.
    fn stored_ordinal(&self, ordinal: u64) -> u64 {
        self.0.chosen.as_ref().map_or(ordinal, |chosen| chosen.clips[ordinal as usize])
    }

    /// How the files are read.
    pub fn io(&self) -> Io {
        self.0.io
    }

    /// Number of clips.
    pub fn len(&self) -> u64 {
        self.0.chosen.as_ref().map_or_else(|| self.0.stored(), |chosen| chosen.clips.len() as u64)
    }

    /// Whether there are no clips.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of frames of all clips.
    pub fn frame_count(&self) -> u64 {
        self.0.frame_count
    }

    /// Class names by label; empty when labels are plain integers or absent.
    pub fn classes(&self) -> &[String] {
        self.meta().map_or(&[], |m| &m.classes)
    }

    /// Settings and provenance of the first shard.
    pub fn meta(&self) -> Option<&Meta> {
        self.0.shards.first().map(|s| &s.index.meta)
    }

    /// How many clips in a row are draws of one video: those from `i K` to `i K + K - 1`. 1 if every clip is a video of
    /// its own, if the shards do not agree, or if clips were selected and not all draws of each video together.
    pub fn draws(&self) -> u32 {
        self.0.chosen.as_ref().map_or_else(|| self.0.draws(), |chosen| chosen.draws)
    }

    /// What `dataset.json` should hold, as far as the indexes say it: all but `failures`.
    pub fn to_json(&self) -> DatasetJson {
        let shards = self.0.shards.iter().map(|shard| shard.to_json()).collect();
        let none = Meta::default();
        DatasetJson::new(self.meta().unwrap_or(&none), shards)
    }

    /// Paths of the record files, in order of the clips.
    pub fn record_files(&self) -> impl Iterator<Item = &Path> {
        self.0.shards.iter().map(|s| s.record_path.as_path())
    }

    /// Frames of every clip, if all seem to have as many; `None` if some have more than others, or if there are no clips.
    ///
    /// Costs the same whatever the number of clips: the counts of clips and frames in the files' headers must fit, and
    /// the first clip and up to 64 others, evenly spread, must agree. That is proof for no more than 64 clips only.
    ///
    /// # Errors
    ///
    /// [`Format`](crate::ErrorKind::Format) if the entry of the first clip is damaged.
    pub fn likely_frames_per_clip(&self) -> Result<Option<u32>> {
        const PROBES: u64 = 64;
        if let Some(chosen) = &self.0.chosen {
            return Ok(chosen.frames_per_clip);
        }
        let Some(first) = self.clips().next() else { return Ok(None) };
        let frames = first?.frame_count();
        let fits = |s: &Arc<Shard>| s.clip_count().checked_mul(frames.into()) == Some(s.index.header.frame_count);
        let count = PROBES.min(self.len());
        // Ordinals of clips fit 48 bits and more.
        let mut probes = (0..count).map(|i| i * self.len() / count);
        // What cannot be read is somebody else's to report.
        let agrees = |clip: u64| self.clip(clip).map_or(true, |clip| clip.frame_count() == frames);
        Ok((self.0.shards.iter().all(fits) && probes.all(agrees)).then_some(frames))
    }

    /// The label of every clip, as [`Weights`](crate::order::Weights) take them. Reads the entry of every clip.
    ///
    /// # Errors
    ///
    /// [`Format`](crate::ErrorKind::Format) if an entry is damaged.
    pub fn labels(&self) -> Result<Vec<Option<u32>>> {
        self.clips().map(|clip| Ok(clip?.label())).collect()
    }

    /// What this data set is, in a few bytes: see [`Fingerprint`].
    pub fn fingerprint(&self) -> Fingerprint {
        let mut digest = Sha256::new();
        self.0.shards.iter().for_each(|shard| digest.update(shard.index.binding.sha256));
        let chosen = self.0.chosen.iter().flat_map(|chosen| &chosen.clips);
        chosen.for_each(|clip| digest.update(clip.to_le_bytes()));
        Fingerprint { clips: self.len(), digest: data_binding::hex(&digest.finalize()) }
    }

    /// Reads all files once from beginning to end, so that their pages lie in the page cache; returns how many bytes.
    ///
    /// Worth it where a disk is slow at random and the data set fits in memory.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::ErrorKind::Io) if a file cannot be read.
    pub fn warm(&self) -> Result<u64> {
        let mut buffer = vec![0; 1 << 20];
        self.files().map(|path| read_through(path, &mut buffer)).sum()
    }

    /// Asks the system to drop the files from the page cache, so that a measurement begins cold; whether it agreed to
    /// for all of them. Pages that some process has mapped and used stay, so call it before reading anything.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::ErrorKind::Io) if a file cannot be opened.
    pub fn cool(&self) -> Result<bool> {
        let cool = |path: &Path| {
            let file = File::open(path).map_err(|e| Error::io("open the file", path, e))?;
            let length = file.metadata().map_err(|e| Error::io("read the file's size", path, e))?.len();
            Ok(advise(&file, 0..length, Advice::Done))
        };
        self.files().map(cool).try_fold(true, |all, taken| Ok(all & taken?))
    }

    /// Bytes of all index files.
    #[cfg(feature = "pack")]
    pub(crate) fn index_bytes(&self) -> u64 {
        self.0.shards.iter().map(|s| s.index_bytes.len() as u64).sum()
    }

    /// Paths of all index and record files.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.0.shards.iter().flat_map(|s| [s.index_path.as_path(), s.record_path.as_path()])
    }

    /// Clip `ordinal`, counted from 0 over all shards.
    ///
    /// # Errors
    ///
    /// [`Usage`](crate::ErrorKind::Usage) if there is no such clip; [`Format`](crate::ErrorKind::Format) if its entry
    /// is damaged.
    pub fn clip(&self, ordinal: u64) -> Result<Clip<'_>> {
        if ordinal >= self.len() {
            return Err(
                Error::usage(format!("there is no clip {ordinal}")).expected(format!("0 to {}", self.len() as i64 - 1))
            );
        }
        let at = self.shard_of(ordinal);
        let shard = &*self.0.shards[at];
        let entry = shard.clip(self.stored_ordinal(ordinal) - self.0.starts[at]).map_err(|e| e.in_clip(ordinal))?;
        Ok(Clip { shard, ordinal, entry })
    }

    /// The shards, in order of the clips.
    pub(crate) fn shards(&self) -> &[Arc<Shard>] {
        &self.0.shards
    }

    /// Ordinal of the shard that holds clip `ordinal`, which must exist.
    pub(crate) fn shard_of(&self, ordinal: u64) -> usize {
        let stored = self.stored_ordinal(ordinal);
        self.0.starts.partition_point(|&start| start <= stored) - 1
    }

    /// All clips, in order.
    pub fn clips(&self) -> impl Iterator<Item = Result<Clip<'_>>> {
        (0..self.len()).map(|i| self.clip(i))
    }
}

/// Reads a file from beginning to end; returns its length.
fn read_through(path: &Path, buffer: &mut [u8]) -> Result<u64> {
    let failed = |e| Error::io("read the file", path, e);
    let mut file = File::open(path).map_err(failed)?;
    let mut length = 0;
    loop {
        match file.read(buffer).map_err(failed)? {
            0 => return Ok(length),
            n => length += n as u64,
        }
    }
}

/// One clip of a data set.
#[derive(Debug, Clone, Copy)]
pub struct Clip<'a> {
    shard: &'a Shard,
    ordinal: u64,
    entry: ClipEntry,
}

impl<'a> Clip<'a> {
    /// Ordinal in the data set, counted from 0.
    pub fn ordinal(&self) -> u64 {
        self.ordinal
    }

    /// Number of frames.
    pub fn frame_count(&self) -> u32 {
        self.entry.frame_count
    }

    /// Label, if it has one.
    pub fn label(&self) -> Option<u32> {
        u32::try_from(self.entry.label).ok()
    }

    /// Labels, as many as it has: its one label, or the array of integers in the attribute `labels`, which data sets
    /// have whose clips may have several.
    ///
    /// # Errors
    ///
    /// As [`attributes`](Self::attributes); and if `labels` is not an array of labels.
    pub fn labels(&self) -> Result<Vec<u32>> {
        if let Some(label) = self.label() {
            return Ok(vec![label]);
        }
        let Some(labels) = self.attributes()?.remove("labels") else { return Ok(Vec::new()) };
        serde_json::from_value(labels).map_err(|e| {
            Error::usage("the attribute \"labels\" is not an array of labels")
                .found(e)
                .in_clip(self.ordinal)
                .file(&self.shard.index_path)
        })
    }

    /// Width of every frame in pixels; 0 when the frames differ.
    pub fn width(&self) -> u32 {
        u32::from(self.entry.width)
    }

    /// Height of every frame in pixels; 0 when the frames differ.
    pub fn height(&self) -> u32 {
        u32::from(self.entry.height)
    }

    /// Whether the source had fewer frames than were asked for, so that some stand more than once.
    pub fn is_short(&self) -> bool {
        self.entry.flags & clip_entry::FLAG_SHORT != 0
    }

    /// Unit of the frames' presentation times in seconds: numerator and denominator.
    pub fn time_base(&self) -> (u32, u32) {
        self.entry.time_base
    }

    /// Source path, relative to the input root.
    ///
    /// # Errors
    ///
    /// [`Format`](crate::ErrorKind::Format) if the clip's strings are damaged.
    pub fn source(&self) -> Result<&'a str> {
        Ok(self.strings()?[0])
    }

    /// Class name; empty when there is none.
    ///
    /// # Errors
    ///
    /// As [`source`](Self::source).
    pub fn class(&self) -> Result<&'a str> {
        Ok(self.strings()?[1])
    }

    /// Attributes as the text of a JSON object; empty when there are none.
    ///
    /// # Errors
    ///
    /// As [`source`](Self::source).
    pub fn attributes_json(&self) -> Result<&'a str> {
        Ok(self.strings()?[2])
    }

    /// Attributes as a JSON object; empty when there are none.
    ///
    /// # Errors
    ///
    /// As [`source`](Self::source); and if the text is not a JSON object (rule `clip-attributes`).
    pub fn attributes(&self) -> Result<serde_json::Map<String, serde_json::Value>> {
        let text = self.attributes_json()?;
        if text.is_empty() {
            return Ok(serde_json::Map::new());
        }
        serde_json::from_str(text).map_err(|e| {
            Error::format("clip-attributes", "the attributes are not a JSON object")
                .found(e)
                .in_clip(self.ordinal)
                .file(&self.shard.index_path)
        })
    }

    fn strings(&self) -> Result<[&'a str; 3]> {
        let found = self.shard.of_index(|index, bytes| index.strings(bytes, &self.entry));
        found.map_err(|e| e.in_clip(self.ordinal))
    }

    /// Frame `t`, counted from 0.
    ///
    /// # Errors
    ///
    /// [`Usage`](crate::ErrorKind::Usage) if there is no such frame; [`Format`](crate::ErrorKind::Format) if its entry
    /// or its record is damaged. The JPEG's CRC-32 is compared by [`Frame::check`].
    pub fn frame(&self, t: u32) -> Result<Frame<'a>> {
        let found = self.shard.frame(self.frame_ordinal(t)?);
        self.place(t, found)
    }

    /// As [`frame`](Self::frame), with a buffer that is used where files are not mapped ([`Io::Read`]), so that frame
    /// after frame is read into the same memory.
    ///
    /// # Errors
    ///
    /// As [`frame`](Self::frame).
    pub fn frame_with<'b>(&self, t: u32, buffer: &'b mut Vec<u8>) -> Result<Frame<'b>>
    where
        'a: 'b,
    {
        let found = self.shard.frame_with(self.frame_ordinal(t)?, buffer);
        self.place(t, found)
    }

    /// The entries of the clip's frames.
    pub(crate) fn frame_entries(&self) -> Result<Vec<FrameEntry>> {
        let entry = |t| self.shard.frame_entry(self.frame_ordinal(t)?);
        (0..self.frame_count()).map(|t| entry(t).map_err(|e: Error| e.in_clip(self.ordinal).in_frame(t))).collect()
    }

    /// Bytes that the clip's records take in the record file of a vidrec writer. Reads the frame entries alone.
    pub(crate) fn record_bytes(&self) -> Result<u64> {
        Ok(self.frame_entries()?.iter().map(storage::plain_record_bytes).sum())
    }

    fn frame_ordinal(&self, t: u32) -> Result<u64> {
        if t >= self.entry.frame_count {
            return Err(Error::usage(format!("there is no frame {t}"))
                .in_clip(self.ordinal)
                .expected(format!("less than {}", self.entry.frame_count)));
        }
        Ok(self.entry.first_frame + u64::from(t))
    }

    fn place<'b>(&self, t: u32, found: Result<(FrameEntry, RecordHeader, Cow<'b, [u8]>)>) -> Result<Frame<'b>>
    where
        'a: 'b,
    {
        let (entry, _, jpeg) = found.map_err(|e| e.in_clip(self.ordinal).in_frame(t))?;
        Ok(Frame { shard: self.shard, clip: self.ordinal, t, time_base: self.entry.time_base, entry, jpeg })
    }

    /// Gives the system advice on the records of some frames. Entries that cannot be read are passed over.
    pub(crate) fn advise(&self, frames: &[u32], advice: Advice) {
        let mut stretch: Option<Range<u64>> = None;
        for &t in frames {
            let entry = self.frame_ordinal(t).and_then(|ordinal| self.shard.frame_entry(ordinal));
            let Ok(entry) = entry else { continue };
            let record = entry.record_offset..entry.record_offset.saturating_add(storage::plain_record_bytes(&entry));
            match &mut stretch {
                Some(stretch) if stretch.end >= record.start && stretch.start <= record.start => {
                    stretch.end = stretch.end.max(record.end);
                }
                _ => {
                    let before = stretch.replace(record);
                    before.into_iter().for_each(|stretch| self.shard.records.advise(stretch, advice));
                }
            }
        }
        stretch.into_iter().for_each(|stretch| self.shard.records.advise(stretch, advice));
    }

    /// All frames, in order.
    pub fn frames(&self) -> impl Iterator<Item = Result<Frame<'a>>> + '_ {
        (0..self.frame_count()).map(|t| self.frame(t))
    }
}

/// One frame of a clip. The JPEG borrows from the map or the buffer, but for the rare record that is stored in parts.
#[derive(Debug, Clone)]
pub struct Frame<'a> {
    shard: &'a Shard,
    clip: u64,
    t: u32,
    time_base: (u32, u32),
    entry: FrameEntry,
    jpeg: Cow<'a, [u8]>,
}

impl Frame<'_> {
    /// The stored JPEG. Its CRC-32 has not been compared: see [`check`](Self::check).
    pub fn jpeg(&self) -> &[u8] {
        &self.jpeg
    }

    /// Compares the JPEG's CRC-32 with the one in the index.
    ///
    /// The bytes of a mapped file that somebody cuts while they are used become zeros ([`Io::Map`]): where that must not
    /// happen unseen, check after the use, or ask [`lost_pages`](crate::lost_pages).
    ///
    /// # Errors
    ///
    /// [`Format`](crate::ErrorKind::Format), rule `jpeg-crc`, with file, clip, frame and offset; [`Io`](crate::ErrorKind::Io)
    /// if the file was cut while it was open, or its disk fails.
    pub fn check(&self) -> Result<()> {
        let found = crc32(&self.jpeg);
        if found == self.entry.jpeg_crc32 {
            return Ok(());
        }
        if self.shard.records.lost() > 0 {
            return Err(self.place(map::lost(&self.shard.record_path)));
        }
        Err(Error::format("jpeg-crc", "the JPEG's CRC-32 is not what the index says")
            .section("record")
            .at(self.entry.record_offset)
            .expected(format!("{:#010x}", self.entry.jpeg_crc32))
            .found(format!("{found:#010x}"))
            .in_clip(self.clip)
            .in_frame(self.t)
            .file(&self.shard.record_path))
    }

    /// Proves that what was read of the JPEG until now was in the file. Costs nothing while no part of the file is lost.
    pub(crate) fn prove_still_there(&self) -> Result<()> {
        if self.shard.records.lost() > 0 { self.check() } else { Ok(()) }
    }

    /// `e`, which this frame's picture caused, with the frame's place.
    pub(crate) fn place(&self, e: Error) -> Error {
        e.file(&self.shard.record_path).at(self.entry.record_offset).in_clip(self.clip).in_frame(self.t)
    }

    /// Presentation time in units of the clip's time base.
    pub fn pts(&self) -> i64 {
        self.entry.pts
    }

    /// Presentation time in seconds.
    pub fn pts_seconds(&self) -> f64 {
        self.entry.pts as f64 * f64::from(self.time_base.0) / f64::from(self.time_base.1)
    }

    /// Ordinal among the frames that decode from the source, if known.
    pub fn source_index(&self) -> Option<u32> {
        Some(self.entry.source_index).filter(|&i| i != UNKNOWN_SOURCE_INDEX)
    }

    /// Byte offset of the frame's record in the record file.
    pub fn offset(&self) -> u64 {
        self.entry.record_offset
    }

    /// CRC-32 of the JPEG, as the index has it.
    pub fn crc32(&self) -> u32 {
        self.entry.jpeg_crc32
    }
}

const _: () = {
    const fn shared_between_threads<T: Clone + Send + Sync>() {}
    shared_between_threads::<Dataset>();
};
