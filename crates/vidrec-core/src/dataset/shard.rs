//! One record file and its index, open for reading.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::dataset::listing::{ShardFiles, of_web_page};
use crate::dataset::records::{loaded, prove_binding, prove_jpeg, proven, proven_slices, record_range};
use crate::dataset::{AddedClips, Index, Source, TrackFile};
use crate::store::disk::map;
use crate::store::location::is_remote;
use crate::store::read_at::ReadAt;
use vidrec_format::track::schema::{ATTRIBUTES, TrackSchema};
use vidrec_format::{
    ClipEntry, DataBinding, Error, ErrorKind, FileName, FrameEntry, Hint, RecordHeader, Result, ShardJson,
    TrackFileJson, data_binding, file_name, recordio,
};

/// The length of the end of a remote index that the first request after the head fetches. Usually it contains all
/// sections except the tables and the strings.
const INDEX_TAIL_BYTES: u64 = 128 << 10;

/// One record file and its index.
#[derive(Debug)]
pub struct Shard {
    /// The record file.
    pub record_path: PathBuf,
    /// The index file.
    pub index_path: PathBuf,
    /// The bytes of the record file.
    pub records: Box<dyn ReadAt>,
    /// The bytes of the index.
    pub index_bytes: Box<dyn ReadAt>,
    /// The parts of the index that were proven when it was opened.
    pub index: Index,
    /// The track file, if there is one.
    pub tracks: Option<TrackFile>,
    /// Its clips in track files that were added, in the order in which these were added.
    pub added: Vec<AddedClips>,
    /// The description of the shard that belongs in `dataset.json`.
    pub json: ShardJson,
}

impl Shard {
    /// Opens the files of a shard, and proves what later reads rely on.
    pub fn open(files: &ShardFiles, source: &Source) -> Result<Self> {
        let shard = Self::open_unbound(files, source).map_err(|e| match &files.listed {
            Some(_) if e.path().is_some_and(|path| !is_remote(path) && !path.exists()) => {
                e.help("dataset.json lists it: restore it, or save the other clips").hint(Hint::Repair)
            }
            None if files.record.is_some() && e.path().is_some_and(|path| *path == files.index) && e.is_missing() => {
                e.help("a record file cannot be read without its index, or a dataset.json that lists it")
            }
            _ => e,
        })?;
        shard.prove_binding()?;
        shard.prove_listed(files.listed.as_ref())?;
        if let Source::Local(_) = source {
            shard.open_tracks()?;
        }
        Ok(shard)
    }

    /// Opens the index and the record file without checking that they belong together. If they are remote, it reads both
    /// heads at once, and then both tails.
    pub fn open_unbound(files: &ShardFiles, source: &Source) -> Result<Self> {
        let index_path = files.index.clone();
        let is_empty = files.listed.as_ref().is_some_and(|listed| listed.bytes == 0);
        let index = source.start(&index_path, false)?;
        let known = files.record.as_deref().map(|path| source.start(path, is_empty)).transpose()?;
        let index_bytes = index(true)?;
        let early = known.map(|known| known(false));
        if let Some(Ok(records)) = &early
            && let Some(file) = records.remote()
        {
            let edge = file.len().saturating_sub(data_binding::EDGE_BYTES as u64)..file.len();
            file.ask(std::slice::from_ref(&edge))?;
        }
        let tail = index_bytes.len().saturating_sub(INDEX_TAIL_BYTES)..index_bytes.len();
        index_bytes.prefetch(&[tail])?;
        let index = proven_slices(&*index_bytes, || Index::prove(&*index_bytes));
        let head = || index_bytes.slice(0..index_bytes.len().min(64)).ok().flatten().unwrap_or_default();
        let index = index.map_err(|e| of_web_page(e.file(&index_path), head()))?;
        let record_path = files.record.clone().unwrap_or_else(|| beside(&index_path, &index.binding, "rec"));
        let records = early.unwrap_or_else(|| source.open(&record_path))?;
        let tracks = index.tracks.map(|binding| {
            let path = files.tracks.clone().unwrap_or_else(|| beside(&index_path, &binding, "vtrk"));
            TrackFile::new(path, binding, index.header.clip_count, source)
        });
        let name = |path: &Path| FileName::of(path).map_err(|e| e.file(path).help("give the file another name"));
        let track_name = tracks.as_ref().map(|tracks| name(&tracks.path)).transpose()?;
        let mut json = describe(&index, name(&record_path)?, name(&index_path)?, track_name);
        json.added = files.listed.as_ref().and_then(|listed| listed.added.clone());
        let added = files.added.clone();
        Ok(Shard { record_path, index_path, records, index_bytes, index, tracks, added, json })
    }

