//! Writes one track file. Blocks stream to the disk, and the digest is computed on the way.

use std::path::Path;

use super::file_digest::FileDigest;
use crate::store::disk::{AtomicFile, Temporary};
use vidrec_format::track::assembly::Assembly;
use vidrec_format::track::directory::NewTrack;
use vidrec_format::track::schema::Schema;
use vidrec_format::{DataBinding, Result};

/// Writes the tracks of the clips of a shard.
#[derive(Debug)]
pub(crate) struct TrackWriter {
    file: AtomicFile,
    digest: FileDigest,
    assembly: Assembly,
}

impl TrackWriter {
    /// Begins the file of a shard that already has `clips` clips without tracks.
    pub fn create(path: &Path, clips: u64) -> Result<Self> {
        let (assembly, head) = Assembly::begin();
        let mut writer = TrackWriter { file: AtomicFile::create(path)?, digest: FileDigest::default(), assembly };
        writer.write(&head)?;
        (0..clips).try_for_each(|_| writer.push(&[]))?;
        Ok(writer)
    }

    /// Adds the next clip with its tracks, in order of their numbers.
    pub fn push(&mut self, tracks: &[NewTrack<'_>]) -> Result<()> {
        let bytes = self.assembly.push(tracks)?;
        self.write(&bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes)?;
        self.digest.push(bytes);
        Ok(())
    }

    /// Completes the file and syncs it to the disk, under its temporary name.
    pub fn finish(mut self, schema: &Schema) -> Result<(Temporary, DataBinding)> {
        let tail = self.assembly.clone().finish(schema)?;
        self.write(&tail)?;
        self.file.sync()?;
        Ok((self.file.seal(), self.digest.binding()))
    }
}
