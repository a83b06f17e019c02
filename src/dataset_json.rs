//! `dataset.json`: what makes a folder a data set, and which files it consists of. It can be rebuilt from the indexes.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::disk::publication::{self, Replaced, Staged};
use crate::disk::{FolderLock, Temporary};
use crate::format::meta::Meta;
use crate::format::names;
use crate::{Error, Result, limits};

/// Name of the file in a data set's directory.
pub const FILE_NAME: &str = names::LISTING;

/// The content of `dataset.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DatasetJson {
    /// Always `vidrec`.
    pub format: String,
    /// Major version of the format.
    pub format_version: u32,
    /// Number of clips in all shards.
    pub clips: u64,
    /// Number of frames in all shards.
    pub frames: u64,
    /// Bytes of all record files.
    pub bytes: u64,
    /// Class names by label.
    #[serde(default)]
    pub classes: Vec<String>,
    /// The shards in order: clip ordinals count on from one to the next.
    pub shards: Vec<ShardJson>,
    /// The program that wrote the data set.
    #[serde(default)]
    pub tool: String,
    /// Versions of FFmpeg's libraries, if video was decoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ffmpeg: Option<String>,
    /// The options that determine the bytes.
    #[serde(default)]
    pub settings: Map<String, Value>,
    /// How many clips in a row are draws of one video; absent: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draws: Option<u32>,
    /// The list of the inputs that were left out; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<FailuresJson>,
}

/// The list of the inputs that were left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailuresJson {
    /// Name of the file, in the same directory: one JSON object a line.
    pub file: String,
    /// Number of lines.
    pub count: u64,
    /// SHA-256 of the file in lower-case hexadecimal digits.
    pub sha256: String,
}

/// One shard in `dataset.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardJson {
    /// Name of the record file, in the same directory.
    pub record_file: String,
    /// Name of the index file, in the same directory.
    pub index_file: String,
    /// Number of clips.
    pub clips: u64,
    /// Number of frames.
    pub frames: u64,
    /// Length of the record file in bytes.
    pub bytes: u64,
    /// SHA-256 of the record file in lower-case hexadecimal digits.
    pub sha256: String,
    /// CRC-32 in the header of the index file, which covers all of the index; absent in data sets of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_crc32: Option<u32>,
}

impl ShardJson {
    /// Whether `found` is the shard that this says, as far as this says it.
    pub(crate) fn is(&self, found: &ShardJson) -> bool {
        let index_crc32 = self.index_crc32.and(found.index_crc32);
        *self == ShardJson { index_crc32, ..found.clone() }
    }
}

impl DatasetJson {
    pub(crate) fn new(meta: &Meta, shards: Vec<ShardJson>) -> Self {
        DatasetJson {
            format: "vidrec".into(),
            format_version: u32::from(crate::format::header::VERSION.0),
            clips: shards.iter().map(|s| s.clips).sum(),
            frames: shards.iter().map(|s| s.frames).sum(),
            bytes: shards.iter().map(|s| s.bytes).sum(),
            classes: meta.classes.clone(),
            shards,
            tool: meta.tool.clone(),
            ffmpeg: meta.ffmpeg.clone(),
            settings: meta.settings.clone(),
            draws: meta.draws,
            failures: None,
        }
    }

    /// The same with further shards.
    pub(crate) fn with_more(mut self, shards: Vec<ShardJson>) -> Self {
        for shard in &shards {
            self.clips += shard.clips;
            self.frames += shard.frames;
            self.bytes += shard.bytes;
        }
        self.shards.extend(shards);
        self
    }

    /// Names of all files of the data set, but for its own.
    pub(crate) fn file_names(&self) -> impl Iterator<Item = &str> {
        let shards = self.shards.iter().flat_map(|s| [s.record_file.as_str(), s.index_file.as_str()]);
        shards.chain(self.failures.iter().map(|f| f.file.as_str()))
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // A structure of strings and numbers always serialises.
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    fn from_json(bytes: &[u8]) -> serde_json::Result<Self> {
        // By way of objects, because serde would also take arrays of the fields in their order.
        let object: Map<String, Value> = serde_json::from_slice(bytes)?;
        let shards = object.get("shards").and_then(Value::as_array);
        if shards.is_some_and(|shards| !shards.iter().all(Value::is_object)) {
            return Err(serde::de::Error::custom("a shard is not an object"));
        }
        Self::deserialize(Value::Object(object))
    }

    /// Reads `path` and proves that it names nothing outside its folder.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let length = fs::metadata(path).map_err(|e| Error::io("open the file", path, e))?.len();
        if length > limits::MAX_META_BYTES {
            return Err(Error::limit("too long").file(path).expected(limits::MAX_META_BYTES).found(length));
        }
        let bytes = fs::read(path).map_err(|e| Error::io("read the file", path, e))?;
        let json = Self::from_json(&bytes).map_err(|e| {
            Error::format("dataset-json", "not the JSON of a data set")
                .file(path)
                .found(e)
                .help("`vidrec repair` makes it from the indexes")
        })?;
        if json.format != "vidrec" || json.format_version != u32::from(crate::format::header::VERSION.0) {
            return Err(Error::format("dataset-version", "another format or version")
                .file(path)
                .expected("vidrec 1")
                .found(format!("{} {}", json.format, json.format_version)));
        }
        if json.shards.is_empty() {
            return Err(Error::format("dataset-json", "no shards are listed").file(path));
        }
        if let Some(name) = json.file_names().find(|name| Path::new(name).file_name() != Some(name.as_ref())) {
            return Err(Error::format("dataset-json", "a file's name is not a plain file name").file(path).found(name));
        }
        let sum = |of: fn(&ShardJson) -> u64| json.shards.iter().map(of).try_fold(0u64, u64::checked_add);
        let sums = [sum(|s| s.clips), sum(|s| s.frames), sum(|s| s.bytes)];
        if sums != [json.clips, json.frames, json.bytes].map(Some) {
            return Err(Error::format(
                "dataset-json",
                "clips, frames or bytes are not the sums of those of the shards",
            )
            .file(path)
            .help("`vidrec repair` makes it from the indexes"));
        }
        Ok(json)
    }
}

