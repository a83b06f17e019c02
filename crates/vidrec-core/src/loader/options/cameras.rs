//! Several cameras that recorded the same scene, and options that a camera or a source of a mix has of its own.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::values::require;
use super::{ColorJitter, Crop, Frames, Missing, Normalize, TrackWindow};
use vidrec_format::error::{Error, Result};

/// Whether the cameras of a sample have the same crop, flip and colors.
///
/// As a word (serde): `same` or `own`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CamerasCrop {
    /// One draw for all. The default.
    #[default]
    Same,
    /// A draw for each camera.
    Own,
}

/// Several cameras that recorded the same scene: clips with the same episode are one sample.
///
/// Frames are drawn from those of the first camera. Every other camera has the frames whose times are nearest. It is an error
/// if none is within the time from one frame to the next, or if the clips are not known to share a clock: they begin together,
/// a track has the same values at the same times in both, they are segments from the same `start` on, or their attribute
/// `clock` is the same.
///
/// In a mix, a clip with neither of the two attributes, such as a picture, is a sample of its own: its frames are those of the
/// first camera, and the other cameras are missing.
///
/// ```
/// use vidrec::{Cameras, LoaderOptions};
///
/// let cameras = Cameras::new(["front", "wrist"]);
/// assert_eq!(cameras.camera_attribute, "camera");
/// let options = LoaderOptions { cameras: Some(cameras), ..LoaderOptions::default() };
/// # drop(options);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cameras {
    /// The cameras of a sample, in order, one or more. Clips of other cameras are in no sample.
    pub names: Vec<String>,
    /// The attribute of clips that names their camera. Default `camera`.
    #[serde(default = "camera")]
    pub camera_attribute: String,
    /// The attribute that clips of the same episode share: a text or a whole number. Default `episode`.
    #[serde(default = "episode")]
    pub episode_attribute: String,
    /// The handling of an episode without one of the cameras. It is an error, or its pictures are zeros and
    /// [`Batch::camera_mask`](crate::loader::Batch::camera_mask) is false. Default [`Missing::Error`].
    #[serde(default)]
    pub missing: Missing,
    /// Whether all cameras have the same crop, flip and colors. Default [`CamerasCrop::Same`].
    #[serde(default)]
    pub crop: CamerasCrop,
    /// Crop, flip, color and normalization that some cameras have of their own, by name. Default: none. Pictures of all
    /// cameras have one size.
    #[serde(default)]
    pub own: BTreeMap<String, OwnOptions>,
}

fn camera() -> String {
    "camera".into()
}

fn episode() -> String {
    "episode".into()
}

/// The maximum number of cameras of a sample.
const MOST_CAMERAS: usize = 256;

impl Cameras {
    /// These cameras, with defaults.
    pub fn new<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Cameras {
            names: names.into_iter().map(N::into).collect(),
            camera_attribute: camera(),
            episode_attribute: episode(),
            missing: Missing::Error,
            crop: CamerasCrop::Same,
            own: BTreeMap::new(),
        }
    }

    /// Returns an error that names the option if a value makes no sense.
    pub(super) fn check(&self) -> Result<()> {
        let mut seen = HashSet::new();
        if let Some(twice) = self.names.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(Error::usage("loader option cameras: the same camera is given twice").found(twice));
        }
        if let Some(unknown) = self.own.keys().find(|name| !self.names.contains(name)) {
            let e = Error::usage("loader option cameras: options of a camera that is not one of them").found(unknown);
            return Err(e.expected(format!("one of {}", self.names.join(", "))));
        }
        if let Some((name, _)) = self.own.iter().find(|(_, own)| own.frames.is_some() || !own.tracks.is_empty()) {
            let e = Error::usage(format!("loader option cameras: camera \"{name}\" has frames or tracks of its own"));
            return Err(e.help("frames of all cameras are those at the times of the first camera's, and so are tracks"));
        }
        require((1..=MOST_CAMERAS).contains(&self.names.len()), "cameras", self.names.len(), "1 to 256")
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_a_camera_that_make_no_sense_are_named() {
        let with = |name: &str, own: OwnOptions| Cameras { own: [(name.into(), own)].into(), ..Cameras::new(["top"]) };
        with("top", OwnOptions { flip: Some(0.5), ..OwnOptions::default() }).check().unwrap();
        let e = with("wrist", OwnOptions::default()).check().unwrap_err().to_string();
        assert!(e.contains("found wrist") && e.contains("one of top"), "{e}");
        let frames = OwnOptions { frames: Some(Frames::run(2)), ..OwnOptions::default() };
        let e = with("top", frames).check().unwrap_err().to_string();
        assert!(e.contains("frames or tracks of its own"), "{e}");
    }
}
