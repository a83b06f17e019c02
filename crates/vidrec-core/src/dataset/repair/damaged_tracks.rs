//! The track files of a damaged shard: its own, and those that were added. Each track of a clip proves itself.

use std::collections::HashSet;
use std::path::Path;

use super::damaged_shard::{DamagedShard, open};
use super::salvage::SavedClip;
use crate::dataset::track::attributes_of;
use crate::dataset::track_file::Block;
use crate::dataset::{Io, Source, TrackFile};
use vidrec_format::data_binding::edge_crc32;
use vidrec_format::track::payload::Payload;
use vidrec_format::track::schema::ATTRIBUTES;
use vidrec_format::{DataBinding, Result};

/// The track files of a shard, of which any may be damaged or missing, the newest first, and the ordinal in each of the
/// shard's first clip.
pub(super) struct DamagedTracks(Vec<(TrackFile, u64)>);

/// The tracks of a clip in each file, as far as they are left.
pub(super) type Blocks<'a> = Vec<Result<Option<Block<'a>>>>;

impl DamagedTracks {
    /// Those of a shard of `clips` clips.
    pub fn of(shard: &DamagedShard, clips: u64) -> Result<Self> {
        let added = shard.added.iter().rev().map(|of| (of.file.path.as_path(), of.listed.clips, of.first));
        let files = added.chain(shard.tracks.iter().map(|path| (path.as_path(), clips, 0)));
        let unproven = |(path, clips, first): (&Path, u64, u64)| {
            let bytes = open(path)?;
            let bytes = bytes.as_deref().unwrap_or_default();
            // Each track has a checksum, so nothing depends on that of the file.
            let binding = DataBinding { length: bytes.len() as u64, sha256: [0; 32], edge_crc32: edge_crc32(bytes) };
            Ok((TrackFile::new(path.to_owned(), binding, clips, &Source::Local(Io::Map)), first))
        };
        Ok(DamagedTracks(files.map(unproven).collect::<Result<_>>()?))
    }

    /// What is lost with whole files, in words.
    pub fn faults(&self) -> impl Iterator<Item = String> {
        self.0.iter().filter_map(|(file, _)| Some(format!("the tracks are lost: {}", file.open().err()?)))
    }

    /// The tracks of a clip in each file.
    pub fn blocks(&self, clip: u64) -> Blocks<'_> {
        self.0.iter().map(|(file, first)| file.block(first + clip)).collect()
    }

    /// The intact tracks of a clip, whose `blocks` these are, but for `hidden` ones. The clip gets the attributes among them.
    pub fn intact<'a>(
        &'a self,
        blocks: &'a Blocks<'_>,
        hidden: &'a [String],
        clip: &mut SavedClip<'_>,
    ) -> Vec<Payload<'a>> {
        let (mut intact, lost) = (Vec::new(), &mut clip.losses.tracks);
        let mut replaced: HashSet<&str> = hidden.iter().map(String::as_str).collect();
        for ((file, _), block) in self.0.iter().zip(blocks) {
            let tracks = file.open().map(|open| open.schema.tracks());
            let (Ok(tracks), Ok(block)) = (&tracks, block) else {
                lost.push("*".into());
                // If the schema is lost, nothing says which tracks of older files it replaces.
                if tracks.is_ok() { continue } else { break }
            };
            for entry in block.iter().flat_map(|block| &block.entries) {
                let name = tracks.get(entry.track as usize).map_or("", |track| &track.name);
                let Some(block) = block.as_ref().filter(|_| !replaced.contains(name)) else { continue };
                let payload = file.payload(block, entry, clip.frames.len() as u32);
                match payload.and_then(|payload| payload.prove_rest().map(|()| payload)) {
                    Ok(payload) if name != ATTRIBUTES => intact.push(payload),
                    Ok(payload) => clip.info.attributes.merge(attributes_of(&payload).unwrap_or_default()),
                    Err(_) => lost.push(name.to_owned()),
                }
            }
            replaced.extend(tracks.iter().map(|track| track.name.as_str()));
        }
        intact
    }
}
