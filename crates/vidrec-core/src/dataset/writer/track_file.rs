//! Writes a track file: of a shard, or one that is added to a data set.

use std::path::Path;

use super::digested_file::DigestedFile;
use crate::store::disk::Temporary;
use vidrec_format::track::assembly::Assembly;
use vidrec_format::track::directory::NewTrack;
use vidrec_format::track::schema::Schema;
use vidrec_format::{DataBinding, Result};

/// A track file that grows clip by clip.
#[derive(Debug)]
pub(crate) struct TrackFileWriter {
    file: DigestedFile,
    assembly: Assembly,
}

impl TrackFileWriter {
    /// Starts the file at `path`, whose first `clips` clips have no tracks.
    pub fn create(path: &Path, clips: u64) -> Result<Self> {
        let (assembly, head) = Assembly::begin();
        let mut writer = TrackFileWriter { file: DigestedFile::create(path)?, assembly };
        writer.file.write(&head)?;
        (0..clips).try_for_each(|_| writer.push(&[]))?;
        Ok(writer)
    }

    /// Appends the tracks of the next clip, in order of their numbers.
    pub fn push(&mut self, tracks: &[NewTrack<'_>]) -> Result<()> {
        self.file.write(&self.assembly.push(tracks)?)
    }

    /// Number of clips so far.
    pub fn clips(&self) -> u64 {
        self.assembly.clips()
    }

    /// Completes the file and syncs it to the disk, under its temporary name. `schema` contains the numbers of the tracks.
    pub fn finish(mut self, schema: &Schema) -> Result<(Temporary, DataBinding)> {
        self.file.write(&self.assembly.finish(schema)?)?;
        self.file.finish()
    }
}
