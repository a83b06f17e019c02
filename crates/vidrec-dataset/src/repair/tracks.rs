//! The intact tracks of a shard.

use sha2::{Digest, Sha256};

use super::old_index::OldIndex;
use super::shards::ShardFiles;
use vidrec_format::crc32;
use vidrec_format::data_binding::{DataBinding, edge_crc32, hex};
use vidrec_format::error::{Error, Result};
use vidrec_format::names;
use vidrec_format::track::directory;
use vidrec_format::track::directory::Entry;
use vidrec_format::track::ends;
use vidrec_format::track::ends::Footer;
use vidrec_format::track::payload::Payload;
use vidrec_format::track::schema::Schema;
use vidrec_format::track::table_entry;
use vidrec_format::track::table_entry::TableEntry;

/// A track file that may be damaged. Each track is checked when it is used.
pub(super) struct OldTracks<'a> {
    pub name: String,
    bytes: &'a [u8],
    /// The tracks that clips can have. Empty if nothing says where tracks are.
    pub schema: Schema,
    footer: Option<Footer>,
    /// The identity of the file, if it is intact.
    pub binding: Option<DataBinding>,
    /// What is wrong with the file.
    pub damage: Option<String>,
}

impl<'a> OldTracks<'a> {
    /// The track file of a shard of `clips` clips; `None` if it has none.
    pub fn read(shard: &'a ShardFiles, old: &OldIndex<'_>, clips: u64) -> Option<Self> {
        let (path, map) = shard.tracks.as_ref()?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = map.as_deref().unwrap_or_default();
        let mut tracks =
            OldTracks { name, bytes, schema: Schema::default(), footer: None, binding: None, damage: None };
        if map.is_none() {
            tracks.damage = Some("it is missing".into());
            return Some(tracks);
        }
        match ends_of(bytes, clips) {
            Ok((footer, schema)) => (tracks.footer, tracks.schema) = (Some(footer), schema),
            Err(e) => tracks.damage = Some(format!("none of its tracks can be read: {e}")),
        }
        let sha256: [u8; 32] = Sha256::digest(bytes).into();
        let listed = shard.listed.as_ref().and_then(|listed| listed.track_file.as_ref());
        let is_proven = old.tracks.is_some_and(|tracks| tracks.sha256 == sha256)
            || listed.is_some_and(|listed| listed.sha256 == hex(&sha256))
            || tracks.name == names::with_digest(names::stem(&tracks.name), &sha256, "vtrk");
        // The footer contains the same, but no reader opens a file whose header is damaged.
        let header = bytes.first_chunk().ok_or_else(cut).and_then(ends::check_header);
        // A header of a newer version is not damaged.
        let damaged =
            header.err().filter(|e| matches!(e.rule(), Some("track-magic" | "track-header-crc" | "track-layout")));
        if let (None, Some(e)) = (&tracks.damage, damaged) {
            tracks.damage = Some(format!("its header is damaged: {e}"));
        } else if tracks.damage.is_none() && is_proven {
            tracks.binding = Some(DataBinding { length: bytes.len() as u64, sha256, edge_crc32: edge_crc32(bytes) });
        } else if tracks.damage.is_none() {
            tracks.damage = Some("it is damaged".into());
        }
        Some(tracks)
    }

    /// Returns the intact tracks of a clip, and the names of the others. The name is `*` if nothing names them:
    /// because the clip's directory is damaged, or the file cannot be read at all, so that nothing says which clips
    /// had tracks.
    pub fn clip(&self, ordinal: u64, frames: u32) -> (Vec<Payload<'_>>, Vec<String>) {
        let (mut intact, mut lost) = (Vec::new(), Vec::new());
        let (block, entries) = match self.entries(ordinal) {
            Ok(Some(found)) => found,
            Ok(None) => return (intact, lost),
            Err(_) => return (intact, vec!["*".into()]),
        };
        for entry in entries {
            let payload = entry.payload(block, &self.schema);
            let proven = payload.and_then(|p| p.prove(frames).and_then(|()| p.prove_rest()).map(|()| p));
            match (proven, self.schema.tracks().get(entry.track as usize)) {
                (Ok(payload), _) => intact.push(payload),
                (Err(_), track) => lost.push(track.map_or("*".into(), |track| track.name.clone())),
            }
        }
        (intact, lost)
    }

    fn entries(&self, ordinal: u64) -> Result<Option<(&'a [u8], Vec<Entry>)>> {
        let damaged = || Error::format("track-entry-crc", "the entry is damaged");
        let footer = self.footer.as_ref().ok_or_else(damaged)?;
        let at = ordinal.checked_mul(table_entry::BYTES as u64).and_then(|at| at.checked_add(footer.table_offset));
        let entry = at.and_then(|at| self.bytes.get(usize::try_from(at).ok()?..)?.first_chunk());
        let entry = entry.and_then(|entry| TableEntry::from_bytes(entry, ordinal)).ok_or_else(damaged)?;
        let Some(range) = entry.range(footer.table_offset)? else { return Ok(None) };
        let block = self.bytes.get(range.start as usize..range.end as usize).ok_or_else(damaged)?;
        let entries = directory::prove(block, entry.length, ordinal, entry.directory_crc32, &self.schema)?;
        Ok(Some((block, entries)))
    }
}

fn cut() -> Error {
    Error::format("track-layout", "the file is too short for header and footer")
}

fn ends_of(bytes: &[u8], clips: u64) -> Result<(Footer, Schema)> {
    // The footer contains everything that a damaged header would say.
    let header = ends::check_header(&ends::header())?;
    let footer = Footer::from_bytes(bytes.last_chunk().ok_or_else(cut)?, header)?;
    footer.check_layout(bytes.len() as u64, clips)?;
    let at = footer.schema_offset as usize;
    let schema = bytes.get(at..at.saturating_add(footer.schema_length as usize)).ok_or_else(cut)?;
    if crc32(schema) != footer.schema_crc32 {
        return Err(Error::format("track-schema", "the schema's CRC-32 does not match"));
    }
    Ok((footer, Schema::from_bytes(schema)?))
}
