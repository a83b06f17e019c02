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
    /// The file with attributes, which replace those of the same names.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "objects::optional")]
    pub attributes: Option<AddedClipsJson>,
}

#[doc(hidden)]
impl AddedFileJson {
    /// The description of the file of this name and identity.
    pub fn new(file: FileName, binding: &DataBinding, clips: u64) -> Self {
        AddedFileJson {
            file,
            clips,
            bytes: binding.length,
            sha256: data_binding::hex(&binding.sha256),
            edge_crc32: binding.edge_crc32,
        }
    }

    /// What an index says of a shard's track file. `None` if the SHA-256 is none.
    pub fn binding(&self) -> Option<DataBinding> {
        let sha256 = data_binding::from_hex(&self.sha256)?;
        Some(DataBinding { length: self.bytes, sha256, edge_crc32: self.edge_crc32 })
    }
}

#[doc(hidden)]
impl AddedJson {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        *self == AddedJson::default()
    }

    /// The places of the shard's clips in all files.
    pub fn places(&self) -> impl Iterator<Item = &AddedClipsJson> {
        self.tracks.iter().chain(&self.attributes)
    }
}

/// Checks the added files of a data set, and that the clips of its shards are in them. `shards` has the number of clips of each
/// shard.
pub(crate) fn prove<'a>(
    files: &'a [AddedFileJson],
    shards: impl Iterator<Item = (u64, Option<&'a AddedJson>)>,
) -> Result<()> {
    let fault = |what: &str, name: &FileName| Err(Error::format("dataset-json", what.to_owned()).found(name));
    // How many clips of each file the shards so far have passed.
    let mut passed: HashMap<&FileName, (u64, u64)> = HashMap::new();
    for file in files {
        if file.file.kind() != Some(FileKind::Tracks) {
            return fault("a file name has the ending of another kind of file", &file.file);
        }
        if file.binding().is_none() || file.clips > limits::MAX_ORDINALS {
            return fault("the SHA-256 or the number of clips of an added file is none", &file.file);
        }
        if passed.insert(&file.file, (0, file.clips)).is_some() {
            return fault("an added file is listed twice", &file.file);
        }
    }
    for (clips, added) in shards {
        for place in added.iter().flat_map(|added| added.places()) {
            let Some((next, all)) = passed.get_mut(&place.file) else {
                return fault("the clips of a shard are in a file that added_files does not list", &place.file);
            };
            match place.first_clip.checked_add(clips).filter(|end| place.first_clip >= *next && end <= all) {
                Some(end) => *next = end,
                None => return fault("an added file does not have the clips of a shard, in their order", &place.file),
            }
        }
    }
    Ok(())
}
