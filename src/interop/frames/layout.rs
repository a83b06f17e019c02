//! What export and import agree on.

/// All that is known of the clip, in its folder.
pub(super) const CLIP_FILE: &str = "clip.json";