    /// Checks in constant time that this is the shard that `dataset.json` lists.
    pub fn prove_listed(&self, listed: Option<&ShardJson>) -> Result<()> {
        let found = &self.json;
        let Some(listed) = listed.filter(|listed| !listed.is(found)) else { return Ok(()) };
        let words = |shard: &ShardJson| serde_json::to_string(shard).unwrap_or_default();
        Err(Error::format("dataset-shard", "this is not the shard that dataset.json lists")
            .file(&self.index_path)
            .expected(words(listed))
            .found(words(found))
            .help("restore the listed files, or save the clips of the files that are here")
            .hint(Hint::Repair))
    }

    /// Checks in constant time that the index and the record file belong together.
    pub fn prove_binding(&self) -> Result<()> {
        let edges = || self.records.edge_crc32();
        let faults: [fn() -> Error; 2] = [
            || Error::format("data-length", "the record file's length does not match its index"),
            || Error::format("data-edges", "the CRC-32 of the record file's ends does not match its index"),
        ];
        prove_binding(&*self.records, &self.index.binding, edges, faults).map_err(|e| e.file(&self.record_path))
    }

    /// Checks that this shard can come after `earlier` in a data set: its class names begin with those of that shard.
    pub fn prove_follows(&self, earlier: &Shard) -> Result<()> {
        if are_extended(&earlier.index.meta.classes, &self.index.meta.classes) {
            return Ok(());
        }
        Err(Error::format("dataset-classes", "the class names do not begin with those of an earlier shard")
            .file(&self.index_path)
            .expected(format!("those of {}, and then new ones", earlier.index_path.display())))
    }

    /// The files with tracks of its clips, the newest first, and the ordinal in each of the shard's first clip.
    pub fn track_files(&self) -> impl Iterator<Item = (&TrackFile, u64)> {
        let added = self.added.iter().rev().map(|clips| (&*clips.file, clips.first));
        added.chain(self.tracks.iter().map(|file| (file, 0)))
    }

    /// Opens all track files.
    pub fn open_tracks(&self) -> Result<()> {
        self.track_files().try_for_each(|(file, _)| file.open().map(drop))
    }

    /// Whether clips have the track of this name in file `place` of [`track_files`](Self::track_files): no newer file has one
    /// of the name, and it was not removed. All these files are open.
    pub fn shows(&self, place: usize, name: &str) -> bool {
        let has = |(file, _): (&TrackFile, u64)| file.opened().is_some_and(|schema| schema.number(name).is_some());
        !self.json.added.iter().flat_map(|added| &added.hidden).any(|hidden| hidden == name)
            && !self.track_files().take(place).any(has)
    }

    /// The tracks that its clips can have, each with the path of its file. None unless all track files are open.
    pub fn opened_tracks(&self) -> Vec<(&Path, &TrackSchema)> {
        let schemas = self.track_files().map(|(file, _)| Some((file.path.as_path(), file.opened()?)));
        let schemas = schemas.collect::<Option<Vec<_>>>().unwrap_or_default();
        let mut found = Vec::new();
        for (place, (path, schema)) in schemas.into_iter().enumerate().rev() {
            let tracks =
                schema.tracks().iter().filter(|track| track.name != ATTRIBUTES && self.shows(place, &track.name));
            found.extend(tracks.map(|track| (path, track)));
        }
        found
    }

    /// The number of clips.
    pub fn clip_count(&self) -> u64 {
        self.index.header.clip_count
    }

    /// The texts of a clip's entry: its source, its class and its attributes.
    pub fn strings(&self, clip: &ClipEntry) -> Result<[String; 3]> {
        self.of_index(|index, bytes| index.strings(bytes, clip))
    }

    /// The entry of a clip, proven by its checksum.
    pub fn clip(&self, ordinal: u64) -> Result<ClipEntry> {
        self.of_index(|index, bytes| index.clip(bytes, ordinal))
    }

