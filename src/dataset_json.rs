//! `dataset.json`: the list of shards, for people and for tools. It can be rebuilt from the indexes.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::format::meta::Meta;
use crate::{Error, Result, limits};

/// Name of the file in a data set's directory.
pub const FILE_NAME: &str = "dataset.json";

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
        }
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
                .help("remove it and vidrec takes the shards as it finds them")
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
        for name in json.shards.iter().flat_map(|s| [&s.record_file, &s.index_file]) {
            if Path::new(name).file_name() != Some(name.as_ref()) {
                return Err(Error::format("dataset-json", "a shard's name is not a plain file name")
                    .file(path)
                    .found(name));
            }
        }
        Ok(json)
    }
}

/// The files in `dir` that belong to a data set: `dataset.json`, `shard-*.rec`, `shard-*.vidx`, `failures.jsonl`.
pub(crate) fn files_of_a_data_set(dir: &Path) -> Result<Vec<PathBuf>> {
    let ours = |name: &str| {
        let shard = name.starts_with("shard-") && (name.ends_with(".rec") || name.ends_with(".vidx"));
        shard || name == FILE_NAME || name == "failures.jsonl"
    };
    list(dir, ours)
}

/// The index files in `dir`, by name.
pub(crate) fn index_files(dir: &Path) -> Result<Vec<PathBuf>> {
    list(dir, |name| name.ends_with(".vidx") && !name.starts_with('.'))
}

fn list(dir: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let io = |e| Error::io("list the folder", dir, e);
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(io)? {
        let entry = entry.map_err(io)?;
        if entry.file_name().to_str().is_some_and(&wanted) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}
