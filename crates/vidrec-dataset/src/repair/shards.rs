//! Finds the files of a data set that may be damaged.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::old_index::OldIndex;
use crate::{Index, Io, Source, listing};
use vidrec_format::dataset_json;
use vidrec_format::dataset_json::{DatasetJson, ShardJson};
use vidrec_format::error::{Error, Result};
use vidrec_format::file_name::{FileKind, FileName};
use vidrec_format::names;
use vidrec_store::disk::folder_of;
use vidrec_store::disk::map::MappedFile;

/// The files of a shard. Any of them may be missing.
pub(super) struct ShardFiles {
    pub record_path: PathBuf,
    pub index_path: PathBuf,
    pub record: Option<MappedFile>,
    pub index: Option<MappedFile>,
    /// The track file, if there is or was one, and its bytes.
    pub tracks: Option<(PathBuf, Option<MappedFile>)>,
    /// The shard's description in `dataset.json`.
    pub listed: Option<ShardJson>,
}

impl ShardFiles {
    fn open(record_path: PathBuf, index_path: PathBuf, listed: Option<ShardJson>) -> Result<Self> {
        let open = |path: &Path| if path.exists() { MappedFile::open(path).map(Some) } else { Ok(None) };
        let (record, index) = (open(&record_path)?, open(&index_path)?);
        let tracks = track_path(&record_path, &index_path, index.as_deref(), listed.as_ref());
        let tracks = tracks.map(|path| open(&path).map(|map| (path, map))).transpose()?;
        Ok(ShardFiles { record_path, index_path, record, index, tracks, listed })
    }

    pub fn name(&self) -> String {
        file_name(&self.record_path)
    }
}

/// A data set's files.
pub(super) struct Files {
    /// The folder, if the data set is a folder and not a single shard.
    pub folder: Option<PathBuf>,
    pub shards: Vec<ShardFiles>,
    pub listing: Option<DatasetJson>,
    /// Problems with the list of shards.
    pub notes: Vec<String>,
}

/// The folder that contains the files of `path`.
pub(super) fn folder(path: &Path) -> &Path {
    if path.is_dir() { path } else { folder_of(path) }
}

/// Finds the files of a data set's folder, a `dataset.json`, a `.rec` or a `.vidx`.
pub(super) fn find(path: &Path) -> Result<Files> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("rec" | "vidx") if !path.is_dir() => find_one(path),
        Some("json") if !path.is_dir() => find_in(folder_of(path)),
        _ => find_in(path),
    }
}

fn find_one(path: &Path) -> Result<Files> {
    let shard = match listing::shard(path, &Source::Local(Io::Map)) {
        Ok(files) => {
            let record = files.record.or_else(|| record_of(&files.index, |name| path.with_file_name(name).exists()));
            ShardFiles::open(record.unwrap_or(path.with_extension("rec")), files.index, files.listed)?
        }
        // The index of this record file is lost.
        Err(_) => ShardFiles::open(path.to_owned(), path.with_extension("vidx"), None)?,
    };
    if shard.record.is_none() && shard.index.is_none() {
        let e = std::io::Error::from(std::io::ErrorKind::NotFound);
        return Err(Error::io("open the file", path, e));
    }
    Ok(Files { folder: None, shards: vec![shard], listing: None, notes: Vec::new() })
}

fn find_in(folder: &Path) -> Result<Files> {
    let there = shard_file_names(folder)?;
    let listed_at = folder.join(dataset_json::FILE_NAME);
    let mut notes = Vec::new();
    let listing = match listing::read(&listed_at) {
        Ok(listing) => Some(listing),
        Err(e) if listed_at.exists() => {
            notes.push(format!("dataset.json cannot be used: {e}"));
            None
        }
        Err(_) => {
            notes.push("there is no dataset.json".into());
            None
        }
    };
    if there.is_empty() {
        return Err(Error::usage("this folder has no files of a data set")
            .file(folder)
            .expected(".rec or .vidx files"));
    }
    let listed = listing.as_ref().filter(|listing| can_be(listing, &there));
    if listing.is_some() && listed.is_none() {
        notes
            .push("dataset.json does not match the files here; vidrec takes the shards in order of their names".into());
    }
    let pairs = match listed {
        Some(listing) => listing.shards.iter().map(|s| [s.record_file.clone(), s.index_file.clone()]).collect(),
        None => pairs(folder, &there),
    };
    let extra: Vec<&str> = there.iter().filter(|n| !pairs.iter().flatten().any(|p| p == *n)).map(|n| &**n).collect();
    if !extra.is_empty() {
        notes.push(format!("ignored, because they do not belong to the data set: {}", extra.join(", ")));
    }
    let said =
        |index: &FileName| listing.as_ref().and_then(|l| l.shards.iter().find(|s| s.index_file == *index)).cloned();
    let open =
        |[record, index]: [FileName; 2]| ShardFiles::open(folder.join(&record), folder.join(&index), said(&index));
    let shards = pairs.into_iter().map(open).collect::<Result<_>>()?;
    Ok(Files { folder: Some(folder.to_owned()), shards, listing, notes })
}

