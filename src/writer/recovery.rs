//! Continuing a data set whose writer was interrupted: what was committed is proven by its checksums.

use std::path::Path;

use super::clip_info::ClipInfo;
use super::index::{Frames, IndexWriter};
use super::replace;
use super::shard::{self, Checkpoint, FinishedShard, ShardDone, ShardWriter, Written};
use super::writer::{Writer, WriterOptions};
use crate::disk::{AtomicFile, FolderLock, Temporary};
use crate::format::{frame_entry, header};
use crate::{Error, Hint, Result};

impl Writer {
    /// Continues what an interrupted writer left: `finished` shards, and one that was committed up to `points`.
    ///
    /// Returns the last point that is intact; the clips up to there are to be given to
    /// [`restore_clip`](Self::restore_clip). Temporary files are kept.
    pub(crate) fn resume(
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
        Ok((Writer { dir, meta, finished, shard, failures: None, before, replaced, keep: true, lock }, intact))
    }

    /// From now on the temporary files stay when the writer is dropped.
    pub(crate) fn keep_temporaries(&mut self) {
        self.keep = true;
        self.keep_files();
    }

    /// Removes the temporary files.
    pub(crate) fn discard(self) -> FolderLock {
        self.shard.discard();
        self.finished.into_iter().flat_map(|s| s.files).for_each(Temporary::discard);
        self.lock
    }

    /// Adds the entry of a clip of the shard in hand whose frames are on the disk already.
    pub(crate) fn restore_clip(&mut self, clip: &ClipInfo, frame_count: u32) -> Result<()> {
        self.shard.index.restore_clip(clip, frame_count)
    }

    /// Whether the clips of all frames were restored.
    pub(crate) fn is_restored(&self) -> bool {
        self.shard.index.is_restored()
    }

    /// Brings what was appended to the disk, under the temporary names.
    pub(crate) fn checkpoint(&mut self) -> Result<Checkpoint> {
        self.shard.checkpoint()
    }

    /// The shards that are complete and on the disk, under their temporary names.
    pub(crate) fn finished_shards(&self) -> impl ExactSizeIterator<Item = &ShardDone> {
        self.finished.iter().map(|s| &s.done)
    }
}

impl FinishedShard {
    /// One that an interrupted writer left.
    fn restore(dir: &Path, ordinal: usize, done: ShardDone) -> Result<Self> {
        let restore = |path: &Path, length: u64| {
            let file = Temporary::kept(path)?;
            match file.length()? {
                Some(found) if found == length => Ok(file),
                found => Err(Error::usage("a shard that was complete is damaged or gone")
                    .file(file.path())
                    .expected(format!("{length} bytes"))
                    .found(found.map_or("no file".into(), |n| n.to_string()))
                    .hint(Hint::Restart)),
            }
        };
        let [record, index] = shard::paths(dir, ordinal);
        let files = [restore(&record, done.json.bytes)?, restore(&index, done.index_length)?];
        Ok(FinishedShard { files, done })
    }
}

impl ShardWriter {
    /// Continues the temporary files of a shard at the last of `points` up to which they are intact, and says which that
    /// is; without one the shard starts over. What comes later in the files is cut off.
    ///
    /// The clips of that point are still to be given to [`Writer::restore_clip`].
    fn recover(dir: &Path, ordinal: usize, points: &[Checkpoint]) -> Result<(Self, Option<usize>)> {
        let [record_path, index_path] = shard::paths(dir, ordinal);
        let (mut record, mut index) = (AtomicFile::reopen(&record_path)?, AtomicFile::reopen(&index_path)?);
        // An error here must not cost the files.
        record.keep();
        index.keep();
        let mut proven = Proven::default();
        let mut last = None;
        if read(&mut index, header::BYTES as u64, |_| ())? {
            for (i, point) in points.iter().enumerate() {
                match proven.extended(&mut record, &mut index, point)? {
                    Some(longer) => (proven, last) = (longer, Some(i)),
                    None => break,
                }
            }
        }
        record.cut(proven.records.length)?;
        if last.is_some() {
            // The header is written at the end in any case.
            index.cut(header::BYTES as u64 + proven.frames.count * frame_entry::BYTES as u64)?;
        } else {
            index.cut(0)?;
            index.write_all(&[0; header::BYTES])?;
        }
        let index = IndexWriter::with_frames(index, proven.frames);
        Ok((ShardWriter::with_files(ordinal, record_path, record, index, proven.records), last))
    }
}

/// What is proven of the files of a shard.
#[derive(Clone, Default)]
struct Proven {
    records: Written,
    frames: Frames,
}

impl Proven {
    /// Reads on up to `point`; `None` if that is not what the files hold.
    fn extended(&self, record: &mut AtomicFile, index: &mut AtomicFile, point: &Checkpoint) -> Result<Option<Self>> {
        let bytes = point.bytes.checked_sub(self.records.length);
        let (Some(bytes), Some(frames)) = (bytes, point.frames.checked_sub(self.frames.count)) else {
            return Ok(None);
        };
        let mut longer = self.clone();
        longer.frames.count = point.frames;
        let whole = read(record, bytes, |bytes| longer.records.push(bytes))?;
        let entries = frames.saturating_mul(frame_entry::BYTES as u64);
        let whole = whole && read(index, entries, |bytes| longer.frames.crc.update(bytes))?;
        let crcs = (longer.records.crc.clone().finalize(), longer.frames.crc.clone().finalize());
        Ok((whole && crcs == (point.crc32, point.frames_crc32)).then_some(longer))
    }
}

/// Reads the next `length` bytes in pieces; false if the file ends before.
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
