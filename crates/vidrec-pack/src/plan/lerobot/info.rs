//! `meta/info.json`: the frame rate, the features, and the places of files.

use std::fs;
use std::io::Read;
use std::num::NonZeroU64;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::pattern::Pattern;
use crate::plan::extensions::LEROBOT_INFO;
use vidrec_core::store::disk::regular_file::{Links, open_regular};
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;
use vidrec_format::track::schema::TrackType;

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// The highest frame rate that is accepted, in frames a second.
const MAX_FPS: f64 = 100_000.0;

/// Columns that every data set has, and that say which episode, frame and task a row belongs to.
const OF_ROWS: [&str; 5] = ["timestamp", "frame_index", "episode_index", "index", "task_index"];

/// The contents of `meta/info.json`.
pub(super) struct Info {
    /// In version 2: how many episodes share a folder, with files of their own.
    pub own_files: Option<NonZeroU64>,
    pub fps: f64,
    pub episodes: u64,
    pub features: Vec<Feature>,
    pub data: Pattern,
    /// The pattern of video paths; `None` in a data set without videos.
    pub videos: Option<Pattern>,
    /// The name of each split, with its first episode and the one after its last.
    pub splits: Vec<(String, u64, u64)>,
}

/// A feature: a camera, or a column of values.
pub(super) struct Feature {
    pub name: String,
    pub kind: FeatureKind,
}

pub(super) enum FeatureKind {
    /// Frames in videos.
    Camera,
    /// Depth of this height and width, in videos or as PNG files in the Parquet files, and what its numbers mean.
    Depth { size: (u32, u32), in_videos: bool, meaning: Value },
    /// Pictures in the Parquet files.
    Pictures,
    /// Numbers or texts of one shape, in the Parquet files.
    Values(TrackType, Vec<u32>),
    /// Structures of what people and robots said, in the Parquet files.
    Language,
    /// Values of a type that no track has.
    Other(String),
    /// The place that a row belongs to.
    Place,
}

#[derive(Deserialize)]
struct InfoJson {
    fps: f64,
    total_episodes: u64,
    features: Map<String, Value>,
    data_path: String,
    /// In version 2: how many episodes share a folder.
    #[serde(default)]
    chunks_size: Option<NonZeroU64>,
    #[serde(default)]
    video_path: Option<String>,
    #[serde(default)]
    splits: Map<String, Value>,
}

impl Info {
    /// Reads the file. Returns `None` if the folder has none, or one of another project.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(LEROBOT_INFO);
        let meta = match fs::metadata(&path) {
            Ok(meta) if meta.is_file() => meta,
            // The walk through the folder reports entries that cannot be looked at.
            _ => return Ok(None),
        };
        let io = |e| Error::io("read the description of the data set", &path, e);
        if meta.len() > MAX_BYTES {
            return Err(Error::limit("the file is too long").file(&path).expected(MAX_BYTES).found(meta.len()));
        }
        let mut bytes = Vec::new();
        open_regular(&path, Links::Follow)?.take(MAX_BYTES).read_to_end(&mut bytes).map_err(io)?;
        if memchr::memmem::find(&bytes, b"codebase_version").is_none() {
            return Ok(None);
        }
        Self::from_json(&bytes).map(Some).map_err(|e| e.file(&path))
    }

    fn from_json(bytes: &[u8]) -> Result<Self> {
        let no = |e: serde_json::Error| Error::usage(format!("this does not describe a LeRobot data set: {e}"));
        let all: Value = serde_json::from_slice(bytes).map_err(no)?;
        // Check this first, because other versions have other keys.
        let major = version(all.get("codebase_version").and_then(Value::as_str).unwrap_or_default())?;
        // Parse the text again, so that an error names its line.
        let json: InfoJson = serde_json::from_slice(bytes).map_err(no)?;
        if !(json.fps > 0.0 && json.fps <= MAX_FPS) {
            let e = Error::usage("fps is not a valid rate").expected(format!("frames per second, up to {MAX_FPS}"));
            return Err(e.found(json.fps));
        }
        if json.features.len() > limits::MAX_COLUMNS {
            let e = Error::limit("there are too many features").expected(limits::MAX_COLUMNS);
            return Err(e.found(json.features.len()));
        }
        let pattern = |key: &str, text: &str| {
            Pattern::new(text).map_err(|what| Error::usage(format!("{key}: {what}")).found(format!("{text:?}")))
        };
        let own_files = match (major, json.chunks_size) {
            (2, None) => {
                return Err(Error::usage("chunks_size is missing").expected("how many episodes share a folder"));
            }
            (2, size) => size,
            _ => None,
        };
        Ok(Info {
            own_files,
            fps: json.fps,
            episodes: json.total_episodes,
            features: json.features.iter().map(|(name, feature)| Feature::of(name, feature)).collect::<Result<_>>()?,
            data: pattern("data_path", &json.data_path)?,
            videos: json.video_path.as_deref().map(|text| pattern("video_path", text)).transpose()?,
            splits: json.splits.iter().map(|(name, range)| split(name, range)).collect::<Result<_>>()?,
        })
    }

    /// Returns the split of an episode. If several splits have it, the first one counts.
    pub fn split_of(&self, episode: u64) -> Option<&str> {
        let has = |(_, first, end): &&(String, u64, u64)| (*first..*end).contains(&episode);
        self.splits.iter().find(has).map(|(name, ..)| name.as_str())
    }
}

