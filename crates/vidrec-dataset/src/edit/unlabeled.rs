//! Notes on data sets without labels.

use std::path::Path;

use crate::Dataset;
use vidrec_format::error::Result;
use vidrec_store::disk::folder_of;

/// Returns a note for each data set whose clips have no labels, if clips of other data sets have some.
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
    format!("{}: {clips} no label, but clips of the other data sets have labels", folder.display())
}

fn has_labels(set: &Dataset) -> Result<bool> {
    for clip in set.clips() {
        if !clip?.labels()?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}
