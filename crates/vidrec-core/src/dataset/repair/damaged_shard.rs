//! The files of a shard, of which any may be damaged or missing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::dataset::listing::{Listing, ShardFiles};
use crate::dataset::shard::beside;
use crate::dataset::{Index, Io, Source, TrackFile, listing, proven_bytes};
use crate::store::disk::map::MappedFile;
use vidrec_format::data_binding::edge_crc32;
use vidrec_format::dataset_json::FILE_NAME;
use vidrec_format::{DataBinding, DatasetJson, Error, FileKind, FileName, Result, ShardJson, file_name};

/// A shard of a damaged data set.
pub(super) struct DamagedShard {
    /// Name of the record file.
    pub name: String,
    pub record: Option<MappedFile>,
    /// The index and its bytes, unless its structure is damaged. Its entries have checksums, which are compared when they are
    /// used.
    pub index: Option<(Index, MappedFile)>,
    /// The damage of the index.
    pub fault: Option<String>,
    /// The track file, if there is or was one.
    tracks: Option<PathBuf>,
    /// The shard's description in `dataset.json`.
    pub listed: Option<ShardJson>,
}

impl DamagedShard {
    pub fn open(files: ShardFiles) -> Result<Self> {
        let ShardFiles { index: index_path, record, mut tracks, listed } = files;
        let record = record.unwrap_or_else(|| index_path.with_extension("rec"));
        let name = record.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (mut index, mut fault) = (None, Some("the index is missing".to_owned()));
        if let Some(bytes) = open(&index_path)? {
            let proven = Index::prove(&bytes[..]);
            let faults = |index: &Index| index.sections.iter().find_map(|s| proven_bytes(&bytes[..], s).err());
            let e = proven.as_ref().map_or_else(|e| Some(e.to_string()), |index| faults(index).map(|e| e.to_string()));
            fault = e.map(|e| format!("the index is damaged: {e}"));
            index = proven.ok().map(|index| (index, bytes));
        }
        if let Some((index, _)) = &index {
            // Other track files beside an intact index belong to other versions of the data set.
            let listed_tracks = tracks.filter(|_| listed.is_some());
            tracks = index.tracks.map(|binding| listed_tracks.unwrap_or_else(|| beside(&index_path, &binding, "vtrk")));
        }
        Ok(DamagedShard { name, record: open(&record)?, index, fault, tracks, listed })
    }

    /// The track file of this shard of `clips` clips, if there is or was one.
    pub fn tracks(&self, clips: u64) -> Result<Option<TrackFile>> {
        let Some(path) = &self.tracks else { return Ok(None) };
        let bytes = open(path)?;
        let bytes = bytes.as_deref().unwrap_or_default();
        // Each track has a checksum, so nothing depends on that of the file.
        let binding = DataBinding { length: bytes.len() as u64, sha256: [0; 32], edge_crc32: edge_crc32(bytes) };
        Ok(Some(TrackFile::new(path.clone(), binding, clips, &Source::Local(Io::Map))))
    }
}

fn open(path: &Path) -> Result<Option<MappedFile>> {
    if path.exists() { MappedFile::open(path).map(Some) } else { Ok(None) }
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
            Ok((by_name(folder, &there)?, None))
        }
    }
}

/// The files of each shard, which have the same name without the digits of their digests.
fn by_name(folder: &Path, there: &[FileName]) -> Result<Vec<ShardFiles>> {
    let mut shards: BTreeMap<&str, Vec<&FileName>> = BTreeMap::new();
    there.iter().for_each(|name| shards.entry(file_name::stem(name)).or_default().push(name));
    let shard = |(stem, names): (&str, Vec<&FileName>)| {
        let only = |kind| match &names.iter().filter(|name| name.kind() == Some(kind)).collect::<Vec<_>>()[..] {
            [first, second, ..] => {
                let e = Error::usage(format!("without {FILE_NAME}, only one of these files can be used")).file(folder);
                Err(e.found(format!("{first} and {second}")).help("move the one away that does not belong here"))
            }
            found => Ok(found.first().map(|name| folder.join(name))),
        };
        let index = only(FileKind::Index)?.unwrap_or_else(|| folder.join(format!("{stem}.vidx")));
        Ok(ShardFiles { index, record: only(FileKind::Records)?, tracks: only(FileKind::Tracks)?, listed: None })
    };
    shards.into_iter().map(shard).collect()
}
