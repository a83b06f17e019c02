//! `dataset.json`, which makes a folder a data set and lists its files. It can be rebuilt from the indexes.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::added_tracks;
pub use super::added_tracks::{AddedClipsJson, AddedFileJson, AddedJson};
pub use super::file_name::FileName;
use super::file_name::{FileKind, LISTING};
use super::header::VERSION;
use super::json_object::{JsonObject, objects};
use super::meta::Meta;
use crate::error::{Error, Hint, Result};

/// Name of the file in a data set's folder.
pub const FILE_NAME: &str = LISTING;

/// Version of the format of a data set to which something was added after it was packed.
const VERSION_WITH_ADDED: u32 = 2;

/// The contents of `dataset.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DatasetJson {
    /// Always `vidrec`.
    pub format: String,
    /// Major version of the format: 2 if any clip got tracks or attributes, or lost tracks, after it was packed, else 1.
    pub format_version: u32,
    /// Number of clips in all shards.
    pub clips: u64,
    /// Number of frames in all shards.
    pub frames: u64,
    /// Total size of all record files in bytes.
    pub bytes: u64,
    /// Class names by label.
    #[serde(default)]
    pub classes: Vec<String>,
    /// The shards in order. Clip ordinals continue from one shard to the next.
    #[serde(deserialize_with = "objects::array")]
    pub shards: Vec<ShardJson>,
    /// The program that wrote the data set.
    #[serde(default)]
    pub tool: String,
    /// Versions of FFmpeg's libraries, if video was decoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ffmpeg: Option<String>,
    /// The options that determine the bytes.
    #[serde(default)]
    pub settings: JsonObject,
    /// The inputs of the pack, as the caller named them: `inputs`, and if they were given `root`, `classes` and
    /// `outside`. Absent if the data set was not made by packing alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packed_from: Option<JsonObject>,
    /// The number of consecutive clips that are draws of one video; 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draws: Option<u32>,
    /// The list of the skipped videos; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "objects::optional")]
    pub failures: Option<FailuresJson>,
    /// The track files that were added after the shards were written.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "objects::array")]
    pub added_files: Vec<AddedFileJson>,
}

/// The list of the skipped videos.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailuresJson {
    /// Name of the file, in the same folder. It holds one JSON object per line.
    pub file: FileName,
    /// Number of lines.
    pub count: u64,
    /// SHA-256 of the file in lower-case hexadecimal digits.
    pub sha256: String,
}

/// One shard in `dataset.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardJson {
    /// Name of the record file, in the same folder.
    pub record_file: FileName,
    /// Name of the index file, in the same folder.
    pub index_file: FileName,
    /// Number of clips.
    pub clips: u64,
    /// Number of frames.
    pub frames: u64,
    /// Length of the record file in bytes.
    pub bytes: u64,
    /// SHA-256 of the record file in lower-case hexadecimal digits.
    pub sha256: String,
    /// CRC-32 from the header of the index file. It covers the whole index. Absent in data sets of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_crc32: Option<u32>,
    /// The track file; absent if the shard has none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "objects::optional")]
    pub track_file: Option<TrackFileJson>,
    /// What its clips got, or lost, after they were packed; absent if that is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "objects::optional")]
    pub added: Option<AddedJson>,
}

/// The track file of a shard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackFileJson {
    /// Its name, in the same folder.
    pub file: FileName,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its SHA-256 in lower-case hexadecimal digits.
    pub sha256: String,
}

#[doc(hidden)]
impl ShardJson {
    /// Length of the track file in bytes; 0 without one.
    pub fn track_bytes(&self) -> u64 {
        self.track_file.as_ref().map_or(0, |tracks| tracks.bytes)
    }

    /// Whether its clips can have tracks.
    pub fn has_tracks(&self) -> bool {
        self.track_file.is_some() || self.added.as_ref().is_some_and(|added| !added.tracks.is_empty())
    }

    /// Whether `found` matches every part of this description that is present.
    pub fn is(&self, found: &ShardJson) -> bool {
        let index_crc32 = self.index_crc32.and(found.index_crc32);
        // Earlier versions list no track file, even if the index has one. What was added is in no index.
        let track_file = self.track_file.as_ref().and(found.track_file.clone());
        let is_missing = self.track_file.is_some() && track_file.is_none();
        !is_missing && *self == ShardJson { index_crc32, track_file, added: self.added.clone(), ..found.clone() }
    }

    /// Names of the shard's files: record file, index and, if there is one, track file.
    pub fn file_names(&self) -> impl Iterator<Item = &FileName> {
        let tracks = self.track_file.iter().map(|tracks| &tracks.file);
        [&self.record_file, &self.index_file].into_iter().chain(tracks)
    }

