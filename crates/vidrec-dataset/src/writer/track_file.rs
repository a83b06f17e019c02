//! Writes one track file. Blocks stream to the disk, and the digest is computed on the way.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::written::Written;
use vidrec_format::data_binding::DataBinding;
use vidrec_format::error::Result;
use vidrec_format::track::assembly::Assembly;
use vidrec_format::track::directory::NewTrack;
use vidrec_format::track::schema::Schema;
use vidrec_store::disk::{AtomicFile, Temporary};

/// The state of a track file when it was synced to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackPoint {
    /// Its length in bytes.
    pub bytes: u64,
    /// CRC-32 of the file up to this length.
    pub crc32: u32,
    /// Number of clips.
    pub clips: u64,
}

/// Writes the tracks of the clips of a shard.
#[derive(Debug)]
pub(crate) struct TrackWriter {
    file: AtomicFile,
    written: Written,
    assembly: Assembly,
}

impl TrackWriter {
    /// Begins the file of a shard that already has `clips` clips without tracks.
    pub fn create(path: &Path, clips: u64) -> Result<Self> {
        let (assembly, head) = Assembly::begin();
        let mut writer = TrackWriter { file: AtomicFile::create(path)?, written: Written::default(), assembly };
        writer.write(&head)?;
        (0..clips).try_for_each(|_| writer.push(&[]))?;
        Ok(writer)
    }

    /// Continues a file that is intact up to `point`. The table is rebuilt from the blocks.
    pub fn resume(mut file: AtomicFile, written: Written, point: &TrackPoint) -> Result<Self> {
        let assembly = Assembly::resume(point.bytes, point.clips, &mut |offset, length| {
            let mut bytes = vec![0; length];
            file.read_at(offset, &mut bytes).map(|()| bytes)
        })?;
        file.cut(point.bytes)?;
        Ok(TrackWriter { file, written, assembly })
    }

    /// Syncs everything to the disk.
    pub fn checkpoint(&mut self) -> Result<TrackPoint> {
        self.file.sync()?;
        let crc32 = self.written.crc.clone().finalize();
        Ok(TrackPoint { bytes: self.written.length, crc32, clips: self.assembly.clips() })
    }

    /// Adds the next clip with its tracks, in order of their numbers.
    pub fn push(&mut self, tracks: &[NewTrack<'_>]) -> Result<()> {
        let bytes = self.assembly.push(tracks)?;
        self.write(&bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes)?;
        self.written.push(bytes);
        Ok(())
    }

    /// Completes the file and syncs it to the disk, under its temporary name.
    pub fn finish(mut self, schema: &Schema) -> Result<(Temporary, DataBinding)> {
        let tail = self.assembly.clone().finish(schema)?;
        self.write(&tail)?;
        self.file.sync()?;
        Ok((self.file.seal(), self.written.binding()))
    }

    /// Removes the file.
    pub fn discard(self) {
        self.file.discard();
    }

    /// Keeps the temporary file when this is dropped.
    pub fn keep(&mut self) {
        self.file.keep();
    }
}
