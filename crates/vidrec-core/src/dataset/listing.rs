//! Finds the files that a path stands for: a data set's folder, its `dataset.json`, or one shard by either of its
//! files. Also reads the list of failures, and finds what interrupted writes left.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::dataset::added::added_clips;
use crate::dataset::{AddedClips, Source};
use crate::store::disk::{is_being_written, publication};
use vidrec_format::data_binding::hex;
use vidrec_format::{
    DatasetJson, Error, ErrorKind, FileKind, FileName, Hint, Result, ShardJson, dataset_json, file_name, limits,
};

/// The files of a shard.
#[derive(Debug, Clone)]
pub struct ShardFiles {
    /// The index.
    pub index: PathBuf,
    /// The record file. `None` if only the index was given. Its name, or the digest in it, then leads to the record
    /// file.
    pub record: Option<PathBuf>,
    /// The track file. `None` if no `dataset.json` lists one. If there is one, its name, or the digest in the index,
    /// leads to it.
    pub tracks: Option<PathBuf>,
    /// Its clips in track files that were added.
    pub added: Vec<AddedClips>,
    /// The shard's description in `dataset.json`.
    pub listed: Option<ShardJson>,
}

/// The shards that a path stands for, in order of the clips.
pub(crate) struct Listing {
    pub shards: Vec<ShardFiles>,
    /// The `dataset.json` that lists them, and its path; `None` for a shard by itself.
    pub json: Option<(PathBuf, DatasetJson)>,
}

impl Listing {
    /// The shards that hold the first `clips` clips, or all.
    pub fn with_first(&self, clips: Option<u64>) -> &[ShardFiles] {
        let mut end = 0u64;
        let holds_all = |files: &ShardFiles| {
            end = end.saturating_add(files.listed.as_ref().map_or(u64::MAX, |listed| listed.clips));
            clips.is_some_and(|clips| end >= clips)
        };
        let last = self.shards.iter().position(holds_all);
        &self.shards[..last.map_or(self.shards.len(), |last| last + 1)]
    }
}

/// Finds the shards of a data set's folder, a `.rec`, a `.vidx` or a `dataset.json`.
pub(crate) fn find(path: &Path, source: &Source) -> Result<Listing> {
    let is_local = matches!(source, Source::Local(_));
    let is_folder = match is_local {
        true => fs::metadata(path).map_err(|e| Error::io("open the data set", path, e))?.is_dir(),
        false => false,
    };
    match path.extension().and_then(|e| e.to_str()).filter(|_| !is_folder) {
        Some("rec" | "vidx") => Ok(Listing { shards: vec![shard(path, source)], json: None }),
        Some("json") => listed(path, source),
        _ if is_local && !is_folder => Err(Error::usage("this is not a data set")
            .file(path)
            .help("give its folder, a .rec, a .vidx or a dataset.json")),
        _ if is_folder && !path.join(dataset_json::FILE_NAME).exists() => Err(missing(path)),
        _ => listed(&path.join(dataset_json::FILE_NAME), source),
    }
}

/// The number of times that a data set is read again because it was replaced while it was read. The smaller number applies to a
/// local data set whose `dataset.json` is the same as before, because it may have been replaced twice.
const REPLACED: u32 = 10;
const REPLACED_TWICE: u32 = 2;

/// Finds the shards, and calls `work` with them. If that fails because the data set was replaced meanwhile, so that
/// its files are gone, it tries again with the new files.
pub(crate) fn with_shards<T>(path: &Path, source: &Source, work: impl Fn(&Listing) -> Result<T>) -> Result<T> {
    let mut tries = 0;
    loop {
        let found = find(path, source)?;
        let may_be = tries < REPLACED_TWICE && matches!(source, Source::Local(_));
        let is_replaced =
            |then: &(PathBuf, DatasetJson)| may_be || read(&then.0, source).is_ok_and(|now| now != then.1);
        match work(&found) {
            Err(e) if e.kind() != ErrorKind::Interrupted && tries < REPLACED && found.json.iter().any(is_replaced) => {
                tries += 1;
            }
            done => return done,
        }
    }
}

fn listed(path: &Path, source: &Source) -> Result<Listing> {
    let json = read(path, source)?;
    let shards = json.shards.iter().zip(added_clips(path, &json, source));
    let shards = shards.map(|(shard, added)| ShardFiles::listed(path, shard, added)).collect();
    Ok(Listing { shards, json: Some((path.to_owned(), json)) })
}

impl ShardFiles {
    /// The files of a shard that a `dataset.json` lists.
    fn listed(listing: &Path, shard: &ShardJson, added: Vec<AddedClips>) -> Self {
        ShardFiles {
            index: listing.with_file_name(&shard.index_file),
            record: Some(listing.with_file_name(&shard.record_file)),
            tracks: shard.track_file.as_ref().map(|tracks| listing.with_file_name(&tracks.file)),
            added,
            listed: Some(shard.clone()),
        }
    }
}

/// The files of one shard, by the path of either file.
pub(super) fn shard(path: &Path, source: &Source) -> ShardFiles {
    let index = path.with_extension("vidx");
    if path.extension().is_none_or(|e| e != "rec") {
        return ShardFiles { index, record: None, tracks: None, added: Vec::new(), listed: None };
    }
    // The name of the index contains its own digest, so only a `dataset.json` leads to it, unless neither has one.
    let (name, listing) = (path.file_name().unwrap_or_default(), path.with_file_name(dataset_json::FILE_NAME));
    let listed = read(&listing, source).ok().and_then(|json| {
        let mut shards = json.shards.iter().zip(added_clips(&listing, &json, source));
        let (shard, added) = shards.find(|(shard, _)| *shard.record_file == *name)?;
        Some(ShardFiles::listed(&listing, shard, added))
    });
    let alone = || ShardFiles { index, record: Some(path.to_owned()), tracks: None, added: Vec::new(), listed: None };
    listed.unwrap_or_else(alone)
}

