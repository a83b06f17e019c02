//! Resuming an interrupted writer. Checksums show which data is intact.

use std::path::Path;

use super::clip_info::ClipInfo;
use super::index::{Frames, IndexWriter};
use super::replace;
use super::shard::{self, Checkpoint, FinishedShard, ShardDone, ShardWriter};
use super::track_file::{TrackPoint, TrackWriter};
use super::writer::{Writer, WriterOptions};
use super::written::Written;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::track::schema::Schema;
use vidrec_format::{frame_entry, header};
use vidrec_store::disk::{AtomicFile, FolderLock, Temporary};

impl Writer {
    /// Resumes an interrupted writer from the shards that it `finished` and from one that has the checkpoints `points`.
    ///
    /// Returns the last checkpoint that is intact. The caller must pass the clips up to there to
    /// [`restore_clip`](Self::restore_clip). Temporary files are kept.
    #[doc(hidden)]
    pub fn resume(
        dir: &Path,
        options: WriterOptions,
        lock: FolderLock,
        finished: Vec<ShardDone>,
        points: &[Checkpoint],
    ) -> Result<(Self, Option<usize>)> {
        let replaced = replace::replaceable(dir, options.overwrite, &lock)?;
        let restored = finished.into_iter().enumerate().map(|(i, shard)| FinishedShard::restore(dir, i, shard));
        let finished = restored.collect::<Result<Vec<_>>>()?;
        let (shard, intact) = ShardWriter::recover(dir, finished.len(), points)?;
        let (dir, meta, before) = (dir.to_owned(), options.meta, None);
        let (failures, schema) = (None, Schema::default());
        Ok((Writer { dir, meta, schema, finished, shard, failures, before, replaced, keep: true, lock }, intact))
    }

    /// Keeps the temporary files when the writer is dropped.
    #[doc(hidden)]
    pub fn keep_temporaries(&mut self) {
        self.keep = true;
        self.keep_files();
    }

    /// Removes the temporary files.
    #[doc(hidden)]
    pub fn discard(self) -> FolderLock {
        self.shard.discard();
        self.finished.into_iter().flat_map(|s| s.files).for_each(Temporary::discard);
        self.lock
    }

    /// Adds the entry of a clip of the current shard whose frames are already on the disk.
    #[doc(hidden)]
    pub fn restore_clip(&mut self, clip: &ClipInfo, frame_count: u32) -> Result<()> {
        self.shard.index.restore_clip(clip, frame_count)
    }

    /// Whether the clips of all frames are restored.
    #[doc(hidden)]
    pub fn is_restored(&self) -> bool {
        self.shard.index.is_restored()
    }

    /// Syncs everything appended to the disk, under the temporary names.
    #[doc(hidden)]
    pub fn checkpoint(&mut self) -> Result<Checkpoint> {
        self.shard.checkpoint()
    }

    /// The shards that are complete and on the disk, under their temporary names.
    #[doc(hidden)]
    pub fn finished_shards(&self) -> impl ExactSizeIterator<Item = &ShardDone> {
        self.finished.iter().map(|s| &s.done)
    }
}

impl FinishedShard {
    /// Restores a complete shard that an interrupted writer left.
    fn restore(dir: &Path, ordinal: usize, done: ShardDone) -> Result<Self> {
        let restore = |path: &Path, length: u64| {
            let file = Temporary::kept(path)?;
            match file.length()? {
                Some(found) if found == length => Ok(file),
                found => Err(Error::usage("a completed shard is damaged or missing")
                    .file(file.path())
                    .expected(format!("{length} bytes"))
                    .found(found.map_or("no file".into(), |n| n.to_string()))
                    .hint(Hint::Restart)),
            }
        };
        let [record, index, tracks] = shard::paths(dir, ordinal);
        let mut files = vec![restore(&record, done.json.bytes)?, restore(&index, done.index_length)?];
        if let Some(listed) = &done.json.track_file {
            files.push(restore(&tracks, listed.bytes)?);
        }
        Ok(FinishedShard { files, done })
    }
}

