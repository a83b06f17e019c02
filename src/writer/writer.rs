//! Writing a data set: frames stream to disk, files get their names only when everything is whole.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::clip_info::{ClipInfo, FrameData};
use super::replace;
use super::shard::{FinishedShard, ShardWriter};
use crate::disk::publication::{self, Replaced, Staged};
use crate::disk::{FolderLock, Temporary, remove_temporaries};
use crate::format::dataset_json::{DatasetJson, FailuresJson};
use crate::format::meta::Meta;
use crate::format::names;
use crate::{Error, Hint, Result};

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
    /// Number of shards.
    pub shards: u64,
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
    pub(super) dir: PathBuf,
    pub(super) meta: Meta,
    // Before the lock, so that what is dropped is removed under it.
    pub(super) finished: Vec<FinishedShard>,
    pub(super) shard: ShardWriter,
    pub(super) failures: Option<(Temporary, FailuresJson)>,
    /// What the new shards are added to.
    pub(super) before: Option<DatasetJson>,
    pub(super) replaced: Replaced,
    pub(super) keep: bool,
    pub(super) lock: FolderLock,
}

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
        let replaced = replace::replaceable(dir, options.overwrite, &lock)?;
        remove_leftovers(dir)?;
        // Whatever was copied from: these records are vidrec's own.
        let meta = Meta { records: String::new(), ..options.meta };
        Self::begin(dir, meta, lock, None, replaced)
    }

    /// Begins further shards of the data set in `dir`, of which `before` is the list.
    pub(crate) fn extend(dir: &Path, meta: Meta, lock: FolderLock, before: DatasetJson) -> Result<Self> {
        let replaced = Replaced { files: before.file_names().map(str::to_owned).collect(), removable: Vec::new() };
        Self::begin(dir, meta, lock, Some(before), replaced)
    }

    fn begin(
        dir: &Path,
        meta: Meta,
        lock: FolderLock,
        before: Option<DatasetJson>,
        replaced: Replaced,
    ) -> Result<Self> {
        let first = before.as_ref().map_or(0, |json| json.shards.len());
        let shard = ShardWriter::create(dir, first)?;
        let (dir, finished) = (dir.to_owned(), Vec::new());
        Ok(Writer { dir, meta, finished, shard, failures: None, before, replaced, keep: false, lock })
    }

    /// From now on the temporary files stay when the writer is dropped.
    pub(super) fn keep_files(&mut self) {
        self.shard.keep();
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
        if self.shard.index.clip_count() == 0 {
            return Ok(());
        }
        let before = self.before.as_ref().map_or(0, |json| json.shards.len());
        let next = ShardWriter::create(&self.dir, before + self.finished.len() + 1)?;
        self.finished.push(std::mem::replace(&mut self.shard, next).finish(&self.meta)?);
        if self.keep {
            self.keep_files();
        }
        Ok(())
    }

    /// Number of clips appended so far.
    pub fn clips(&self) -> u64 {
        self.finished.iter().map(|s| s.done.json.clips).sum::<u64>() + self.shard.index.clip_count()
    }

    /// Bytes that the record files have so far.
    pub fn bytes(&self) -> u64 {
        self.finished.iter().map(|s| s.done.json.bytes).sum::<u64>() + self.shard.records.length
    }

    /// Bytes that the record file of the shard in hand has so far.
    pub fn shard_bytes(&self) -> u64 {
        self.shard.records.length
    }

    /// Brings everything to the disk, gives the files their names and replaces `dataset.json`: until then readers see
    /// what was there before, from then on the new data set.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append). On an error what was there before is as it was.
    pub fn finish(self) -> Result<Written> {
        let ready = self.complete()?;
        publication::publish(vec![ready.staged])?;
        Ok(ready.written)
    }

    /// Brings everything to the disk under temporary names.
    pub(crate) fn complete(self) -> Result<Ready> {
        let Writer { dir, meta, mut finished, shard, failures, before, replaced, keep, lock } = self;
        // An empty last shard is left out, unless it is the only one.
        if shard.index.clip_count() > 0 || (finished.is_empty() && before.is_none()) {
            finished.push(shard.finish(&meta)?);
        } else {
            shard.discard();
        }
        let new: Vec<_> = finished.iter().map(|s| s.done.json.clone()).collect();
        let written = Written {
            clips: new.iter().map(|s| s.clips).sum(),
            frames: new.iter().map(|s| s.frames).sum(),
            bytes: finished.iter().map(|s| s.done.json.bytes + s.done.index_length).sum(),
            shards: new.len() as u64,
        };
        let json = match before {
            Some(before) => before.with_more(new),
            None => DatasetJson {
                failures: failures.as_ref().map(|(_, json)| json.clone()),
                ..DatasetJson::new(&meta, new)
            },
        };
        let named = |shard: FinishedShard| {
            shard.files.into_iter().zip([shard.done.json.record_file, shard.done.json.index_file])
        };
        let mut files: Vec<(Temporary, String)> = finished.into_iter().flat_map(named).collect();
        files.extend(failures.map(|(file, json)| (file, json.file)));
        if keep {
            files.iter_mut().for_each(|(file, _)| file.keep());
        }
        let staged = replace::stage(&dir, lock, files, &json, replaced)?;
        Ok(Ready { staged, written })
    }
}

/// A data set that is on the disk but for its names.
#[derive(Debug)]
pub(crate) struct Ready {
    pub staged: Staged,
    pub written: Written,
}

/// Locks `dir`, which is created if need be, for a process that is to write there, and completes or undoes what an
/// interrupted one left.
///
/// # Errors
///
/// [`Usage`](crate::ErrorKind::Usage) if another process does, or there is a pack that was interrupted and can be resumed.
pub(crate) fn lock(dir: &Path) -> Result<FolderLock> {
    let mut lock = FolderLock::take(dir)?;
    if dir.join(names::JOURNAL).exists() {
        return Err(Error::usage("an interrupted pack is here, which can be resumed")
            .file(dir)
            .help("choose another folder")
            .hint(Hint::Resume)
            .hint(Hint::Restart));
    }
    lock.completed = publication::recover(dir)?;
    remove_leftovers(dir)?;
    Ok(lock)
}

/// Removes what killed processes staged in `dir`, which is locked.
fn remove_leftovers(dir: &Path) -> Result<()> {
    remove_temporaries(dir, |name| {
        names::is_ours(name) || name == publication::PLAN || name.ends_with(".vidx") || name.ends_with(".broken")
    })
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
