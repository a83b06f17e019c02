//! Describes clips with the labels of a joined list of class names.

use crate::Clip;
use crate::writer::ClipInfo;
use vidrec_format::error::{Error, Result};

use super::output_plan::as_it_is;

/// The description of a clip, with its new label.
pub(super) fn renumbered(clip: &Clip<'_>, labels: &[u32]) -> Result<ClipInfo> {
    let mut info = as_it_is(clip)?;
    if let Some(label) = info.label.filter(|_| !labels.is_empty()) {
        let new = labels.get(label as usize).copied();
        info.label = Some(new.ok_or_else(|| {
            Error::format("clip-class", "the clip's label has no class name")
                .in_clip(clip.ordinal())
                .expected(format!("less than {}", labels.len()))
                .found(label)
        })?);
    }
    Ok(info)
}
