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
    /// The description of the shard before it is opened.
    listed: ShardJson,
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
    /// Opens a shard, unless it is remote and listed.
    pub fn new(files: &ShardFiles, source: &Source) -> Result<Self> {
        let open = || source.twice(|| Shard::open(files, source)).map_err(suggest_repair);
        let (listed, shard) = match (&files.listed, source) {
            (Some(listed), Source::Remote(_)) => (listed.clone(), OnceLock::new()),
            _ => {
                let shard = open()?;
                (shard.to_json().clone(), OnceLock::from(shard))
            }
        };
        Ok(LazyShard { files: files.clone(), source: source.clone(), listed, shard })
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

    /// The description of the shard that belongs in `dataset.json`.
    pub fn json(&self) -> &ShardJson {
        self.shard.get().map_or(&self.listed, Shard::to_json)
    }

    /// SHA-256 of the record file; zeros if `dataset.json` lists none, and the shard is not open.
    pub fn sha256(&self) -> [u8; 32] {
        data_binding::from_hex(&self.json().sha256).unwrap_or_default()
    }

    pub fn record_path(&self) -> &Path {
        let named = || self.files.record.as_deref().unwrap_or(&self.files.index);
        self.shard.get().map_or_else(named, |shard| &shard.record_path)
    }

    pub fn index_path(&self) -> &Path {
        &self.files.index
    }
}
