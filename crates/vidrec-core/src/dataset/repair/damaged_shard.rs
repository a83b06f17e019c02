//! The files of a shard, of which any may be damaged or missing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::dataset::listing::{Listing, ShardFiles};
use crate::dataset::shard::beside;
use crate::dataset::{AddedClips, Index, Io, Source, listing, proven_bytes};
use crate::store::disk::map::MappedFile;
use vidrec_format::dataset_json::FILE_NAME;
use vidrec_format::header::Header;
use vidrec_format::{
    ClipEntry, DatasetJson, Error, FileKind, FileName, FrameEntry, Meta, Result, SectionEntry, SectionId, ShardJson,
    align_up, clip_entry, file_name, frame_entry, header, limits, section,
};

/// A shard of a damaged data set. Entries of its index have checksums, which are compared when they are used.
pub(super) struct DamagedShard {
    /// Name of the record file.
    pub name: String,
    record: Option<MappedFile>,
    index_bytes: Option<MappedFile>,
    /// The index, as far as it is known. `None` if its numbers of clips and frames are lost.
    pub index: Option<Index>,
    /// Class names and settings, if they are intact.
    pub meta: Option<Meta>,
    /// The damage of the index.
    pub fault: Option<String>,
    /// The track file, if there is or was one.
    pub tracks: Option<PathBuf>,
    /// Its clips in track files that were added.
    pub added: Vec<AddedClips>,
    /// The shard's description in `dataset.json`.
    pub listed: Option<ShardJson>,
}

impl DamagedShard {
    pub fn open(files: ShardFiles) -> Result<Self> {
        let ShardFiles { index: index_path, record, tracks, added, listed } = files;
        let record = record.unwrap_or_else(|| index_path.with_extension("rec"));
        let name = record.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (record, index_bytes) = (open(&record)?, open(&index_path)?);
        let bytes = index_bytes.as_deref().unwrap_or_default();
        let (index, fault) = match Index::prove(bytes) {
            Ok(index) => {
                let fault = index.sections.iter().find_map(|section| proven_bytes(bytes, section).err());
                (Some(index), fault)
            }
            Err(e) => (None, Some(e)),
        };
        let meta = index.as_ref().map(|index| index.meta.clone());
        let tracks = match &index {
            // Other track files beside an intact index belong to other versions of the data set.
            Some(opened) => {
                let listed_tracks = tracks.filter(|_| listed.is_some());
                opened.tracks.map(|binding| listed_tracks.unwrap_or_else(|| beside(&index_path, &binding, "vtrk")))
            }
            None => tracks,
        };
        let index = index.or_else(|| presumed_index(bytes, listed.as_ref()));
        let fault = fault.map(|e| match index_bytes {
            Some(_) => format!("the index is damaged: {e}"),
            None => "the index is missing".into(),
        });
        Ok(DamagedShard { name, record, index_bytes, index, meta, fault, tracks, added, listed })
    }

    /// The bytes of the record file, unless it is missing.
    pub fn records(&self) -> Option<&[u8]> {
        self.record.as_deref()
    }

    fn index(&self) -> Option<(&Index, &[u8])> {
        Some((self.index.as_ref()?, self.index_bytes.as_deref()?))
    }

    /// The number of clip entries that the index has room for.
    pub fn clip_entries(&self) -> u64 {
        let room = |bytes: &[u8]| bytes.len() as u64 / clip_entry::BYTES as u64;
        self.index().map_or(0, |(index, bytes)| index.header.clip_count.min(room(bytes)))
    }

    /// The entry of a clip, if it is intact.
    pub fn clip(&self, ordinal: u64) -> Option<ClipEntry> {
        self.index().and_then(|(index, bytes)| index.clip(bytes, ordinal).ok())
    }

    /// The entry of a frame, if it is intact.
    pub fn frame(&self, ordinal: u64) -> Option<FrameEntry> {
        self.index().and_then(|(index, bytes)| index.frame(bytes, ordinal).ok())
    }

    /// Source, class and attributes of a clip, if they are intact.
    pub fn strings(&self, clip: &ClipEntry) -> Option<[String; 3]> {
        self.index().and_then(|(index, bytes)| index.strings(bytes, clip).ok())
    }
}

/// The bytes of a file, if it is there.
pub(super) fn open(path: &Path) -> Result<Option<MappedFile>> {
    if path.exists() { MappedFile::open(path).map(Some) } else { Ok(None) }
}

