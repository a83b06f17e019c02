//! The files of a data set as bytes, for those who hand them on.

use std::ops::Range;

use super::dataset::Dataset;
use vidrec_format::error::{Error, Result};
use vidrec_format::file_name::FileName;
use vidrec_store::read_at::ReadAt;

/// A file of a shard, wherever it is. The file of a remote shard is opened when it is first used.
#[derive(Debug, Clone)]
pub struct ShardFile {
    set: Dataset,
    shard: usize,
    part: Part,
}

#[derive(Debug, Clone, Copy)]
enum Part {
    Index,
    Records,
    Tracks,
}

impl Dataset {
    /// The files of all shards and their names.
    #[doc(hidden)]
    pub fn shard_files(&self) -> Vec<(FileName, ShardFile)> {
        let mut files = Vec::new();
        for (shard, listed) in self.to_json().shards.into_iter().enumerate() {
            let mut add = |name, part| files.push((name, ShardFile { set: self.clone(), shard, part }));
            add(listed.index_file, Part::Index);
            add(listed.record_file, Part::Records);
            if let Some(tracks) = listed.track_file {
                add(tracks.file, Part::Tracks);
            }
        }
        files
    }
}

impl ShardFile {
    fn bytes(&self) -> Result<&dyn ReadAt> {
        let shard = self.set.shard(self.shard)?;
        Ok(match self.part {
            Part::Index => &*shard.index_bytes,
            Part::Records => &*shard.records,
            Part::Tracks => {
                let tracks = shard.tracks.as_ref().ok_or_else(|| Error::internal("a shard has lost its tracks"))?;
                &*tracks.open()?.records
            }
        })
    }

    /// Its length in bytes.
    ///
    /// # Errors
    ///
    /// Those of opening the shard.
    pub fn length(&self) -> Result<u64> {
        Ok(self.bytes()?.len())
    }

    /// A range of its bytes. Nothing is checked but that they are there.
    ///
    /// # Errors
    ///
    /// [`Io`](vidrec_format::error::ErrorKind::Io) if they cannot be read.
    pub fn read(&self, range: Range<u64>) -> Result<Vec<u8>> {
        let mut buffer = Vec::new();
        self.bytes()?.copy(range.clone(), &mut || range.clone(), &mut buffer)?;
        Ok(buffer)
    }
}