    /// Reads from the index. If a page was lost meanwhile, it reads again, so that no entry is a mix of data and
    /// zeros. If fetched bytes are wrong, it reads once more.
    pub fn of_index<'a, T>(&'a self, read: impl Fn(&Index, &'a dyn ReadAt) -> Result<T>) -> Result<T> {
        loop {
            let lost = self.index_bytes.lost();
            let found = proven_slices(&*self.index_bytes, || read(&self.index, &*self.index_bytes));
            if self.index_bytes.lost() == lost {
                return found.map_err(|e| match e.path() {
                    _ if lost > 0 => map::lost(&self.index_path),
                    // The error about a failed fetch says more.
                    Some(_) => e,
                    None => e.file(&self.index_path),
                });
            }
        }
    }

    /// Returns an error unless everything that was read so far was in the files, rather than zeros in place of lost
    /// pages.
    pub fn prove_whole(&self) -> Result<()> {
        let tracks = self.track_files().map(|(file, _)| file).find(|tracks| tracks.lost() > 0);
        match (self.index_bytes.lost(), self.records.lost()) {
            (0, 0) => tracks.map_or(Ok(()), |tracks| Err(map::lost(&tracks.path))),
            (0, _) => Err(map::lost(&self.record_path)),
            _ => Err(map::lost(&self.index_path)),
        }
    }

    /// Adds the location to an error in a record. The file's bytes are wrong, or they are lost.
    fn in_record(&self, e: Error) -> Error {
        match e.path() {
            // The error about a failed fetch says more.
            Some(path) if is_remote(path) => e,
            _ if self.records.lost() > 0 => map::lost(&self.record_path),
            _ => e.file(&self.record_path),
        }
    }

    /// Returns frame `ordinal` of the shard. `clip` contains the ordinals of the frames that will be read with it.
    pub fn frame(&self, ordinal: u64, clip: Range<u64>) -> Result<StoredFrame<'_>> {
        if let Some(bytes) = self.records.bytes() {
            let entry = self.frame_entry(ordinal)?;
            let record = recordio::read(bytes, entry.record_offset);
            return record.and_then(|record| StoredFrame::new(record, entry)).map_err(|e| self.in_record(e));
        }
        let mut buffer = Vec::new();
        let StoredFrame { entry, header, jpeg, end } = self.frame_with(ordinal, clip, &mut buffer)?;
        Ok(StoredFrame { entry, header, jpeg: Cow::Owned(jpeg.into_owned()), end })
    }

    /// Like [`frame`](Self::frame), with a buffer that is used if the file is not mapped.
    pub fn frame_with<'a>(
        &'a self,
        ordinal: u64,
        clip: Range<u64>,
        buffer: &'a mut Vec<u8>,
    ) -> Result<StoredFrame<'a>> {
        let entry = self.frame_entry(ordinal)?;
        let record = match self.records.bytes() {
            Some(bytes) => recordio::read(bytes, entry.record_offset),
            None => self.load(&entry, clip, buffer).and_then(|()| loaded(&entry, buffer)),
        };
        record.and_then(|record| StoredFrame::new(record, entry)).map_err(|e| self.in_record(e))
    }

    /// Reads a record into `buffer`, for [`loaded`]. The JPEG of a remote one is proven.
    fn load(&self, entry: &FrameEntry, clip: Range<u64>, buffer: &mut Vec<u8>) -> Result<()> {
        let around = || self.clip_records(clip.clone()).unwrap_or_default();
        proven(&*self.records, &record_range(entry), || {
            self.records.load(entry, around, buffer)?;
            if self.records.remote().is_none() {
                return Ok(());
            }
            let frame = loaded(entry, buffer).and_then(|record| StoredFrame::new(record, *entry))?;
            prove_jpeg(entry, &frame.jpeg)
        })
    }

    /// The range of the records of a clip's frames. Reads the entries of the first and the last frame.
    fn clip_records(&self, frames: Range<u64>) -> Result<Range<u64>> {
        let Some(last) = frames.clone().next_back() else { return Ok(0..0) };
        let (first, last) = (self.frame_entry(frames.start)?, self.frame_entry(last)?);
        Ok(first.record_offset..record_range(&last).end)
    }

    /// The entry of a frame, proven by its checksum.
    pub fn frame_entry(&self, ordinal: u64) -> Result<FrameEntry> {
        self.of_index(|index, bytes| index.frame(bytes, ordinal))
    }
}

