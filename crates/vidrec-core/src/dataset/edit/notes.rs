//! Notes on data sets that become one: sources that several have, and missing labels.

use std::collections::HashSet;
use std::path::Path;

use crate::dataset::Dataset;
use crate::store::disk::folder_of;
use vidrec_format::error::Result;

/// Returns a note if clips of a data set come from sources that an earlier one has, too.
pub(super) fn on_repeated_sources(sets: &[&Dataset]) -> Result<Option<String>> {
    let (mut known, mut repeated, mut first) = (HashSet::new(), 0u64, None);
    for set in sets {
        let mut own = HashSet::new();
        for clip in set.clips() {
            let source = clip?.source()?;
            // Clips from elsewhere may have no source.
            if source.is_empty() {
                continue;
            }
            if known.contains(&source) {
                repeated += 1;
                first.get_or_insert_with(|| source.clone());
            }
            own.insert(source);
        }
        known.extend(own);
    }
    let clips = if repeated == 1 { "1 clip comes".into() } else { format!("{repeated} clips come") };
    Ok(first.map(|first| format!("{clips} from a source that another data set has, too, such as {first:?}")))
}

/// Returns a note for each data set whose clips have no labels, if clips of other data sets have some.
pub(super) fn on_missing_labels(sets: &[&Dataset]) -> Result<Vec<String>> {
    let labeled = sets.iter().map(|set| has_labels(set)).collect::<Result<Vec<bool>>>()?;
    if !labeled.contains(&true) {
        return Ok(Vec::new());
    }
    let without = sets.iter().zip(labeled).filter(|(set, labeled)| !labeled && !set.is_empty());
    Ok(without.map(|(set, _)| without_labels(set)).collect())
}

fn without_labels(set: &Dataset) -> String {
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
