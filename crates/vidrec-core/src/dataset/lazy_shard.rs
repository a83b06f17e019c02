//! A shard of a data set, which is opened when it is first used.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::dataset::listing::ShardFiles;
use crate::dataset::{Shard, Source};
use crate::store::remote::Remote;
use vidrec_format::{Error, ErrorKind, Hint, Result, ShardJson, data_binding};

/// A shard of a data set. A remote shard is opened when it is first used, because opening takes several requests.
/// Until then, `dataset.json` says enough to count clips. Opening proves that the shard matches it.
#[derive(Debug)]
pub(crate) struct LazyShard {
    files: ShardFiles,
    source: Source,
    shard: OnceLock<Shard>,
}

/// Adds a hint to repair to errors about damage.
fn suggest_repair(e: Error) -> Error {
    if e.kind() != ErrorKind::Format || !e.hints().is_empty() {
        return e;
    }
    e.hint(Hint::Verify).hint(Hint::Repair)
}

impl LazyShard {
    /// A slot for a shard, which is opened at once unless it is remote and listed.
    pub fn new(files: &ShardFiles, source: &Source) -> Result<Self> {
        let slot = LazyShard { files: files.clone(), source: source.clone(), shard: OnceLock::new() };
        if matches!(source, Source::Local(_)) || files.listed.is_none() {
            slot.open()?;
        }
        Ok(slot)
    }

    /// The open shard.
    pub fn open(&self) -> Result<&Shard> {
        if let Some(shard) = self.shard.get() {
            return Ok(shard);
        }
        let shard = self.source.twice(|| Shard::open(&self.files, &self.source)).map_err(suggest_repair)?;
        // Another thread may have opened it, too. Either result will do.
        Ok(self.shard.get_or_init(|| shard))
    }

    /// The shard, if it is open.
    pub fn opened(&self) -> Option<&Shard> {
        self.shard.get()
    }

    /// The shared state of remote shards.
    pub fn remote(&self) -> Option<&Arc<Remote>> {
        if let Source::Remote(remote) = &self.source { Some(remote) } else { None }
    }

    /// Length of the record file.
    pub fn record_bytes(&self) -> u64 {
        self.shard.get().map_or_else(|| self.listed().map_or(0, |s| s.bytes), |shard| shard.index.binding.length)
    }

    /// SHA-256 of the record file.
    pub fn sha256(&self) -> [u8; 32] {
        let said = || self.listed().and_then(|s| data_binding::from_hex(&s.sha256)).unwrap_or_default();
        self.shard.get().map_or_else(said, |shard| shard.index.binding.sha256)
    }

    /// Number of clips.
    pub fn clip_count(&self) -> u64 {
        self.shard.get().map_or_else(|| self.listed().map_or(0, |s| s.clips), Shard::clip_count)
    }

    /// Number of frames.
    pub fn frame_count(&self) -> u64 {
        let open = |shard: &Shard| shard.index.header.frame_count;
        self.shard.get().map_or_else(|| self.listed().map_or(0, |s| s.frames), open)
    }

    /// Whether the shard has a track file, as far as this is known without opening it.
    pub fn may_have_tracks(&self) -> bool {
        let listed = || self.listed().is_none_or(|shard| shard.track_file.is_some());
        self.shard.get().map_or_else(listed, |shard| shard.tracks.is_some())
    }

    /// The description of the shard that belongs in `dataset.json`.
    pub fn to_json(&self) -> Option<ShardJson> {
        self.shard.get().map(Shard::to_json).or_else(|| self.listed()).cloned()
    }

    pub fn record_path(&self) -> &Path {
        let named = || self.files.record.as_deref().unwrap_or(&self.files.index);
        self.shard.get().map_or_else(named, |shard| &shard.record_path)
    }

    pub fn index_path(&self) -> &Path {
        &self.files.index
    }

    fn listed(&self) -> Option<&ShardJson> {
        self.files.listed.as_ref()
    }
}