impl ShardWriter {
    /// Resumes the temporary files of a shard at the last of `points` up to which they are intact. Returns that
    /// point, or `None` if the shard starts over. The files are truncated there.
    ///
    /// The caller must then pass the clips of that checkpoint to [`Writer::restore_clip`].
    fn recover(dir: &Path, ordinal: usize, points: &[Checkpoint]) -> Result<(Self, Option<usize>)> {
        let [record_path, index_path, track_path] = shard::paths(dir, ordinal);
        let (mut record, mut index) = (AtomicFile::reopen(&record_path)?, AtomicFile::reopen(&index_path)?);
        let has_tracks = points.iter().any(|point| point.tracks.is_some());
        let mut tracks = has_tracks.then(|| AtomicFile::reopen(&track_path)).transpose()?;
        // An error from here on must not remove the files.
        record.keep();
        index.keep();
        tracks.iter_mut().for_each(AtomicFile::keep);
        let mut proven = Proven::default();
        let mut last = None;
        if read(&mut index, header::BYTES as u64, |_| ())? {
            for (i, point) in points.iter().enumerate() {
                match proven.extended((&mut record, &mut index, tracks.as_mut()), point)? {
                    Some(longer) => (proven, last) = (longer, Some(i)),
                    None => break,
                }
            }
        }
        record.cut(proven.records.length)?;
        if last.is_some() {
            // The header is always written at the end.
            index.cut(header::BYTES as u64 + proven.frames.count * frame_entry::BYTES as u64)?;
        } else {
            index.cut(0)?;
            index.write_all(&[0; header::BYTES])?;
        }
        let tracks = match (tracks, last.and_then(|i| points[i].tracks)) {
            (Some(file), Some(point)) => Some(TrackWriter::resume(file, proven.tracks, &point)?),
            // If no clip before the checkpoint had tracks, the file starts with the first clip that has some.
            (file, _) => {
                file.into_iter().for_each(AtomicFile::discard);
                None
            }
        };
        let index = IndexWriter::with_frames(index, proven.frames);
        Ok((ShardWriter::with_files(dir, ordinal, record, index, proven.records, tracks), last))
    }
}

/// The part of a shard's files that is known to be intact.
#[derive(Clone, Default)]
struct Proven {
    records: Written,
    frames: Frames,
    tracks: Written,
}

impl Proven {
    /// Reads further, up to `point`; `None` if the files do not match it.
    fn extended(
        &self,
        (record, index, tracks): (&mut AtomicFile, &mut AtomicFile, Option<&mut AtomicFile>),
        point: &Checkpoint,
    ) -> Result<Option<Self>> {
        let bytes = point.bytes.checked_sub(self.records.length);
        let (Some(bytes), Some(frames)) = (bytes, point.frames.checked_sub(self.frames.count)) else {
            return Ok(None);
        };
        let mut longer = self.clone();
        longer.frames.count = point.frames;
        let whole = read(record, bytes, |bytes| longer.records.push(bytes))?;
        let entries = frames.saturating_mul(frame_entry::BYTES as u64);
        let whole = whole && read(index, entries, |bytes| longer.frames.crc.update(bytes))?;
        let whole = whole && longer.push_tracks(tracks, point.tracks.as_ref())?;
        let crcs = (longer.records.crc.clone().finalize(), longer.frames.crc.clone().finalize());
        Ok((whole && crcs == (point.crc32, point.frames_crc32)).then_some(longer))
    }

    /// Reads the track file further, up to `point`. Returns false if the file does not match it.
    fn push_tracks(&mut self, file: Option<&mut AtomicFile>, point: Option<&TrackPoint>) -> Result<bool> {
        let (Some(file), Some(point)) = (file, point) else { return Ok(point.is_none()) };
        let Some(bytes) = point.bytes.checked_sub(self.tracks.length) else { return Ok(false) };
        let whole = read(file, bytes, |bytes| self.tracks.push(bytes))?;
        Ok(whole && self.tracks.crc.clone().finalize() == point.crc32)
    }
}

/// Reads the next `length` bytes in pieces. Returns false if the file ends before.
fn read(file: &mut AtomicFile, length: u64, mut each: impl FnMut(&[u8])) -> Result<bool> {
    let mut buffer = vec![0; 1 << 20];
    let mut left = length;
    while left > 0 {
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let n = file.read(&mut buffer[..wanted])?;
        if n == 0 {
            return Ok(false);
        }
        each(&buffer[..n]);
        left -= n as u64;
    }
    Ok(true)
}
