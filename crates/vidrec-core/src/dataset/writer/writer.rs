//! The writer of data sets.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::files::numbered;
use super::index::{ClipInfo, FrameData};
use super::publish;
use super::shard::{FinishedShard, ShardWriter};
use super::track::{EncodedTrack, Track};
use crate::store::disk::FolderLock;
use crate::store::disk::publication::{Replaced, Staged};
use vidrec_format::track::payload::Payload;
use vidrec_format::track::schema::{Schema, TrackSchema};
use vidrec_format::{DatasetJson, Error, Meta, Result, ShardJson};

/// Options of a [`Writer`].
#[derive(Debug, Clone, Default)]
pub struct WriterOptions {
    /// Class names, settings and provenance, stored as given.
    pub meta: Meta,
    /// Replace an existing data set. Off by default: an existing data set is an error.
    pub overwrite: bool,
}

/// The report of [`Writer::finish`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteReport {
    /// Number of clips.
    pub clips: u64,
    /// Number of frames.
    pub frames: u64,
    /// Total size of the record files, index files and track files in bytes.
    pub bytes: u64,
    /// Size of the track files among them in bytes.
    #[serde(default)]
    pub track_bytes: u64,
    /// Number of shards.
    pub shards: u64,
    /// Parts of the old data set that could not be cleaned up, in words. Usually empty. The new data set is complete,
    /// and the next write in the folder cleans up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<String>,
}

/// Writes a data set to a folder.
///
/// No file has its final name before [`finish`](Self::finish). If a writer is dropped before, the folder is
/// unchanged. After an error, all further calls fail.
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
    /// The tracks of the clips so far. All shards use the same numbers for them.
    schema: Schema,
    // Declared before the lock, so that dropped files are removed while it is held.
    finished: Vec<FinishedShard>,
    shard: ShardWriter,
    /// The data set that the new shards are added to.
    before: Option<DatasetJson>,
    replaced: Replaced,
    /// Absent for a shard by itself, whose folder only its caller uses.
    lock: Option<FolderLock>,
}

impl Writer {
    /// Starts a data set in `dir`, and creates the folder if it does not exist.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage) if `dir` holds a data set and `overwrite` is off, if another
    /// process is writing one there, or if there is an interrupted pack that can be resumed;
    /// [`Io`](vidrec_format::error::ErrorKind::Io) from the file system.
    pub fn create(dir: impl AsRef<Path>, options: WriterOptions) -> Result<Self> {
        let dir = dir.as_ref();
        let lock = publish::lock(dir)?;
        let replaced = publish::replaceable(dir, options.overwrite)?;
        // Whatever `meta` was copied from, vidrec writes these records.
        let meta = Meta { records: String::new(), ..options.meta };
        Ok(Writer { lock: Some(lock), replaced, ..Self::create_shard(dir, 0, meta)? })
    }

    /// Starts shard `ordinal` of a data set, by itself. [`finish_shard`](Self::finish_shard) completes it.
    #[doc(hidden)]
    pub fn create_shard(dir: &Path, ordinal: usize, meta: Meta) -> Result<Self> {
        let (dir, shard, replaced) = (dir.to_owned(), ShardWriter::create(dir, ordinal)?, Replaced::default());
        let (schema, finished) = (Schema::default(), Vec::new());
        Ok(Writer { dir, meta, schema, finished, shard, before: None, replaced, lock: None })
    }

    /// Starts more shards of the data set in `dir`, whose current `dataset.json` is `before`.
    pub(crate) fn extend(dir: &Path, meta: Meta, lock: FolderLock, before: DatasetJson) -> Result<Self> {
        let replaced = Replaced { files: before.file_names().cloned().collect(), removable: Vec::new() };
        let writer = Self::create_shard(dir, before.shards.len(), meta)?;
        Ok(Writer { before: Some(before), replaced, lock: Some(lock), ..writer })
    }

