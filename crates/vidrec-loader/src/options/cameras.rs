//! Several cameras that recorded the same scene.

use std::collections::HashSet;

use super::Missing;
use crate::require::require;
use vidrec_format::error::{Error, Result};
use vidrec_format::words::words;

/// Whether the cameras of a sample have the same crop, flip and colors.
///
/// As a word (`FromStr`, `Display`): `same` or `own`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum CamerasCrop {
    /// One draw for all. The default.
    #[default]
    Same,
    /// A draw for each camera.
    Own,
}

words!(CamerasCrop, "cameras_crop", { "same" => Same, "own" => Own });

/// Several cameras that recorded the same scene: clips with the same episode are one sample.
///
/// Frames are drawn from those of the first camera. Every other camera has the frames whose times are nearest, so
/// the clocks of the cameras must begin together. It is an error if none is within the time from one frame to the
/// next. Without names, each clip is a sample of its own.
///
/// ```
/// # mod vidrec { pub use vidrec_loader::{Cameras, LoaderOptions}; }
/// use vidrec::{Cameras, LoaderOptions};
///
/// let cameras = Cameras { names: vec!["front".into(), "wrist".into()], ..Cameras::default() };
/// let options = LoaderOptions { cameras, ..LoaderOptions::default() };
/// assert_eq!(options.cameras.attribute, "camera");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cameras {
    /// The cameras of a sample, in order. Clips of other cameras are in no sample. Default: none.
    pub names: Vec<String>,
    /// The attribute of clips that names their camera. Default `camera`.
    pub attribute: String,
    /// The attribute that clips of the same episode share: a text or a whole number. Default `episode`.
    pub episode: String,
    /// What happens to an episode without one of the cameras. It is an error, or its pictures are zeros and
    /// [`Batch::camera_mask`](crate::Batch::camera_mask) is false. Default [`Missing::Error`].
    pub missing: Missing,
    /// Whether all cameras have the same crop, flip and colors. Default [`CamerasCrop::Same`].
    pub crop: CamerasCrop,
}

impl Default for Cameras {
    fn default() -> Self {
        Cameras {
            names: Vec::new(),
            attribute: "camera".into(),
            episode: "episode".into(),
            missing: Missing::Error,
            crop: CamerasCrop::Same,
        }
    }
}

/// The maximum number of cameras of a sample.
const MOST_CAMERAS: usize = 256;

impl Cameras {
    /// Returns an error that names the option if a value makes no sense.
    pub(super) fn check(&self) -> Result<()> {
        let mut seen = HashSet::new();
        if let Some(twice) = self.names.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(Error::usage("loader option cameras: the same camera is given twice").found(twice));
        }
        require(self.names.len() <= MOST_CAMERAS, "cameras", self.names.len(), "at most 256")
    }
}