    /// A listed name that is that of another kind of file.
    pub fn misnamed(&self) -> Option<&FileName> {
        let kinds = [FileKind::Records, FileKind::Index, FileKind::Tracks];
        self.file_names().zip(kinds).find(|(name, kind)| name.kind() != Some(*kind)).map(|(name, _)| name)
    }
}

#[doc(hidden)]
impl DatasetJson {
    pub fn new(meta: &Meta, shards: Vec<ShardJson>) -> Self {
        DatasetJson {
            format: "vidrec".into(),
            format_version: u32::from(VERSION.0),
            clips: shards.iter().map(|s| s.clips).sum(),
            frames: shards.iter().map(|s| s.frames).sum(),
            bytes: shards.iter().map(|s| s.bytes).sum(),
            classes: meta.classes.clone(),
            shards,
            tool: meta.tool.clone(),
            ffmpeg: meta.ffmpeg.clone(),
            settings: meta.settings.clone(),
            packed_from: meta.packed_from.clone(),
            draws: meta.draws,
            failures: None,
            added_files: Vec::new(),
        }
    }

    /// The same data set with those of these added files that clips are in.
    pub fn with_added_files(mut self, files: impl IntoIterator<Item = AddedFileJson>) -> Self {
        let added = self.shards.iter().filter_map(|shard| shard.added.as_ref());
        let used: HashSet<&FileName> = added.flat_map(|added| &added.tracks).map(|place| &place.file).collect();
        self.added_files = files.into_iter().filter(|file| used.contains(&file.file)).collect();
        self.format_version = self.version();
        self
    }

    /// The version that says whether something was added.
    fn version(&self) -> u32 {
        let has_added = !self.added_files.is_empty() || self.shards.iter().any(|shard| shard.added.is_some());
        if has_added { VERSION_WITH_ADDED } else { u32::from(VERSION.0) }
    }

    /// The same data set with more shards, and with the class names of the last.
    pub fn with_more(mut self, shards: Vec<ShardJson>, classes: Vec<String>) -> Self {
        (self.packed_from, self.classes) = (None, classes);
        for shard in &shards {
            self.clips += shard.clips;
            self.frames += shard.frames;
            self.bytes += shard.bytes;
        }
        self.shards.extend(shards);
        self
    }

    /// Names of all files of the data set, except `dataset.json` itself.
    pub fn file_names(&self) -> impl Iterator<Item = &FileName> {
        let shards = self.shards.iter().flat_map(ShardJson::file_names);
        shards.chain(self.failures.iter().map(|f| &f.file)).chain(self.added_files.iter().map(|f| &f.file))
    }

    /// Whether it lists a file of this name.
    pub fn lists(&self, name: &FileName) -> bool {
        self.file_names().any(|listed| listed == name)
    }

