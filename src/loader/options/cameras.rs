//! Several cameras that saw the same.

use std::collections::HashSet;

use super::Missing;
use crate::loader::require::require;
use crate::words::words;
use crate::{Error, Result};

/// Whether the cameras of a sample have the same crop, flip and colors.
///
/// As a word (`FromStr`, `Display`): `same` or `own`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum CamerasCrop {
    /// One draw for all. The default.
    #[default]
    Same,
    /// A draw for each.
    Own,
}

words!(CamerasCrop, "cameras_crop", { "same" => Same, "own" => Own });

/// Several cameras that saw the same: clips with the same episode are one sample.
///
/// Frames are drawn among those of the first camera. Of each other one come those whose times are nearest, on clocks that
/// have to begin together; a frame for which there is none within the time from one frame to the next is an error.
/// Without names, each clip is a sample of its own.
///
/// ```
/// use vidrec::{Cameras, LoaderOptions};
///
/// let cameras = Cameras { names: vec!["front".into(), "wrist".into()], ..Cameras::default() };
/// let options = LoaderOptions { cameras, ..LoaderOptions::default() };
/// assert_eq!(options.cameras.attribute, "camera");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cameras {
    /// The cameras of a sample, in the order in which they come. Clips of others are in no sample. Default: none.
    pub names: Vec<String>,
    /// The attribute of clips that names their camera. Default `camera`.
    pub attribute: String,
    /// The attribute that clips of the same episode have in common: a text or a whole number. Default `episode`.
    pub episode: String,
    /// What happens to an episode without one of the cameras: an error, or pictures of zeros whose
    /// [`Batch::camera_mask`](crate::Batch::camera_mask) is false. Default [`Missing::Error`].
    pub missing: Missing,
    /// Whether they have the same crop, flip and colors. Default [`CamerasCrop::Same`].
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

/// The most cameras of a sample.
const MOST_CAMERAS: usize = 256;

impl Cameras {
    /// Refuses what makes no sense, and names the option.
    pub(super) fn check(&self) -> Result<()> {
        let mut seen = HashSet::new();
        if let Some(twice) = self.names.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(Error::usage("loader option cameras: a camera is named twice").found(twice));
        }
        require(self.names.len() <= MOST_CAMERAS, "cameras", self.names.len(), "at most 256")
    }
}
