//! The tracks that the clips of a shard can have.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::limits;
use crate::words::unknown_variant;

/// The type of the values of a track.
///
/// In text (`FromStr`, `Display`, serde): `f16`, `f32`, `f64`, `i16`, `i32`, `i64`, `u8`, `u16`, `bool` or `utf-8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum TrackType {
    /// 16-bit floating-point numbers (IEEE 754 binary16).
    F16,
    /// 32-bit floating-point numbers.
    F32,
    /// 64-bit floating-point numbers.
    F64,
    /// Signed 16-bit integers.
    I16,
    /// Signed 32-bit integers.
    I32,
    /// Signed 64-bit integers.
    I64,
    /// Whole numbers from 0 to 255.
    U8,
    /// Whole numbers from 0 to 65,535.
    U16,
    /// True or false: a byte that is 1 or 0.
    Bool,
    /// Texts.
    #[serde(rename = "utf-8")]
    #[strum(serialize = "utf-8")]
    Utf8,
}

impl TrackType {
    /// The type of the numbers that are stored: `u8` for `bool`.
    #[doc(hidden)]
    pub fn stored(self) -> TrackType {
        if self == TrackType::Bool { TrackType::U8 } else { self }
    }

    /// The size of a number in bytes; `None` for texts.
    #[doc(hidden)]
    pub fn number_bytes(self) -> Option<u64> {
        match self {
            TrackType::U8 | TrackType::Bool => Some(1),
            TrackType::F16 | TrackType::I16 | TrackType::U16 => Some(2),
            TrackType::F32 | TrackType::I32 => Some(4),
            TrackType::F64 | TrackType::I64 => Some(8),
            TrackType::Utf8 => None,
        }
    }
}

/// The timing of the values of a track.
///
/// In text (`FromStr`, `Display`, serde): `frames`, `times`, `spans` or `rate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum TrackTiming {
    /// One value for each frame of the clip.
    Frames,
    /// Each value has a time.
    Times,
    /// Each value has a start and an end.
    Spans,
    /// The values follow each other at a fixed rate.
    Rate,
}

/// The name, type, shape and timing of a track, the same in all clips.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TrackSchema {
    /// Its name, of 1 to 255 bytes.
    pub name: String,
    /// The type of its values.
    #[serde(rename = "type")]
    pub kind: TrackType,
    /// The shape of one value, or of an item of lists; empty if that is one number or one text.
    pub shape: Vec<u32>,
    /// The timing of its values.
    pub timing: TrackTiming,
    /// Whether numbers may be infinite or not a number. Default: they may not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nan: bool,
    /// Whether each value is a list of any number of items, such as the boxes of a frame. Default: it is not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub list: bool,
}

impl TrackSchema {
    /// The number of numbers in one value, or in an item of lists; 1 for texts.
    #[doc(hidden)]
    pub fn numbers_per_value(&self) -> usize {
        self.shape.iter().map(|&side| side as usize).product()
    }

    /// Size of one value, or of an item of lists, in bytes; `None` for texts.
    #[doc(hidden)]
    pub fn value_bytes(&self) -> Option<u64> {
        Some(self.kind.number_bytes()? * self.numbers_per_value() as u64)
    }

    /// Whether a value is a picture: numbers of type `u8` or `u16` with the shape `[height, width]`, or
    /// `[height, width, channels]` with at most 4 channels.
    pub fn is_picture(&self) -> bool {
        let is_whole = matches!(self.kind, TrackType::U8 | TrackType::U16);
        is_whole && !self.list && matches!(self.shape[..], [_, _] | [_, _, 1..=4])
    }

    /// Checks this schema by itself. The error says what is wrong.
    #[doc(hidden)]
    pub fn check(&self) -> Result<(), String> {
        let name = &self.name;
        if name.is_empty() || name.len() > limits::MAX_TRACK_NAME_BYTES || name.chars().any(char::is_control) {
            return Err(format!(
                "{name:?} cannot be the name of a track: a name has 1 to 255 bytes and no control characters"
            ));
        }
        if self.shape.len() > limits::MAX_TRACK_SIDES || self.shape.contains(&0) {
            return Err(format!(
                "track \"{name}\" cannot have the shape {:?}: a shape has at most 8 sides, each of at least 1",
                self.shape
            ));
        }
        if self.kind == TrackType::Utf8 && (!self.shape.is_empty() || self.list) {
            return Err(format!("track \"{name}\" holds texts, which have no shape and are in no lists"));
        }
        let numbers = self.shape.iter().try_fold(1u64, |n, &side| n.checked_mul(side.into()));
        if numbers.is_none_or(|n| n > limits::MAX_TRACK_VALUE_NUMBERS) {
            return Err(format!("a value of track \"{name}\" has too many numbers for the shape {:?}", self.shape));
        }
        Ok(())
    }

