//! Options that a source of a mix, or a camera, has of its own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Crop, Frames, Normalize, TrackWindow};
use crate::loader::draw::ColorJitter;

/// Options that a source of a [`Mix`](crate::loader::Mix) has of its own ([`MixOptions::own`](crate::loader::MixOptions::own)), or a camera
/// (`own` of [`Cameras`](crate::loader::Cameras)). `None`, the default of each, stands for the loader's option of the same name; a
/// camera's options come before those of its source.
///
/// If sources have different numbers of frames, a batch has as many as its longest sample, and
/// [`Batch::frame_mask`](crate::loader::Batch::frame_mask) is false for the others. If sources have pictures of different sizes, each
/// batch has pictures of one size.
///
/// As JSON (serde): an object with these fields.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OwnOptions {
    /// The frames of a sample. Those of a camera follow from the first camera.
    pub frames: Option<Frames>,
    /// The part of a frame that becomes the picture, and the size of the picture. All cameras have pictures of one size.
    pub crop: Option<Crop>,
    /// The probability that a clip is mirrored.
    pub flip: Option<f32>,
    /// The variation of colors.
    pub color: Option<ColorJitter>,
    /// The normalization of float values.
    pub normalize: Option<Normalize>,
    /// Tracks that come otherwise than in the loader's options, such as actions that each robot normalizes by its own
    /// statistics. Their values have the shape and type that those have. Tracks of a camera are those of the first one.
    pub tracks: BTreeMap<String, TrackWindow>,
}
