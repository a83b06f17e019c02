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
    /// Frames, crop, flip, color and normalization that some cameras have of their own, by name. Default: none. Pictures of all
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
        for (name, own) in &self.own {
            let refused = |what: &str| Error::usage(format!("loader option cameras: camera \"{name}\" has {what}"));
            if !own.tracks.is_empty() {
                return Err(refused("tracks of its own").help("tracks are at the times of the first camera's frames"));
            }
            let Some(frames) = &own.frames else { continue };
            frames.check()?;
            let is_list = matches!(frames, Frames::Windows { offsets, stride, .. }
                if *frames == Frames::windows(offsets.clone()).with_stride(*stride));
            if !is_list {
                let e = refused("frames that are not a list of offsets").expected("Windows with offsets alone");
                return Err(e.help("the loader's frames say everything else"));
            }
        }
        require((1..=MOST_CAMERAS).contains(&self.names.len()), "cameras", self.names.len(), "1 to 256")
    }

    /// Returns an error if a camera shows frames that samples do not have.
    pub(super) fn check_frames(&self, frames: &Frames) -> Result<()> {
        for (camera, name) in (0..).zip(&self.names) {
            let lacks = |offset: &i64| !frames.offsets().is_some_and(|mut all| all.any(|found| found == *offset));
            if let Some(offset) = self.offsets(camera).unwrap_or_default().iter().find(|offset| lacks(offset)) {
                let e = Error::usage(format!(
                    "loader option cameras: no frame of a sample is at an offset of camera \"{name}\""
                ));
                let all: Option<Vec<i64>> = frames.offsets().map(Iterator::collect);
                let all = all.map_or("frames by Windows, Run or Views".into(), |all| format!("one of {all:?}"));
                return Err(e.expected(all).found(offset).help("the loader's frames have the offsets of all cameras"));
            }
        }
        Ok(())
    }

    /// The offsets of the frames that a camera shows, if it does not show all.
    pub(crate) fn offsets(&self, camera: u32) -> Option<Vec<i64>> {
        let frames = self.own.get(self.names.get(camera as usize)?)?.frames.as_ref()?;
        frames.offsets().map(Iterator::collect)
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
    /// The frames of a sample. Of a camera: those that it shows, as [`Frames::Windows`] of offsets that the sample's frames have. The
    /// others are zeros, which are not read, and [`Batch::frame_mask`](crate::loader::Batch::frame_mask) is false for them.
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
        for frames in [Frames::run(2), Frames::windows([0]).with_hop(2)] {
            let own = OwnOptions { frames: Some(frames), ..OwnOptions::default() };
            let e = with("top", own).check().unwrap_err().to_string();
            assert!(e.contains("not a list of offsets"), "{e}");
        }
        let cameras = with("top", OwnOptions { frames: Some(Frames::windows([-5, 0])), ..OwnOptions::default() });
        cameras.check_frames(&Frames::windows([-1, 0]).with_stride(5)).unwrap();
        for (frames, expected) in [(Frames::windows([-4, 0]), "one of [-4, 0]"), (Frames::uniform(4), "by Windows")] {
            let e = cameras.check_frames(&frames).unwrap_err().to_string();
            assert!(e.contains("camera \"top\"") && e.contains(expected) && e.contains("found -5"), "{e}");
        }
    }
}