    /// A listed name that is that of another kind of file.
    fn misnamed(&self) -> Option<&FileName> {
        let failures = self.failures.iter().map(|failures| &failures.file);
        let failures = failures.filter(|name| name.kind() != Some(FileKind::Failures));
        self.shards.iter().filter_map(ShardJson::misnamed).chain(failures).next()
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        // Serializing a structure of strings and numbers cannot fail.
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    fn from_json(bytes: &[u8]) -> serde_json::Result<Self> {
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let listing = objects::object(&mut json)?;
        json.end().map(|()| listing)
    }

    /// Parses the file's bytes. It refuses names of anything but files of a data set in the file's own folder.
    pub fn prove(bytes: &[u8]) -> Result<Self> {
        let fault = |what: &str| Error::format("dataset-json", what);
        let json = Self::from_json(bytes)
            .map_err(|e| fault("this is not the JSON of a data set").found(e).hint(Hint::Repair))?;
        if json.format != "vidrec" || json.format_version != json.version() {
            return Err(Error::format("dataset-version", "unknown format or version")
                .expected(format!("vidrec {}", json.version()))
                .found(format!("{} {}", json.format, json.format_version)));
        }
        if json.shards.is_empty() {
            return Err(fault("the file lists no shards"));
        }
        if let Some(name) = json.misnamed() {
            return Err(fault("a file name has the ending of another kind of file").found(name));
        }
        let sum = |of: fn(&ShardJson) -> u64| json.shards.iter().map(of).try_fold(0u64, u64::checked_add);
        let sums = [sum(|s| s.clips), sum(|s| s.frames), sum(|s| s.bytes)];
        if sums != [json.clips, json.frames, json.bytes].map(Some) {
            return Err(fault("the number of clips, frames or bytes is not the sum over the shards").hint(Hint::Repair));
        }
        let added = json.shards.iter().map(|shard| (shard.clips, shard.added.as_ref()));
        added_tracks::prove(&json.added_files, added)?;
        Ok(json)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn listing() -> Value {
        let tracks = json!({"file": "shard-00000-0123456789ab.vtrk", "bytes": 1, "sha256": ""});
        json!({
            "format": "vidrec", "format_version": 1, "clips": 1, "frames": 2, "bytes": 3,
            "shards": [{"record_file": "train.rec", "index_file": "train.vidx", "clips": 1, "frames": 2, "bytes": 3,
                "sha256": "", "track_file": tracks}],
            "failures": {"file": "failures-0123456789ab.jsonl", "count": 1, "sha256": ""},
        })
    }

    #[test]
    fn structures_are_objects_and_names_are_of_their_kind() {
        let prove = |json: &Value| DatasetJson::prove(json.to_string().as_bytes());
        let whole = prove(&listing()).unwrap();
        assert_eq!(whole.file_names().count(), 4);
        assert_eq!(DatasetJson::prove(&whole.to_bytes()).unwrap(), whole);
        for (path, value, is_read) in [
            ("/failures", Value::Null, true),
            ("/shards/0/track_file", Value::Null, true),
            ("/failures", json!(["failures-0123456789ab.jsonl", 1, ""]), false),
            ("/shards/0/track_file", json!(["a.vtrk", 1, ""]), false),
            ("/shards/0", json!(["a.rec", "a.vidx", 1, 2, 3, ""]), false),
            ("/shards", json!({}), false),
            ("/shards/0/record_file", json!("a.vidx"), false),
            ("/shards/0/index_file", json!("a.vtrk"), false),
            ("/shards/0/track_file/file", json!("a.rec"), false),
            ("/failures/file", json!("a.rec"), false),
            ("/failures/file", json!("failures.jsonl"), true),
            ("/failures/file", json!(".bashrc"), false),
        ] {
            let mut changed = listing();
            *changed.pointer_mut(path).unwrap() = value.clone();
            let found = prove(&changed);
            assert_eq!(found.is_ok(), is_read, "{path} {value}");
            assert!(found.is_ok() || found.unwrap_err().rule() == Some("dataset-json"));
        }
        let place = |file: &str, first_clip: u64| json!({"file": file, "first_clip": first_clip});
        let file = |name: &str, clips: u64| json!({"file": name, "clips": clips, "bytes": 1, "sha256": "00".repeat(32), "edge_crc32": 0});
        for (version, files, added, rule) in [
            (2, json!([file("a.vtrk", 3)]), json!({"tracks": [place("a.vtrk", 2)], "hidden": ["x"]}), None),
            (2, json!([]), json!({"hidden": ["x"]}), None),
            (2, json!([]), Value::Null, Some("dataset-version")),
            (1, json!([]), json!({"hidden": ["x"]}), Some("dataset-version")),
            (1, json!([file("a.vtrk", 3)]), json!({"tracks": [place("a.vtrk", 2)]}), Some("dataset-version")),
            (3, json!([]), Value::Null, Some("dataset-version")),
            (2, json!([file("a.vtrk", 3)]), Value::Null, Some("dataset-json")),
            (2, json!([file("a.vtrk", 3)]), json!({"tracks": [place("a.vtrk", 3)]}), Some("dataset-json")),
            (2, json!([file("a.vtrk", 3)]), json!({"tracks": [place("a.vtrk", u64::MAX)]}), Some("dataset-json")),
            (2, json!([file("a.vtrk", 3)]), json!({"tracks": [place("b.vtrk", 0)]}), Some("dataset-json")),
            (
                2,
                json!([file("a.vtrk", 3), file("a.vtrk", 3)]),
                json!({"tracks": [place("a.vtrk", 0)]}),
                Some("dataset-json"),
            ),
            (2, json!([file("../a.vtrk", 3)]), json!({"tracks": [place("../a.vtrk", 0)]}), Some("dataset-json")),
            (2, json!([file("a.rec", 3)]), json!({"tracks": [place("a.rec", 0)]}), Some("dataset-json")),
            (2, json!([file("a.vtrk", u64::MAX)]), json!({"tracks": [place("a.vtrk", 0)]}), Some("dataset-json")),
            (2, json!([["a.vtrk", 3, 1, "", 0]]), Value::Null, Some("dataset-json")),
            (2, json!([]), json!([1]), Some("dataset-json")),
        ] {
            let mut changed = listing();
            (changed["format_version"], changed["added_files"]) = (version.into(), files.clone());
            changed["shards"][0]["added"] = added.clone();
            assert_eq!(prove(&changed).err().and_then(|e| e.rule()), rule, "{version} {files} {added}");
        }
        let twice = format!("{} {{}}", listing());
        assert!(DatasetJson::prove(twice.as_bytes()).is_err());
    }
}
