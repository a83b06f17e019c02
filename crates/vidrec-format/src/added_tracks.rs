//! What clips got after they were packed, as `dataset.json` lists it: track files of the data set, and which clips are in them.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::data_binding::{self, DataBinding};
use super::file_name::{FileKind, FileName};
use super::json_object::objects;
use super::limits;
use crate::error::{Error, Result};

/// A track file that was added to a data set. Its clips are those of one or more shards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedFileJson {
    /// Its name, in the same folder.
    pub file: FileName,
    /// Number of clips in it.
    pub clips: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its SHA-256 in lower-case hexadecimal digits.
    pub sha256: String,
    /// CRC-32 of its ends.
    pub edge_crc32: u32,
}

/// The place of a shard's clips in an added track file: clip `i` of the shard is clip `first_clip + i` of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedClipsJson {
    /// The name of the file, which `added_files` lists.
    pub file: FileName,
    /// The ordinal in the file of the shard's first clip.
    pub first_clip: u64,
}

/// What the clips of a shard got, or lost, after they were packed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedJson {
    /// The files with their tracks, in the order in which they were added. A track of a later file replaces one of the same
    /// name in an earlier file and in the shard's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "objects::array")]
    pub tracks: Vec<AddedClipsJson>,
    /// Names of tracks that were removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
}

#[doc(hidden)]
impl AddedFileJson {
    /// What an index says of a shard's track file. `None` if the SHA-256 is none.
    pub fn binding(&self) -> Option<DataBinding> {
        let sha256 = data_binding::from_hex(&self.sha256)?;
        Some(DataBinding { length: self.bytes, sha256, edge_crc32: self.edge_crc32 })
    }
}

/// Checks the added files of a data set, and that the clips of its shards are in them. `shards` has the number of clips of each
/// shard.
pub(crate) fn prove<'a>(
    files: &'a [AddedFileJson],
    shards: impl Iterator<Item = (u64, Option<&'a AddedJson>)>,
) -> Result<()> {
    let fault = |what: &str, name: &FileName| Err(Error::format("dataset-json", what.to_owned()).found(name));
    // How many clips of each file the shards so far have passed, and how many it has.
    let mut passed: HashMap<&FileName, (Option<u64>, u64)> = HashMap::new();
    for file in files {
        let is_possible = file.file.kind() == Some(FileKind::Tracks)
            && file.binding().is_some()
            && file.clips <= limits::MAX_ORDINALS;
        if !is_possible || passed.insert(&file.file, (None, file.clips)).is_some() {
            return fault("an added file is no track file, is listed twice, or has no SHA-256", &file.file);
        }
    }
    for (clips, added) in shards {
        for place in added.iter().flat_map(|added| &added.tracks) {
            let Some((next, all)) = passed.get_mut(&place.file) else {
                return fault("the clips of a shard are in a file that added_files does not list", &place.file);
            };
            let end = place.first_clip.checked_add(clips).filter(|end| end <= all);
            match end.filter(|_| place.first_clip >= next.unwrap_or(0)) {
                Some(end) => *next = Some(end),
                None => return fault("an added file does not have the clips of a shard, in their order", &place.file),
            }
        }
    }
    let unused = passed.iter().find(|(_, (next, _))| next.is_none());
    unused.map_or(Ok(()), |(name, _)| fault("an added file has no clips of a shard", name))
}