/// Names of the record and index files in a folder.
fn shard_file_names(folder: &Path) -> Result<BTreeSet<FileName>> {
    let of_shard = [Some(FileKind::Records), Some(FileKind::Index)];
    Ok(listing::files_in(folder, |name| of_shard.contains(&name.kind()))?.into_iter().collect())
}

/// Whether `listing` lists each shard once, each shard has at least one file, and its other file is really missing.
///
/// `dataset.json` has no checksum, so a list that does not match the files is not used.
fn can_be(listing: &DatasetJson, there: &BTreeSet<FileName>) -> bool {
    let mut listed = BTreeSet::new();
    let mut once = listing.shards.iter().flat_map(|s| [&s.record_file, &s.index_file]);
    if !once.all(|name| listed.insert(name)) {
        return false;
    }
    // If a file is missing and there is an unlisted file of its kind, that file may be the missing one: the name in the
    // list may be damaged.
    let is_extra = |kind| there.iter().any(|name| name.kind() == Some(kind) && !listed.contains(name));
    let (extra_record, extra_index) = (is_extra(FileKind::Records), is_extra(FileKind::Index));
    listing.shards.iter().all(|shard| match (there.contains(&shard.record_file), there.contains(&shard.index_file)) {
        (true, true) => true,
        (true, false) => !extra_index,
        (false, true) => !extra_record,
        (false, false) => false,
    })
}

/// Pairs record files with indexes without a list. Each record file occurs once, in order of name.
fn pairs(folder: &Path, there: &BTreeSet<FileName>) -> Vec<[FileName; 2]> {
    let of_kind = |kind| there.iter().filter(move |name| name.kind() == Some(kind));
    let mut records: BTreeSet<&FileName> = of_kind(FileKind::Records).collect();
    let mut pairs = Vec::new();
    for index in of_kind(FileKind::Index) {
        let record = record_of(&folder.join(index), |name| records.iter().any(|record| ***record == *name));
        let name = record.and_then(|path| FileName::of(&path).ok()).unwrap_or_else(|| index.beside(FileKind::Records));
        // An index whose record file already has another index is ignored.
        if records.remove(&name) || !there.contains(&name) {
            pairs.push([name, index.clone()]);
        }
    }
    pairs.extend(records.into_iter().map(|record| [record.clone(), record.beside(FileKind::Index)]));
    pairs.sort_by(|a, b| names::stem(&a[0]).cmp(names::stem(&b[0])).then_with(|| a.cmp(b)));
    pairs
}

/// The record file of an index: the file of the same name, the file whose name has the digest in the index, or the only
/// file of the same number.
fn record_of(index: &Path, is_there: impl Fn(&str) -> bool) -> Option<PathBuf> {
    let name = file_name(index);
    let same = name.strip_suffix(".vidx").map_or_else(|| name.clone(), |stem| format!("{stem}.rec"));
    let said = || {
        let bytes = MappedFile::open(index).ok()?;
        let binding = OldIndex::read(&bytes).binding?;
        Some(names::with_digest(names::stem(&name), &binding.sha256, "rec")).filter(|name| is_there(name))
    };
    let of_its_number = || {
        let folder = fs::read_dir(folder_of(index)).ok()?;
        let names = folder.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut like = names.filter(|n| n.ends_with(".rec") && names::stem(n) == names::stem(&name) && is_there(n));
        like.next().filter(|_| like.next().is_none())
    };
    let found = Some(same).filter(|name| is_there(name)).or_else(said).or_else(of_its_number);
    found.map(|name| index.with_file_name(name))
}

/// The track file of a shard: the listed one, the one that the index binds, or the one that has the record file's
/// name.
fn track_path(record: &Path, index: &Path, bytes: Option<&[u8]>, listed: Option<&ShardJson>) -> Option<PathBuf> {
    if let Some(tracks) = listed.and_then(|listed| listed.track_file.as_ref()) {
        return Some(record.with_file_name(&tracks.file));
    }
    let same = index.with_extension("vtrk");
    let bound = bytes.and_then(|bytes| Index::prove(bytes).ok()).map(|index| index.tracks);
    match bound {
        // The index exists and has no tracks.
        Some(None) => None,
        Some(Some(_)) if same.exists() => Some(same),
        Some(Some(binding)) => {
            let stem = names::stem(&file_name(index)).to_owned();
            Some(index.with_file_name(names::with_digest(&stem, &binding.sha256, "vtrk")))
        }
        None => {
            let stem = names::stem(&file_name(record)).to_owned();
            let is_its = |name: &FileName| name.kind() == Some(FileKind::Tracks) && names::stem(name) == stem;
            let found = listing::files_in(folder_of(record), is_its).unwrap_or_default();
            found.first().filter(|_| found.len() == 1).map(|name| record.with_file_name(name))
        }
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
