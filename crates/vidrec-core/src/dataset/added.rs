//! What the clips of a shard got after they were packed: tracks in files of the data set, and attributes.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use crate::dataset::records::proven_slices;
use crate::dataset::{Source, TrackFile};
use vidrec_format::track::schema::{TrackSchema, TrackTiming, TrackType};
use vidrec_format::{AddedClipsJson, AddedJson, DatasetJson, Error, FileName, JsonObject, Result, ShardJson};

/// The clips of a shard in a track file of the data set.
#[derive(Debug, Clone)]
pub struct AddedClips {
    /// The file, which other shards share.
    pub file: Arc<TrackFile>,
    /// The ordinal in the file of the shard's first clip.
    pub first: u64,
}

/// What the clips of a shard got, or lost.
#[derive(Debug, Clone, Default)]
pub struct Added {
    /// Files with tracks, in the order in which they were added.
    pub tracks: Vec<AddedClips>,
    /// Names of tracks that were removed.
    pub hidden: Vec<String>,
    /// The file with attributes.
    pub attributes: Option<AddedClips>,
}

/// The added files of a data set, by name. They are opened when they are first used.
#[derive(Debug, Default)]
pub struct AddedFiles(HashMap<FileName, Arc<TrackFile>>);

impl AddedFiles {
    /// Those that the `dataset.json` at `listing` lists.
    pub fn listed(listing: &Path, json: &DatasetJson, source: &Source) -> Self {
        let of_shards = json.shards.iter().filter_map(|shard| shard.added.as_ref()?.attributes.as_ref());
        let with_attributes: HashSet<&FileName> = of_shards.map(|place| &place.file).collect();
        let opened_later = json.added_files.iter().filter_map(|listed| {
            let path = listing.with_file_name(&listed.file);
            let file = TrackFile::new(path, listed.binding()?, listed.clips, source);
            let file = if with_attributes.contains(&listed.file) { file.with_attributes() } else { file };
            Some((listed.file.clone(), Arc::new(file)))
        });
        AddedFiles(opened_later.collect())
    }

    /// What the clips of a shard got.
    pub fn of_shard(&self, shard: &ShardJson) -> Added {
        let Some(AddedJson { tracks, hidden, attributes }) = &shard.added else { return Added::default() };
        let clips = |place: &AddedClipsJson| {
            Some(AddedClips { file: self.0.get(&place.file)?.clone(), first: place.first_clip })
        };
        Added {
            tracks: tracks.iter().filter_map(clips).collect(),
            hidden: hidden.clone(),
            attributes: attributes.as_ref().and_then(clips),
        }
    }
}

impl Added {
    /// All files.
    pub fn files(&self) -> impl Iterator<Item = &AddedClips> {
        self.tracks.iter().chain(&self.attributes)
    }

    /// The attributes that a clip of the shard got. A null stands for one that was removed.
    pub fn attributes(&self, clip: u64) -> Result<JsonObject> {
        self.attributes.as_ref().map_or_else(|| Ok(JsonObject::default()), |of| of.file.attributes(of.first + clip))
    }
}

impl TrackFile {
    /// The attributes of a clip of this file.
    pub fn attributes(&self, clip: u64) -> Result<JsonObject> {
        let wrong = || Error::format("clip-attributes", "the added attributes of a clip are not one text");
        proven_slices(&*self.open()?.records, || {
            let Some(block) = self.block(clip)? else { return Ok(JsonObject::default()) };
            let [entry] = &block.entries[..] else { return Err(self.named(wrong())) };
            let payload = self.payload(&block, entry, 0)?;
            let text = payload.text(0).filter(|_| *payload.schema == attributes_schema() && payload.facts.count == 1);
            text.ok_or_else(wrong).and_then(|text| attributes_of(&text)).map_err(|e| self.named(e))
        })
    }
}

/// Attributes from their text, which is empty if there are none.
pub fn attributes_of(text: &str) -> Result<JsonObject> {
    if text.is_empty() {
        return Ok(JsonObject::default());
    }
    let wrong = Error::format("clip-attributes", "the attributes are not a JSON object");
    serde_json::from_str(text).map_err(|e| wrong.found(e))
}

/// The track of an added file with attributes. The one value that a clip has is a JSON object.
pub fn attributes_schema() -> TrackSchema {
    TrackSchema {
        name: "attributes".into(),
        kind: TrackType::Utf8,
        shape: Vec::new(),
        timing: TrackTiming::Times,
        nan: false,
    }
}