/// Returns the version without what follows the dot: 2 or 3.
fn version(text: &str) -> Result<u8> {
    match text.strip_prefix('v').unwrap_or(text).split('.').next() {
        Some("2") => return Ok(2),
        Some("3") => return Ok(3),
        _ => {}
    }
    let e =
        Error::usage("vidrec reads LeRobot data sets of versions 2 and 3").expected("codebase_version v2.1 or v3.0");
    let e = e.found(if text.is_empty() { "none" } else { text });
    Err(e.help("this version of vidrec does not support it; convert it with LeRobot"))
}

/// Reads a split such as `"train": "0:50"`.
fn split(name: &str, range: &Value) -> Result<(String, u64, u64)> {
    let ends = range.as_str().and_then(|text| text.split_once(':'));
    let ends = ends.and_then(|(first, end)| Some((first.trim().parse().ok()?, end.trim().parse().ok()?)));
    let (first, end) = ends.ok_or_else(|| {
        Error::usage(format!("split {name:?} is not a range of episodes")).expected("\"0:50\"").found(range)
    })?;
    Ok((name.to_owned(), first, end))
}

impl Feature {
    fn of(name: &str, feature: &Value) -> Result<Self> {
        let dtype = feature.get("dtype").and_then(Value::as_str).unwrap_or_default();
        let kind = match dtype {
            _ if OF_ROWS.contains(&name) => FeatureKind::Place,
            "video" | "image" if is_depth(feature) => match shape(feature).as_deref() {
                Some(&[height, width] | &[height, width, 1] | &[1, height, width]) => {
                    let in_videos = dtype == "video";
                    FeatureKind::Depth { size: (height, width), in_videos, meaning: meaning(feature, in_videos) }
                }
                _ => FeatureKind::Other(format!("shape {}", feature.get("shape").unwrap_or_default())),
            },
            "video" => FeatureKind::Camera,
            "image" => FeatureKind::Pictures,
            // Source: huggingface/lerobot, `src/lerobot/datasets/language.py`.
            "language" => FeatureKind::Language,
            dtype => match (track_type(dtype), shape(feature)) {
                (None, _) => FeatureKind::Other(format!("type {dtype:?}")),
                (Some(_), None) => FeatureKind::Other(format!("shape {}", feature.get("shape").unwrap_or_default())),
                (Some(kind), Some(shape)) => FeatureKind::Values(kind, shape),
            },
        };
        Ok(Feature { name: name.to_owned(), kind })
    }
}

/// Whether a feature is depth. LeRobot has written this mark in three places.
fn is_depth(feature: &Value) -> bool {
    let at = |folder: &str, key: &str| feature.get(folder).and_then(|info| info.get(key)).and_then(Value::as_bool);
    let marks = [at("info", "is_depth_map"), at("info", "video.is_depth_map"), at("video_info", "video.is_depth_map")];
    marks.contains(&Some(true))
}

/// Returns what the numbers of depth mean: the unit of pictures, or how LeRobot made the 4,096 numbers of a video from meters.
///
/// Source: huggingface/lerobot, `src/lerobot/configs/video.py`, whose defaults stand for what is missing.
fn meaning(feature: &Value, in_videos: bool) -> Value {
    let info = |key: &str| feature.get("info").and_then(|info| info.get(key)).filter(|value| !value.is_null()).cloned();
    if !in_videos {
        return info("depth_unit").map_or(json!({}), |unit| json!({ "unit": unit }));
    }
    let number = |key: &str, usual: Value| info(&format!("video.{key}")).unwrap_or(usual);
    json!({
        "depth_min": number("depth_min", 0.01.into()), "depth_max": number("depth_max", 10.0.into()),
        "shift": number("shift", 3.5.into()), "use_log": number("use_log", true.into()),
    })
}