/// What is replaced when a data set is written to `dir`, if it may be.
///
/// # Errors
///
/// [`Usage`](crate::ErrorKind::Usage): there is a data set, or what is left of one, and `overwrite` is off.
pub(crate) fn replaceable(dir: &Path, overwrite: bool) -> Result<Replaced> {
    let listing = dir.join(FILE_NAME);
    let refused = |what: &str, file: &Path, help: &str| {
        Err(Error::usage(what)
            .file(file)
            .help(format!("{help}choose another folder, or ask for it to be replaced (--force)")))
    };
    let left = list(dir, names::is_ours)?;
    if !listing.exists() {
        let is_shard = |name: &&String| !name.starts_with("failures");
        return match left.iter().find(is_shard) {
            Some(shard) if !overwrite => refused(
                "shards are here, but no dataset.json that makes them a data set",
                &dir.join(shard),
                "`vidrec repair` makes one; ",
            ),
            _ => Ok(Replaced { files: left.clone(), removable: left }),
        };
    }
    if !overwrite {
        return refused("there is a data set here already", &listing, "");
    }
    let Ok(json) = DatasetJson::read(&listing) else {
        return Ok(Replaced { files: left.clone(), removable: left });
    };
    let files: Vec<String> = json.file_names().map(str::to_owned).collect();
    // Record files of other programs were indexed where they are, and stay.
    let is_removable = |name: &&String| names::is_ours(name) || name.ends_with(".vidx");
    let unlisted = left.iter().filter(|name| *name == names::FAILURES);
    let removable = files.iter().filter(is_removable).chain(unlisted).cloned().collect();
    Ok(Replaced { files, removable })
}

/// Stages `dataset.json` beside staged files, which it lists with others that are there already.
pub(crate) fn stage(
    dir: &Path,
    lock: FolderLock,
    files: Vec<(Temporary, String)>,
    json: &DatasetJson,
    replaced: Replaced,
) -> Result<Staged> {
    let is_listed = |name: &String| name == FILE_NAME || json.file_names().any(|listed| listed == name);
    let removable = replaced.removable.into_iter().filter(|name| !is_listed(name)).collect();
    Staged::new(dir, lock, files, &json.to_bytes(), Replaced { removable, ..replaced })
}

/// Whether two lists say the same of a data set, as far as both say it.
pub(crate) fn agree(listed: &DatasetJson, found: &DatasetJson) -> bool {
    let shards =
        listed.shards.len() == found.shards.len() && listed.shards.iter().zip(&found.shards).all(|(a, b)| a.is(b));
    shards && *listed == DatasetJson { shards: listed.shards.clone(), ..found.clone() }
}

/// What interrupted writers left in `dir`, and what becomes of it.
pub(crate) fn leftovers(dir: &Path) -> Vec<String> {
    let mut notes = Vec::new();
    if dir.join(names::JOURNAL).exists() {
        notes.push(
            "an interrupted pack is in this folder: run it again with --resume, or start over with --restart".into(),
        );
    }
    if publication::is_pending(dir) {
        notes.push("an interrupted write left files in this folder; the next one cleans up".into());
    }
    notes
}

/// Why `dir` is no data set.
pub(crate) fn missing(dir: &Path) -> Error {
    let e = Error::usage("there is no data set in this folder").file(dir).expected(FILE_NAME);
    let indexes = list(dir, |name| name.ends_with(".vidx") && !name.starts_with('.')).unwrap_or_default();
    if dir.join(names::JOURNAL).exists() {
        e.found("an interrupted pack").help("run it again with --resume")
    } else if publication::is_pending(dir) {
        e.found("an interrupted write").help("run the same command again")
    } else if indexes.is_empty() {
        e.help("`vidrec pack` makes one")
    } else {
        e.found(format!("{} without a list of what belongs to the data set", indexes.join(", ")))
            .help("`vidrec repair` makes one from what is here; a single .vidx can be named by itself")
    }
}

/// Names of the files in `dir` that are wanted, in order.
fn list(dir: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<String>> {
    let io = |e| Error::io("list the folder", dir, e);
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(io)? {
        found.extend(entry.map_err(io)?.file_name().to_str().filter(|name| wanted(name)).map(str::to_owned));
    }
    found.sort();
    Ok(found)
}
