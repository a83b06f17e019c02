//! Going on with a data set whose writer was interrupted: what was committed is proven by its checksums.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{ClipInfo, Edges, FinishedShard, ShardDone, ShardWriter, Writer, WriterOptions, replaceable, shard_path};
use crate::atomic_file::{AtomicFile, Temporary};
use crate::folder_lock::FolderLock;
use crate::format::{frame_entry, header};
use crate::{Error, Result};

/// How far a shard had come when its files were brought to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// Length of the record file in bytes.
    pub bytes: u64,
    /// CRC-32 of the record file up to there.
    pub crc32: u32,
    /// Number of frames, and so of entries in the index file.
    pub frames: u64,
    /// CRC-32 of those entries.
    pub frames_crc32: u32,
}

impl Writer {
    /// Goes on with what an interrupted writer left: `finished` shards, and one that was committed up to `points`.
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
        let stale = replaceable(dir, options.overwrite)?;
        let finished = finished.into_iter().map(|s| FinishedShard::restore(dir, s)).collect::<Result<Vec<_>>>()?;
        let (shard, intact) = ShardWriter::recover(&shard_path(dir, finished.len()), points)?;
        let (dir, meta) = (dir.to_owned(), options.meta);
        Ok((Writer { dir, meta, finished, shard, stale, keep: true, lock }, intact))
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
        self.shard.restore_clip(clip, frame_count)
    }

    /// Whether the clips of all frames were restored.
    pub(crate) fn is_restored(&self) -> bool {
        self.shard.is_restored()
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
    fn restore(dir: &Path, done: ShardDone) -> Result<Self> {
        let restore = |name: &str, length: u64| {
            let file = Temporary::kept(&dir.join(name))?;
            match file.length()? {
                Some(found) if found == length => Ok(file),
                found => Err(Error::usage("a shard that was complete is damaged or gone")
                    .file(dir.join(name))
                    .expected(format!("{length} bytes under its temporary name"))
                    .found(found.map_or("none".into(), |n| n.to_string()))
                    .help("begin anew (--restart)")),
            }
        };
        let files =
            [restore(&done.json.record_file, done.json.bytes)?, restore(&done.json.index_file, done.index_length)?];
        Ok(FinishedShard { files, done })
    }
}

impl ShardWriter {
    /// Brings what was appended to the disk.
    pub fn checkpoint(&mut self) -> Result<Checkpoint> {
        self.check_usable()?;
        self.record.sync()?;
        self.index.sync()?;
        Ok(Checkpoint {
            bytes: self.length,
            crc32: self.record_crc.clone().finalize(),
            frames: self.frame_count,
            frames_crc32: self.frames_crc.clone().finalize(),
        })
    }

    /// Goes on with the temporary files of `record_path` at the last of `points` up to which they are intact, and
    /// says which that is; without one the shard begins anew. What comes later in the files is cut off.
    ///
    /// The clips of that point are still to be given to [`restore_clip`](Self::restore_clip).
    pub fn recover(record_path: &Path, points: &[Checkpoint]) -> Result<(Self, Option<usize>)> {
        let mut record = AtomicFile::reopen(record_path)?;
        let mut index = AtomicFile::reopen(&record_path.with_extension("vidx"))?;
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
        record.cut(proven.length)?;
        if last.is_some() {
            // The header is written at the end in any case.
            index.cut(header::BYTES as u64 + proven.frames * frame_entry::BYTES as u64)?;
        } else {
            index.cut(0)?;
            index.write_all(&[0; header::BYTES])?;
        }
        Ok((proven.into_shard(record_path, record, index), last))
    }

    /// Adds the entry of a clip whose frames are in the files already.
    pub fn restore_clip(&mut self, clip: &ClipInfo, frame_count: u32) -> Result<()> {
        let label = super::check_info(clip)?;
        let before = self.clip_frames;
        self.clip_frames = before.saturating_add(u64::from(frame_count));
        if frame_count == 0 || self.clip_frames > self.frame_count {
            return Err(Error::usage("there are not as many frames as the clips should have").file(&self.record_path));
        }
        self.push_clip_entry(label, clip, before, frame_count)?;
        self.clip_count += 1;
        Ok(())
    }

    /// Whether every frame in the files belongs to a clip.
    pub fn is_restored(&self) -> bool {
        self.clip_frames == self.frame_count
    }
}

/// What is proven of the files of a shard.
#[derive(Clone, Default)]
struct Proven {
    length: u64,
    frames: u64,
    digest: Sha256,
    record_crc: crc32fast::Hasher,
    frames_crc: crc32fast::Hasher,
    edges: Edges,
}

impl Proven {
    /// Reads on up to `point`; `None` if that is not what the files hold.
    fn extended(&self, record: &mut AtomicFile, index: &mut AtomicFile, point: &Checkpoint) -> Result<Option<Self>> {
        let (Some(bytes), Some(frames)) = (point.bytes.checked_sub(self.length), point.frames.checked_sub(self.frames))
        else {
            return Ok(None);
        };
        let mut longer = Proven { length: point.bytes, frames: point.frames, ..self.clone() };
        let whole = read(record, bytes, |bytes| {
            longer.digest.update(bytes);
            longer.record_crc.update(bytes);
            longer.edges.push(bytes);
        })?;
        let entries = frames.saturating_mul(frame_entry::BYTES as u64);
        let whole = whole && read(index, entries, |bytes| longer.frames_crc.update(bytes))?;
        let crcs = (longer.record_crc.clone().finalize(), longer.frames_crc.clone().finalize());
        Ok((whole && crcs == (point.crc32, point.frames_crc32)).then_some(longer))
    }

    fn into_shard(self, record_path: &Path, record: AtomicFile, index: AtomicFile) -> ShardWriter {
        let mut shard = ShardWriter::with_files(record_path, record, index);
        shard.length = self.length;
        shard.frame_count = self.frames;
        shard.digest = self.digest;
        shard.record_crc = self.record_crc;
        shard.frames_crc = self.frames_crc;
        shard.edges = self.edges;
        shard
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