/// Describes a damaged index with as many clips and frames as an intact header says, or else `dataset.json`, and with its
/// tables where vidrec puts them.
fn presumed_index(bytes: &[u8], listed: Option<&ShardJson>) -> Option<Index> {
    let header = bytes.first_chunk().and_then(|head| Header::from_bytes(head).ok());
    let counts = header.map(|header| (header.clip_count, header.frame_count));
    let (clips, frames) = counts.or(listed.map(|shard| (shard.clips, shard.frames)))?;
    if clips.max(frames) > limits::MAX_ORDINALS {
        return None;
    }
    let mut offset = header::BYTES as u64;
    let mut place = |id, length: u64| {
        let section = SectionEntry { id, flags: section::FLAG_REQUIRED, offset, length, crc32: 0 };
        offset = align_up(section.end()?, section::ALIGNMENT)?;
        Some(section)
    };
    let frame_table = place(SectionId::FRAMES, frames.checked_mul(frame_entry::BYTES as u64)?)?;
    let clip_table = place(SectionId::CLIPS, clips.checked_mul(clip_entry::BYTES as u64)?)?;
    // The length of the strings is unknown, but each is checked when it is used.
    let strings = place(SectionId::STRINGS, (bytes.len() as u64).saturating_sub(clip_table.end()?))?;
    Some(Index::unproven((clips, frames), [frame_table, clip_table, strings]))
}

/// The shards that the `dataset.json` of a folder lists. If it cannot be read, or does not fit the files, those whose files are
/// there, in order of their names. Adds what is wrong with the list to `damage`.
pub(super) fn find(folder: &Path, damage: &mut Vec<String>) -> Result<(Vec<ShardFiles>, Option<DatasetJson>)> {
    let of_shard = [FileKind::Records, FileKind::Index, FileKind::Tracks].map(Some);
    let there = listing::files_in(folder, |name| of_shard.contains(&name.kind()))?;
    if there.is_empty() {
        let e = Error::usage("this folder has no files of a data set").file(folder);
        return Err(e.expected(".rec or .vidx files"));
    }
    match listing::find(&folder.join(FILE_NAME), &Source::Local(Io::Map)) {
        Ok(Listing { shards, json: Some((_, json)) }) => {
            let mut unlisted = there.iter().filter(|name| !json.lists(name)).peekable();
            if unlisted.peek().is_none() || json.file_names().all(|name| folder.join(name).exists()) {
                let unused = unlisted.filter(|name| name.kind() != Some(FileKind::Tracks));
                damage.extend(unused.map(|name| format!("{name}: not used, because {FILE_NAME} does not list it")));
                return Ok((shards, Some(json)));
            }
            damage.push(format!("{FILE_NAME} does not list the files that are here"));
            Ok((by_name(folder, &there)?, Some(json)))
        }
        Ok(_) => Err(Error::internal("a list of no data set")),
        Err(e) => {
            damage.push(format!("{FILE_NAME} cannot be used: {e:#}"));
            let added = there.iter().filter(|name| name.is_of_added_tracks());
            damage
                .extend(added.map(|name| format!("{name}: lost, because only {FILE_NAME} says whose tracks they are")));
            Ok((by_name(folder, &there)?, None))
        }
    }
}

/// The files of each shard, which have the same name without the digits of their digests.
fn by_name(folder: &Path, there: &[FileName]) -> Result<Vec<ShardFiles>> {
    let mut shards: BTreeMap<&str, Vec<&FileName>> = BTreeMap::new();
    // Only `dataset.json` says of which clips those tracks are that were added.
    let of_shards = there.iter().filter(|name| !name.is_of_added_tracks());
    of_shards.for_each(|name| shards.entry(file_name::stem(name)).or_default().push(name));
    let shard = |(stem, names): (&str, Vec<&FileName>)| {
        let only = |kind| match &names.iter().filter(|name| name.kind() == Some(kind)).collect::<Vec<_>>()[..] {
            [first, second, ..] => {
                let e = Error::usage(format!("without {FILE_NAME}, only one of these files can be used")).file(folder);
                Err(e.found(format!("{first} and {second}")).help("move the one away that does not belong here"))
            }
            found => Ok(found.first().map(|name| folder.join(name))),
        };
        let index = only(FileKind::Index)?.unwrap_or_else(|| folder.join(format!("{stem}.vidx")));
        Ok(ShardFiles {
            index,
            record: only(FileKind::Records)?,
            tracks: only(FileKind::Tracks)?,
            added: Vec::new(),
            listed: None,
        })
    };
    shards.into_iter().map(shard).collect()
}