    /// Whether both have the same type, shape and timing, and both or none are lists, so that they can be one track.
    #[doc(hidden)]
    pub fn is_like(&self, other: &TrackSchema) -> bool {
        (self.kind, self.timing, self.list) == (other.kind, other.timing, other.list) && self.shape == other.shape
    }

    /// Describes the track in words, without its name: `f32 [14], times`, or `lists of f32 [4], frames`.
    #[doc(hidden)]
    pub fn words(&self) -> String {
        let shape = if self.shape.is_empty() { String::new() } else { format!(" {:?}", self.shape) };
        format!("{}{}{shape}, {}", if self.list { "lists of " } else { "" }, self.kind, self.timing)
    }
}

/// The name under which an added file has attributes of clips: one text, a JSON object. It is not the name of a track.
pub const ATTRIBUTES: &str = "vidrec.attributes";

/// The tracks of a shard. A track's number is its position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schema(Vec<TrackSchema>);

impl Schema {
    /// That of a file with attributes of clips.
    pub fn of_attributes() -> Self {
        let (kind, timing) = (TrackType::Utf8, TrackTiming::Times);
        Schema(vec![TrackSchema { name: ATTRIBUTES.into(), kind, shape: Vec::new(), timing, nan: false, list: false }])
    }

    /// The tracks, by number.
    pub fn tracks(&self) -> &[TrackSchema] {
        &self.0
    }

    /// The number of a track.
    pub fn number(&self, name: &str) -> Option<u32> {
        self.0.iter().position(|track| track.name == name).map(|at| at as u32)
    }

    /// Returns the number of this track, and adds the track if it is new.
    ///
    /// # Errors
    ///
    /// [`Usage`](crate::error::ErrorKind::Usage): the track is invalid, or a track of this name has another type,
    /// shape or timing. [`Limit`](crate::error::ErrorKind::Limit): there are too many tracks.
    pub fn join(&mut self, track: &TrackSchema) -> Result<u32> {
        track.check().map_err(Error::usage)?;
        if track.name == ATTRIBUTES {
            return Err(Error::usage(format!("a track cannot have the name \"{ATTRIBUTES}\"")));
        }
        if let Some(number) = self.number(&track.name) {
            let known = &mut self.0[number as usize];
            if !known.is_like(track) {
                return Err(Error::usage(format!(
                    "two tracks have the name \"{}\", but not the same type, shape and timing",
                    track.name
                ))
                .expected(known.words())
                .found(track.words())
                .help("give one of them another name"));
            }
            known.nan |= track.nan;
            return Ok(number);
        }
        if self.0.len() >= limits::MAX_TRACKS {
            return Err(Error::limit("there are too many tracks").expected(format!("at most {}", limits::MAX_TRACKS)));
        }
        self.0.push(track.clone());
        Ok(self.0.len() as u32 - 1)
    }

    /// The schema as JSON.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Serializing strings and numbers cannot fail.
        serde_json::to_vec(&serde_json::json!({ "tracks": self.0 })).unwrap_or_default()
    }

    /// Reads a schema.
    ///
    /// # Errors
    ///
    /// Rule `track-schema`.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let fault = |found: String| {
            Error::format("track-schema", "the schema is not the expected JSON").section("schema").found(found)
        };
        // The bytes are parsed as objects first, because serde would also accept arrays of the fields in order. They
        // are a copy, because text in a mapped file may stop being UTF-8 at any time.
        let bytes = bytes.to_vec();
        let mut object: Map<String, Value> = serde_json::from_slice(&bytes).map_err(|e| fault(e.to_string()))?;
        let list: Vec<Map<String, Value>> = serde_json::from_value(object.remove("tracks").unwrap_or_default())
            .map_err(|e| fault(format!("tracks: {e}")))?;
        if list.len() > limits::MAX_TRACKS {
            return Err(fault(format!("{} tracks", list.len())));
        }
        let (mut tracks, mut names) = (Vec::new(), HashSet::new());
        for track in list {
            let track: TrackSchema = serde_json::from_value(track.into()).map_err(|e| fault(e.to_string()))?;
            track.check().map_err(fault)?;
            if !names.insert(track.name.clone()) {
                return Err(fault(format!("two tracks have the name \"{}\"", track.name)));
            }
            tracks.push(track);
        }
        Ok(Schema(tracks))
    }
}
