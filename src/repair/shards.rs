//! Which files a data set that may be damaged consists of.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::dataset_json::{self, DatasetJson, ShardJson};
use crate::map::MappedFile;
use crate::{Error, Result};

/// A pair of files, either of which may be missing.
pub(super) struct ShardFiles {
    /// Path of the record file; the index has the ending `vidx`.
    pub record_path: PathBuf,
    pub record: Option<MappedFile>,
    pub index: Option<MappedFile>,
    /// What `dataset.json` says of it.
    pub listed: Option<ShardJson>,
}

impl ShardFiles {
    fn open(record_path: PathBuf, listed: Option<ShardJson>) -> Result<Self> {
        let open = |path: &Path| if path.exists() { MappedFile::open(path).map(Some) } else { Ok(None) };
        let (record, index) = (open(&record_path)?, open(&record_path.with_extension("vidx"))?);
        Ok(ShardFiles { record_path, record, index, listed })
    }

    pub fn name(&self) -> String {
        self.record_path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// A data set's files.
pub(super) struct Files {
    /// The folder, if the data set is a folder and not a single shard.
    pub folder: Option<PathBuf>,
    pub shards: Vec<ShardFiles>,
    pub listing: Option<DatasetJson>,
    /// What is odd about the list of shards.
    pub notes: Vec<String>,
}

/// Finds the files of a data set's folder, a `dataset.json`, a `.rec` or a `.vidx`.
pub(super) fn find(path: &Path) -> Result<Files> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("rec" | "vidx") if !path.is_dir() => {
            let shard = ShardFiles::open(path.with_extension("rec"), None)?;
            if shard.record.is_none() && shard.index.is_none() {
                let e = std::io::Error::from(std::io::ErrorKind::NotFound);
                return Err(Error::io("open the file", path, e));
            }
            Ok(Files { folder: None, shards: vec![shard], listing: None, notes: Vec::new() })
        }
        Some("json") if !path.is_dir() => {
            let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            find_in(folder)
        }
        _ => find_in(path),
    }
}

fn find_in(folder: &Path) -> Result<Files> {
    let there = stems(folder)?;
    let listed_at = folder.join(dataset_json::FILE_NAME);
    let mut notes = Vec::new();
    let listing = match DatasetJson::read(&listed_at) {
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
        return Err(Error::usage("there is nothing of a data set in this folder")
            .file(folder)
            .expected(".rec or .vidx files"));
    }
    let listed = listing.as_ref().and_then(|listing| listed_stems(listing, &there));
    if listing.is_some() && listed.is_none() {
        notes.push("dataset.json does not list the shards that are there; they are taken in order of name".into());
    }
    if let Some(listed) = &listed {
        let extra: Vec<&str> = there.iter().filter(|s| !listed.contains(s)).map(String::as_str).collect();
        if !extra.is_empty() {
            notes.push(format!("not listed in dataset.json and left alone: {}", extra.join(", ")));
        }
    }
    let stems = listed.unwrap_or_else(|| there.into_iter().collect());
    let of = |stem: &String| {
        let name = format!("{stem}.vidx");
        listing.as_ref().and_then(|l| l.shards.iter().find(|s| s.index_file == name)).cloned()
    };
    let open = |stem: &String| ShardFiles::open(folder.join(format!("{stem}.rec")), of(stem));
    let shards = stems.iter().map(open).collect::<Result<_>>()?;
    Ok(Files { folder: Some(folder.to_owned()), shards, listing, notes })
}

/// Names without endings of the record and index files in a folder.
fn stems(folder: &Path) -> Result<BTreeSet<String>> {
    let io = |e| Error::io("list the folder", folder, e);
    let mut stems = BTreeSet::new();
    for entry in fs::read_dir(folder).map_err(io)? {
        let name = entry.map_err(io)?.file_name();
        let name = name.to_string_lossy();
        let stem = name.strip_suffix(".rec").or_else(|| name.strip_suffix(".vidx"));
        stems.extend(stem.filter(|s| !s.is_empty() && !s.starts_with('.')).map(str::to_owned));
    }
    Ok(stems)
}

/// The shards as listed, if each is listed once, in a pair, and something of it is there.
///
/// `dataset.json` has no checksum, so a list that does not fit is not believed.
fn listed_stems(listing: &DatasetJson, there: &BTreeSet<String>) -> Option<Vec<String>> {
    let mut seen = BTreeSet::new();
    let mut stems = Vec::new();
    for shard in &listing.shards {
        let stem = shard.index_file.strip_suffix(".vidx")?;
        let is_pair = shard.record_file.strip_suffix(".rec") == Some(stem);
        if !is_pair || !there.contains(stem) || !seen.insert(stem.to_owned()) {
            return None;
        }
        stems.push(stem.to_owned());
    }
    Some(stems)
}
