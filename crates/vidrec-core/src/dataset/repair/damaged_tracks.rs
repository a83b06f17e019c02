//! The track files of a damaged shard: its own, and those that were added. Each track of a clip proves itself.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::damaged_shard::{DamagedShard, open};
use super::salvage::{Losses, SavedClip};
use crate::dataset::added::{Added, AddedClips};
use crate::dataset::track_file::Block;
use crate::dataset::{Io, Source, TrackFile};
use vidrec_format::data_binding::edge_crc32;
use vidrec_format::track::payload::Payload;
use vidrec_format::{DataBinding, Result};

/// The track files of a shard, of which any may be damaged or missing.
pub(super) struct DamagedTracks {
    own: Option<TrackFile>,
    added: Added,
}

/// The tracks of a clip in each file, as far as they are left.
pub(super) type Blocks<'a> = Vec<Result<Option<Block<'a>>>>;

/// The file at `path`. Each track has a checksum, so nothing depends on those of the file.
fn unproven(path: &Path, clips: u64) -> Result<TrackFile> {
    let bytes = open(path)?;
    let bytes = bytes.as_deref().unwrap_or_default();
    let binding = DataBinding { length: bytes.len() as u64, sha256: [0; 32], edge_crc32: edge_crc32(bytes) };
    Ok(TrackFile::new(path.to_owned(), binding, clips, &Source::Local(Io::Map)))
}

impl DamagedTracks {
    /// Those of a shard of `clips` clips.
    pub fn of(shard: &DamagedShard, clips: u64) -> Result<Self> {
        let unproven_clips = |AddedClips { file, first }: &AddedClips| {
            Ok(AddedClips { file: Arc::new(unproven(&file.path, file.clips)?), first: *first })
        };
        let added = Added {
            tracks: shard.added.tracks.iter().map(unproven_clips).collect::<Result<_>>()?,
            hidden: shard.added.hidden.clone(),
            attributes: shard.added.attributes.as_ref().map(unproven_clips).transpose()?,
        };
        Ok(DamagedTracks { own: shard.tracks.as_deref().map(|path| unproven(path, clips)).transpose()?, added })
    }

    /// The files with tracks, the newest first, and the ordinal in each of the shard's first clip.
    fn files(&self) -> impl Iterator<Item = (&TrackFile, u64)> {
        let added = self.added.tracks.iter().rev().map(|clips| (&*clips.file, clips.first));
        added.chain(self.own.iter().map(|file| (file, 0)))
    }

    /// What is lost with whole files, in words.
    pub fn faults(&self) -> impl Iterator<Item = String> {
        let fault = |what: &str, file: &TrackFile| Some(format!("the {what} are lost: {}", file.open().err()?));
        let of_attributes = self.added.attributes.iter().filter_map(move |clips| fault("attributes", &clips.file));
        self.files().filter_map(move |(file, _)| fault("tracks", file)).chain(of_attributes)
    }

    /// The tracks of a clip in each file.
    pub fn blocks(&self, clip: u64) -> Blocks<'_> {
        self.files().map(|(file, first)| file.block(first + clip)).collect()
    }

    /// The intact tracks of a clip of `frames` frames, whose `blocks` these are. Adds the others to `losses`.
    pub fn intact<'a>(&'a self, blocks: &'a Blocks<'_>, frames: u32, losses: &mut Losses) -> Vec<Payload<'a>> {
        let mut intact = Vec::new();
        let mut replaced: HashSet<&str> = self.added.hidden.iter().map(String::as_str).collect();
        for ((file, _), block) in self.files().zip(blocks) {
            let tracks = file.open().map(|open| open.schema.tracks());
            // If the schema is lost, nothing says which tracks of older files it replaces.
            let (Ok(tracks), Ok(block)) = (&tracks, block) else {
                losses.tracks.push("*".into());
                if tracks.is_ok() { continue } else { break }
            };
            for entry in block.iter().flat_map(|block| &block.entries) {
                let name = tracks.get(entry.track as usize).map_or("", |track| &track.name);
                let Some(block) = block.as_ref().filter(|_| !replaced.contains(name)) else { continue };
                let payload = file.payload(block, entry, frames);
                match payload.and_then(|payload| payload.prove_rest().map(|()| payload)) {
                    Ok(payload) => intact.push(payload),
                    Err(_) => losses.tracks.push(name.to_owned()),
                }
            }
            replaced.extend(tracks.iter().map(|track| track.name.as_str()));
        }
        intact
    }

    /// Gives a clip the attributes that it got after it was packed.
    pub fn add_attributes(&self, ordinal: u64, clip: &mut SavedClip<'_>) {
        match self.added.attributes(ordinal) {
            Ok(attributes) => clip.info.attributes.merge(attributes),
            Err(_) if clip.losses.lost.contains(&"attributes") => {}
            Err(_) => clip.losses.lost.push("attributes"),
        }
    }
}
