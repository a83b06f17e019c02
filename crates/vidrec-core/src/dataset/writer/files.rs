//! Files that grow to their ends: any file, with its digest, and the track file of a shard or one that is added to a data set.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::store::disk::map::MappedFile;
use crate::store::disk::{AtomicFile, Temporary};
use vidrec_format::data_binding::edge_crc32;
use vidrec_format::track::assembly::Assembly;
use vidrec_format::track::directory::NewTrack;
use vidrec_format::track::payload::Payload;
use vidrec_format::track::schema::Schema;
use vidrec_format::{DataBinding, Error, Result};

/// A file that is written from its first byte to its last, and the digest of its bytes so far.
#[derive(Debug)]
pub(crate) struct DigestedFile {
    pub file: AtomicFile,
    pub digest: Sha256,
    pub length: u64,
}

impl DigestedFile {
    pub fn create(path: &Path) -> Result<Self> {
        Ok(DigestedFile { file: AtomicFile::create(path)?, digest: Sha256::new(), length: 0 })
    }

    /// Appends the next bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes)?;
        self.digest.update(bytes);
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Syncs the file to the disk, under its temporary name, and returns its identity.
    pub fn finish(mut self) -> Result<(Temporary, DataBinding)> {
        self.file.sync()?;
        let file = self.file.seal();
        let map = MappedFile::open(&file.path)?;
        let (sha256, edge_crc32) = (self.digest.finalize().into(), edge_crc32(&map));
        map.prove_whole(&file.path)?;
        Ok((file, DataBinding { length: self.length, sha256, edge_crc32 }))
    }
}

/// The tracks of a clip, in order of their numbers in `schema`, which has all of them.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): two tracks have the same name.
pub(crate) fn numbered<'a>(schema: &Schema, tracks: &[Payload<'a>]) -> Result<Vec<NewTrack<'a>>> {
    let numbered = tracks.iter().map(|track| Some(NewTrack::of(schema.number(&track.schema.name)?, track)));
    let new = numbered.collect::<Option<Vec<_>>>();
    let mut new = new.ok_or_else(|| Error::internal("a track that is not in the schema"))?;
    new.sort_unstable_by_key(|track| track.number);
    if let Some(two) = new.windows(2).find(|two| two[0].number == two[1].number) {
        let name = &schema.tracks()[two[0].number as usize].name;
        return Err(Error::usage(format!("two tracks have the name \"{name}\"")));
    }
    Ok(new)
}

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