/// Reads a `dataset.json`, and checks that it names nothing outside its folder.
pub fn read(path: &Path, source: &Source) -> Result<DatasetJson> {
    read_bytes(path, source).map(|(_, json)| json)
}

/// Like [`read`]. Returns also the bytes.
pub(crate) fn read_bytes(path: &Path, source: &Source) -> Result<(Vec<u8>, DatasetJson)> {
    let absent = || {
        let e = Error::usage("there is no data set here").file(path.parent().unwrap_or(path));
        e.expected(dataset_json::FILE_NAME).help("check the location: bucket or host, and path")
    };
    let bytes = source.read_if_there(path, limits::MAX_LISTING_BYTES)?.ok_or_else(absent)?;
    let json = DatasetJson::prove(&bytes).map_err(|e| of_web_page(e.file(path), &bytes))?;
    Ok((bytes, json))
}

/// Describes the received bytes in an error about a file, if they look like a web page.
pub(super) fn of_web_page(e: Error, bytes: &[u8]) -> Error {
    match bytes.trim_ascii_start().first() {
        Some(b'<') => e.found("a web page").help("the server sends a web page instead of the file: check the location"),
        _ => e,
    }
}

/// A line of a list of failures.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FailedSource {
    /// The source of the video.
    pub source: String,
    /// The stage of the work on the video at which it failed.
    #[serde(default)]
    pub stage: String,
    /// The error, in FFmpeg's words if FFmpeg refused the video.
    pub error: String,
}

/// The videos that were not packed, from the list of failures of a `dataset.json`.
pub(super) fn failures_of(listing: &Path, source: &Source) -> Result<Vec<FailedSource>> {
    let Some(bytes) = source.read_if_there(listing, limits::MAX_LISTING_BYTES)? else { return Ok(Vec::new()) };
    let json = DatasetJson::prove(&bytes).map_err(|e| e.file(listing))?;
    read_failures(listing, &json, source)
}

/// The lines of the list of failures that a `dataset.json` lists, proven by its digest; none if it lists none.
pub fn read_failures<T: DeserializeOwned>(listing: &Path, json: &DatasetJson, source: &Source) -> Result<Vec<T>> {
    let Some(listed) = &json.failures else { return Ok(Vec::new()) };
    let path = listing.with_file_name(&listed.file);
    let bytes = source.read(&path)?;
    let found = hex(&Sha256::digest(&bytes));
    if found != listed.sha256 {
        let e = Error::format("failures-digest", "the list of failures is not the one that dataset.json lists");
        return Err(e.file(path).expected(format!("SHA-256 {}", listed.sha256)).found(found));
    }
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(serde_json::from_slice);
    lines
        .collect::<serde_json::Result<_>>()
        .map_err(|e| Error::usage("a line in the list of failures does not describe a failure").file(path).found(e))
}

/// Files of an interrupted or active write in the folder of a data set. The data set itself is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leftover {
    /// A description.
    pub note: String,
    /// Steps that a caller can take.
    pub hints: Vec<Hint>,
}

/// The work of another writer in `dir` that is not finished.
pub(crate) fn leftover(dir: &Path) -> Option<Leftover> {
    // If the folder is locked, its writer is alive, and there is nothing to resume.
    let (note, hints) = match (is_being_written(dir), has_pack(dir)) {
        (true, true) => ("this folder has a pack that is running: it will replace the data set", Vec::new()),
        (true, false) => ("this folder has a data set that is being written", Vec::new()),
        (false, true) => {
            ("this folder has a pack that is not finished", vec![Hint::Resume, Hint::Publish, Hint::Restart])
        }
        (false, false) if publication::is_pending(dir) => {
            ("this folder has files of an interrupted write, which the next write removes", Vec::new())
        }
        (false, false) => return None,
    };
    Some(Leftover { note: note.into(), hints })
}

/// The error that says why `dir` is not a data set.
pub(crate) fn missing(dir: &Path) -> Error {
    let e = Error::usage("there is no data set in this folder").file(dir).expected(dataset_json::FILE_NAME);
    if let Some(Leftover { note, hints }) = leftover(dir) {
        return hints.into_iter().fold(e.help(note), Error::hint);
    }
    if dir.join("meta").join("info.json").exists() {
        let help = "pack it in Python: vidrec.convert.from_lerobot(FOLDER, OUTPUT, frames=\"all\")";
        return e.found("meta/info.json of a data set of LeRobot").help(help);
    }
    let indexes = files_in(dir, |name| name.kind() == Some(FileKind::Index)).unwrap_or_default();
    if indexes.is_empty() {
        return e.hint(Hint::Pack);
    }
    let indexes: Vec<String> = indexes.into_iter().map(String::from).collect();
    e.found(format!("{}, but no dataset.json that lists the files", indexes.join(", ")))
        .help("you can open a single .vidx by itself")
        .hint(Hint::Repair)
}

/// Whether a pack into a folder has begun but not ended: whether it has a plan.
pub(crate) fn has_pack(dir: &Path) -> bool {
    dir.join(file_name::PACK).join("plan.json").exists()
}

/// The names in `dir` that files of a data set may have and that `matches` accepts, sorted.
pub(crate) fn files_in(dir: &Path, matches: impl Fn(&FileName) -> bool) -> Result<Vec<FileName>> {
    let io = |e| Error::io("list the folder", dir, e);
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(io)? {
        let name = entry.map_err(io)?.file_name();
        found.extend(name.to_str().and_then(|name| name.parse().ok()).filter(|name| matches(name)));
    }
    found.sort();
    Ok(found)
}