    /// Appends a clip with its frames, in time order. The clip gets the next ordinal, counted from 0. A clip without frames,
    /// such as one of text alone, has its label, its attributes and its tracks.
    ///
    /// If RecordIO's magic word would split a frame's record into two parts, the writer inserts one to three fill bytes
    /// into the JPEG header. Decoders ignore them, but the stored JPEG is that much longer.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): the label is out of range or is not that of the
    /// class, a frame is not a JPEG, or an earlier call failed.
    /// [`Limit`](vidrec_format::error::ErrorKind::Limit): the clip is too large.
    /// [`Io`](vidrec_format::error::ErrorKind::Io): from the file system.
    pub fn append(&mut self, clip: &ClipInfo, frames: &[FrameData<'_>]) -> Result<()> {
        self.append_payloads(clip, frames, &[])
    }

    /// Like [`append`](Self::append), for a clip that has tracks. The first clip with a track decides its type, shape
    /// and timing for the whole data set. Not every clip needs every track.
    ///
    /// ```
    /// use vidrec::{ClipInfo, Dataset, FrameData, Track, TrackValues, Writer, WriterOptions};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let dir = dir.path().join("set");
    /// # let mut jpeg = Vec::new();
    /// # vidrec::jpeg::Encoder::new(90)?.encode(&vidrec::Planes::new(16, 16)?, &mut jpeg)?;
    /// let mut writer = Writer::create(&dir, WriterOptions::default())?;
    /// let action = Track { name: "action".into(), values: TrackValues::F32(vec![0.5]), ..Track::default() };
    /// let frame = FrameData { jpeg: &jpeg, pts: 0, source_index: None };
    /// writer.append_with_tracks(&ClipInfo::default(), &[frame], &[action])?;
    /// writer.finish()?;
    ///
    /// let set = Dataset::open(&dir)?;
    /// let action = set.clip(0)?.track("action")?.unwrap();
    /// assert_eq!(action.numbers::<f32>().unwrap()[..], [0.5]);
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// See [`append`](Self::append). It is also a [`Usage`](vidrec_format::error::ErrorKind::Usage) error if two
    /// tracks have the same name, if one of them had another type, shape or timing before, if there is not one value
    /// for each frame or not one time for each value, if times decrease, or if a number is infinite or not a number
    /// and the track does not allow it.
    pub fn append_with_tracks(&mut self, clip: &ClipInfo, frames: &[FrameData<'_>], tracks: &[Track]) -> Result<()> {
        let count = frames.len() as u32;
        let of_clip = |e: Error| e.in_clip(self.clips());
        let encoded = tracks.iter().map(|track| track.encode(count)).collect::<Result<Vec<_>>>().map_err(of_clip)?;
        self.append_payloads(clip, frames, &encoded.iter().map(EncodedTrack::payload).collect::<Vec<_>>())
    }

    /// Like [`append_with_tracks`](Self::append_with_tracks), for tracks that are already proven.
    #[doc(hidden)]
    pub fn append_payloads(&mut self, clip: &ClipInfo, frames: &[FrameData<'_>], tracks: &[Payload<'_>]) -> Result<()> {
        let wrong = || Error::usage(format!("{}: the clip's class is not that of its label", clip.source));
        check_class(clip.label, &clip.class, &self.meta.classes, wrong)?;
        self.join_tracks(tracks.iter().map(|track| track.schema)).map_err(|e| e.in_clip(self.clips()))?;
        let new = numbered(&self.schema, tracks).map_err(|e| e.in_clip(self.clips()))?;
        self.shard.append(clip, frames, &new)
    }

    /// Registers tracks: all of them, or none after an error. Later tracks of the same names must match them.
    #[doc(hidden)]
    pub fn join_tracks<'a>(&mut self, tracks: impl Iterator<Item = &'a TrackSchema> + Clone) -> Result<()> {
        let is_known = |track: &TrackSchema| self.schema.tracks().contains(track);
        if tracks.clone().all(is_known) {
            return Ok(());
        }
        let mut joined = self.schema.clone();
        for track in tracks {
            joined.join(track)?;
        }
        self.schema = joined;
        Ok(())
    }

    /// Completes the shard, syncs it to the disk and starts the next one. Does nothing if the shard has no clips.
    ///
    /// # Errors
    ///
    /// See [`append`](Self::append).
    pub fn next_shard(&mut self) -> Result<()> {
        if self.shard.index.clip_count == 0 {
            return Ok(());
        }
        let before = self.before.as_ref().map_or(0, |json| json.shards.len());
        let next = ShardWriter::create(&self.dir, before + self.finished.len() + 1)?;
        self.finished.push(std::mem::replace(&mut self.shard, next).finish(&self.meta, &self.schema)?);
        Ok(())
    }

    /// Number of clips appended so far.
    pub fn clips(&self) -> u64 {
        self.finished.iter().map(|s| s.json.clips).sum::<u64>() + self.shard.index.clip_count
    }

    /// Total size of the record files so far, in bytes.
    pub fn bytes(&self) -> u64 {
        self.finished.iter().map(|s| s.json.bytes).sum::<u64>() + self.shard.records.length
    }

    /// Syncs everything to the disk, renames the files to their final names and replaces `dataset.json`. Readers see
    /// the old data set until then, and the new one from then on.
    ///
    /// # Errors
    ///
    /// See [`append`](Self::append). After an error, the old data set is unchanged. Once the new data set exists,
    /// further problems are not errors: they are in [`WriteReport::left_behind`].
    pub fn finish(self) -> Result<WriteReport> {
        let (files, _, report) = self.stage()?;
        Ok(WriteReport { left_behind: files.publish()?, ..report })
    }

    /// Completes the shard that [`create_shard`](Self::create_shard) started, and syncs it to the disk under temporary
    /// names.
    #[doc(hidden)]
    pub fn finish_shard(self) -> Result<FinishedShard> {
        self.shard.finish(&self.meta, &self.schema)
    }

    /// Syncs everything to the disk under temporary names. Returns also the new `dataset.json` and the report.
    pub(crate) fn stage(self) -> Result<(Staged, DatasetJson, WriteReport)> {
        let Writer { dir, meta, schema, mut finished, shard, before, replaced, lock } = self;
        // An empty last shard is dropped, unless it is the only one.
        if shard.index.clip_count > 0 || (finished.is_empty() && before.is_none()) {
            finished.push(shard.finish(&meta, &schema)?);
        }
        let new: Vec<_> = finished.iter().map(|s| s.json.clone()).collect();
        let report = WriteReport {
            clips: new.iter().map(|s| s.clips).sum(),
            frames: new.iter().map(|s| s.frames).sum(),
            bytes: finished.iter().map(FinishedShard::bytes).sum(),
            track_bytes: new.iter().map(ShardJson::track_bytes).sum(),
            shards: new.len() as u64,
            left_behind: Vec::new(),
        };
        let json = match before {
            Some(before) => before.with_more(new, meta.classes.clone()),
            None => DatasetJson::new(&meta, new),
        };
        let files = finished.into_iter().flat_map(FinishedShard::named).collect();
        let lock = lock.ok_or_else(|| Error::internal("a shard by itself is no data set"))?;
        let files = Staged::new(&dir, lock, files, &json.to_bytes(), replaced.but_for(&json))?;
        Ok((files, json, report))
    }
}

/// Checks that the class of a clip, if it has one, is that of its label. `wrong` begins the error.
pub(crate) fn check_class(
    label: Option<u32>,
    class: &str,
    classes: &[String],
    wrong: impl Fn() -> Error,
) -> Result<()> {
    let Some(label) = label.filter(|_| !classes.is_empty()) else { return Ok(()) };
    match classes.get(label as usize) {
        Some(name) if class.is_empty() || name == class => Ok(()),
        other => {
            let expected = other.map_or("a label that has a class", |name| name);
            Err(wrong().expected(expected).found(format!("{label}, \"{class}\"")))
        }
    }
}