/// Whether the class names of a shard can come before those of a later one: they are the first of these. Labels that are
/// plain integers never get names.
pub(crate) fn are_extended(earlier: &[String], later: &[String]) -> bool {
    later.starts_with(earlier) && earlier.is_empty() == later.is_empty()
}

/// Opens all shards, as those of a local data set, or one that is named by itself.
pub(crate) fn open_all(files: &[ShardFiles], source: &Source) -> Result<Vec<Arc<LazyShard>>> {
    let mut shards: Vec<Arc<LazyShard>> = Vec::with_capacity(files.len());
    for files in files {
        let neighbors = Neighbors { earlier: shards.last().cloned(), later: None };
        let shard = LazyShard::new(files, source, neighbors)?;
        shard.open()?;
        shards.push(Arc::new(shard));
    }
    Ok(shards)
}

/// Opens the first shard of a remote data set, and the last if it has more class names: if `dataset.json` lists other
/// `classes` than those of the first. The others are opened when they are used.
pub(crate) fn open_ends(files: &[ShardFiles], classes: &[String], source: &Source) -> Result<Vec<Arc<LazyShard>>> {
    let new = |files: &ShardFiles, earlier: &Arc<LazyShard>, later: Option<&Arc<LazyShard>>| {
        let neighbors = Neighbors { earlier: Some(earlier.clone()), later: later.cloned() };
        LazyShard::new(files, source, neighbors).map(Arc::new)
    };
    let Some((first, rest)) = files.split_first() else { return Ok(Vec::new()) };
    let first = Arc::new(LazyShard::new(first, source, Neighbors::default())?);
    let is_grown = first.open()?.index.meta.classes != classes;
    let Some((last, between)) = rest.split_last() else { return Ok(vec![first]) };
    let last = new(last, &first, Some(&first).filter(|_| !is_grown))?;
    let most = if is_grown { &last } else { &first };
    most.open()?;
    let between = between.iter().map(|files| new(files, &first, Some(most))).collect::<Result<Vec<_>>>()?;
    Ok([vec![first.clone()], between, vec![last.clone()]].concat())
}

/// The open shards between which a shard stands, as far as its class names go.
#[derive(Debug, Clone, Default)]
pub(crate) struct Neighbors {
    pub earlier: Option<Arc<LazyShard>>,
    pub later: Option<Arc<LazyShard>>,
}

/// A shard of a data set. A remote shard is opened when it is first used, because opening takes several requests.
/// Until then, `dataset.json` says enough to count clips. Opening proves that the shard matches it.
#[derive(Debug)]
pub(crate) struct LazyShard {
    pub files: ShardFiles,
    pub source: Source,
    /// The description of the shard before it is opened.
    listed: ShardJson,
    neighbors: Neighbors,
    shard: OnceLock<Shard>,
}

impl LazyShard {
    /// Opens a shard, unless it is remote and listed.
    pub fn new(files: &ShardFiles, source: &Source, neighbors: Neighbors) -> Result<Self> {
        let (files, source) = (files.clone(), source.clone());
        if let (Some(listed), Source::Remote(_)) = (files.listed.clone(), &source) {
            return Ok(LazyShard { files, source, listed, neighbors, shard: OnceLock::new() });
        }
        let opened = Self::open_now(&files, &source, &neighbors)?;
        // No shard keeps the one before, which would keep the one before that.
        let (listed, neighbors) = (opened.json.clone(), Neighbors::default());
        Ok(LazyShard { files, source, listed, neighbors, shard: opened.into() })
    }

    /// The open shard.
    pub fn open(&self) -> Result<&Shard> {
        if let Some(shard) = self.shard.get() {
            return Ok(shard);
        }
        let shard = Self::open_now(&self.files, &self.source, &self.neighbors)?;
        // Another thread may have opened it, too. Either result will do.
        Ok(self.shard.get_or_init(|| shard))
    }

