//! The clips of shards in track files that were added to a data set.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::dataset::{Source, TrackFile};
use vidrec_format::{AddedClipsJson, AddedFileJson, DatasetJson, FileName, ShardJson};

/// The clips of a shard in a track file of the data set.
#[derive(Debug, Clone)]
pub struct AddedClips {
    /// The file, which other shards share. It is opened when it is first used.
    pub file: Arc<TrackFile>,
    /// Its description in `dataset.json`.
    pub listed: AddedFileJson,
    /// The ordinal in the file of the shard's first clip.
    pub first: u64,
}

/// The clips of each shard in each file that has them, in the order in which the files were added.
pub fn added_clips(listing: &Path, json: &DatasetJson, source: &Source) -> Vec<Vec<AddedClips>> {
    let file = |listed: &AddedFileJson| {
        let path = listing.with_file_name(&listed.file);
        let file = TrackFile::new(path, listed.binding()?, listed.clips, source);
        Some((listed.file.clone(), (Arc::new(file), listed.clone())))
    };
    let files: HashMap<FileName, _> = json.added_files.iter().filter_map(file).collect();
    let clips = |place: &AddedClipsJson| {
        let (file, listed) = files.get(&place.file)?.clone();
        Some(AddedClips { file, listed, first: place.first_clip })
    };
    let of_shard = |shard: &ShardJson| shard.added.iter().flat_map(|added| &added.tracks).filter_map(clips).collect();
    json.shards.iter().map(of_shard).collect()
}
