//! The files that export and import agree on.

/// Everything that is known about the clip, in its folder.
pub(super) const CLIP_FILE: &str = "clip.json";