    /// Opens a shard. A remote one that proves wrong is opened once more, because its bytes may have been damaged on the
    /// way. An error about damage has hints to repair.
    fn open_now(files: &ShardFiles, source: &Source, neighbors: &Neighbors) -> Result<Shard> {
        let shard = source.twice(|| Shard::open(files, source)).map_err(|e| match e.kind() {
            ErrorKind::Format if e.hints().is_empty() => e.hint(Hint::Verify).hint(Hint::Repair),
            _ => e,
        })?;
        neighbors.earlier.as_ref().map_or(Ok(()), |earlier| shard.prove_follows(earlier.open()?))?;
        neighbors.later.as_ref().map_or(Ok(()), |later| later.open()?.prove_follows(&shard))?;
        Ok(shard)
    }

    /// The shard, if it is open.
    pub fn opened(&self) -> Option<&Shard> {
        self.shard.get()
    }

    /// The description of the shard that belongs in `dataset.json`.
    pub fn json(&self) -> &ShardJson {
        self.shard.get().map_or(&self.listed, |shard| &shard.json)
    }

    /// SHA-256 of the record file; zeros if `dataset.json` lists none, and the shard is not open.
    pub fn sha256(&self) -> [u8; 32] {
        data_binding::from_hex(&self.json().sha256).unwrap_or_default()
    }

    pub fn record_path(&self) -> &Path {
        let named = || self.files.record.as_deref().unwrap_or(&self.files.index);
        self.shard.get().map_or_else(named, |shard| &shard.record_path)
    }
}

/// A frame as it is stored.
#[derive(Debug, Clone)]
pub struct StoredFrame<'a> {
    /// Its entry in the index.
    pub entry: FrameEntry,
    /// The header of its record.
    pub header: RecordHeader,
    /// The image.
    pub jpeg: Cow<'a, [u8]>,
    /// The end of its record in the record file.
    pub end: u64,
}

impl<'a> StoredFrame<'a> {
    fn new(record: recordio::Record<'a>, entry: FrameEntry) -> Result<Self> {
        let end = record.end;
        let (header, jpeg_at) = split_payload(&record.payload, entry.record_offset)?;
        let jpeg = match record.payload {
            Cow::Borrowed(payload) => Cow::Borrowed(&payload[jpeg_at..]),
            Cow::Owned(mut payload) => Cow::Owned(payload.split_off(jpeg_at)),
        };
        if jpeg.len() as u64 != u64::from(entry.jpeg_length) {
            return Err(Error::format("record-length", "the length of the record's JPEG does not match the index")
                .section("record")
                .at(entry.record_offset)
                .bytes(entry.jpeg_length.into(), jpeg.len() as u64));
        }
        Ok(StoredFrame { entry, header, jpeg, end })
    }
}

/// A payload's header and the offset of its JPEG, after the label vector if there is one.
pub fn split_payload(payload: &[u8], at: u64) -> Result<(RecordHeader, usize)> {
    let short = || Error::format("record-header", "the record is too short for its header").section("record").at(at);
    let (header, image) = RecordHeader::split(payload).ok_or_else(short)?;
    let labels = (header.flag as usize).checked_mul(4).filter(|&n| n <= image.len()).ok_or_else(short)?;
    Ok((header, recordio::HEADER_BYTES + labels))
}

/// The description that belongs in `dataset.json` of a shard with files of these names.
pub(super) fn describe(
    index: &Index,
    record_file: FileName,
    index_file: FileName,
    track_file: Option<FileName>,
) -> ShardJson {
    let track_file = track_file.zip(index.tracks).map(|(file, binding)| TrackFileJson {
        file,
        bytes: binding.length,
        sha256: data_binding::hex(&binding.sha256),
    });
    ShardJson {
        record_file,
        index_file,
        clips: index.header.clip_count,
        frames: index.header.frame_count,
        bytes: index.binding.length,
        sha256: data_binding::hex(&index.binding.sha256),
        index_crc32: Some(index.header_crc32),
        track_file,
        added: None,
    }
}

/// The record file or track file that belongs to an index that was given by itself. It is the file of the same name,
/// or else the file whose name contains the digest in the index.
pub(crate) fn beside(index_path: &Path, binding: &DataBinding, ending: &str) -> PathBuf {
    let same = index_path.with_extension(ending);
    let name = index_path.file_name().unwrap_or_default().to_string_lossy();
    if !is_remote(index_path) && same.exists() || file_name::stem(&name) == same.file_stem().unwrap_or_default() {
        return same;
    }
    index_path.with_file_name(file_name::with_digest(file_name::stem(&name), &binding.sha256, ending))
}
