//! Labels that are missing in some of several data sets.

use std::path::Path;

use crate::disk::folder_of;
use crate::{Dataset, Result};

/// A note for each of the data sets whose clips have no label, if those of others have.
pub(super) fn notes(sets: &[&Dataset]) -> Result<Vec<String>> {
    let labeled = sets.iter().map(|set| has_labels(set)).collect::<Result<Vec<bool>>>()?;
    if !labeled.contains(&true) {
        return Ok(Vec::new());
    }
    let without = sets.iter().zip(labeled).filter(|(set, labeled)| !labeled && !set.is_empty());
    Ok(without.map(|(set, _)| note(set)).collect())
}

fn note(set: &Dataset) -> String {
    let folder = set.record_files().next().map_or(Path::new(""), folder_of);
    let clips = if set.len() == 1 { "its clip has".into() } else { format!("its {} clips have", set.len()) };
    format!("{}: {clips} no label and will be without one beside clips that have one", folder.display())
}

fn has_labels(set: &Dataset) -> Result<bool> {
    for clip in set.clips() {
        if !clip?.labels()?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}
