//! The file names that export and import share.

/// The file with everything that is known about a clip, in the clip's folder.
pub(super) const CLIP_FILE: &str = "clip.json";