/// Returns the type of track that can hold all values of a NumPy type.
fn track_type(dtype: &str) -> Option<TrackType> {
    Some(match dtype {
        "float16" | "float32" => TrackType::F32,
        "float64" => TrackType::F64,
        "int8" | "int16" => TrackType::I16,
        "int32" => TrackType::I32,
        "int64" | "uint32" | "uint64" => TrackType::I64,
        "uint8" => TrackType::U8,
        "uint16" => TrackType::U16,
        "bool" => TrackType::Bool,
        "string" => TrackType::Utf8,
        _ => return None,
    })
}

/// Returns the shape of one value. A shape of a single 1 means a single number.
fn shape(feature: &Value) -> Option<Vec<u32>> {
    let sides = feature.get("shape")?.as_array()?;
    let side = |side: &Value| side.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|&n| n > 0);
    let sides = sides.iter().map(side).collect::<Option<Vec<u32>>>()?;
    let numbers = sides.iter().try_fold(1u64, |all, &side| all.checked_mul(side.into()))?;
    let fits = sides.len() <= limits::MAX_TRACK_SIDES && numbers <= limits::MAX_TRACK_VALUE_NUMBERS;
    fits.then(|| if sides == [1] { Vec::new() } else { sides })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn info(change: impl FnOnce(&mut Value)) -> Result<Info> {
        let mut info = json!({
            "codebase_version": "v3.0", "fps": 30, "total_episodes": 4, "chunks_size": 1000,
            "splits": {"train": "0:3", "test": "3:4"},
            "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
            "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
            "features": {
                "action": {"dtype": "float32", "shape": [7]}, "next.done": {"dtype": "bool", "shape": [1]},
                "top": {"dtype": "video", "shape": [4, 4, 3]}, "index": {"dtype": "int64", "shape": [1]},
            },
        });
        change(&mut info);
        Info::from_json(info.to_string().as_bytes())
    }

    #[test]
    fn versions_are_told_apart() {
        let files = |version: &str| info(|i| i["codebase_version"] = version.into()).map(|info| info.own_files);
        assert_eq!(files("v3.1").unwrap(), None);
        assert_eq!(["v2.0", "v2.1"].map(|version| files(version).unwrap()), [NonZeroU64::new(1000); 2]);
        for (version, found) in [("v1.6", "found v1.6"), ("v4.0", "found v4.0"), ("", "found none")] {
            let e = format!("{:#}", files(version).unwrap_err());
            assert!(e.contains(found), "{e}");
        }
        let without = info(|i| {
            i["codebase_version"] = "v2.1".into();
            i.as_object_mut().unwrap().remove("chunks_size");
        });
        assert!(format!("{:#}", without.err().unwrap()).contains("chunks_size"));
    }

    #[test]
    fn features_and_splits_are_read() {
        let info = info(|_| {}).unwrap();
        assert_eq!([2, 3, 4].map(|e| info.split_of(e)), [Some("train"), Some("test"), None]);
        let kind = |name: &str| &info.features.iter().find(|f| f.name == name).unwrap().kind;
        assert!(matches!(kind("action"), FeatureKind::Values(TrackType::F32, shape) if *shape == [7]));
        assert!(matches!(kind("next.done"), FeatureKind::Values(TrackType::Bool, shape) if shape.is_empty()));
        assert!(matches!(kind("top"), FeatureKind::Camera) && matches!(kind("index"), FeatureKind::Place));
    }

    #[test]
    fn nonsense_is_refused() {
        for (part, change) in [
            ("fps", json!({"fps": 0})),
            ("fps", json!({"fps": -1e300})),
            ("-1`, expected u64 at line 1", json!({"total_episodes": -1})),
            ("expected a map at line 1", json!({"features": []})),
            ("split", json!({"splits": {"train": "all"}})),
            ("data_path", json!({"data_path": "../{chunk_index}"})),
            ("video_path", json!({"video_path": "/etc/{file_index}"})),
        ] {
            let changed = info(|i| i.as_object_mut().unwrap().extend(change.as_object().unwrap().clone()));
            let e = format!("{:#}", changed.err().unwrap());
            assert!(e.contains(part), "{e}");
        }
    }
}
