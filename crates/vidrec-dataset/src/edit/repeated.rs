//! Notes on sources that several data sets have.

use std::collections::HashSet;

use crate::Dataset;
use vidrec_format::error::Result;

/// Returns a note if clips of a data set come from sources that an earlier one has, too.
pub(super) fn note(sets: &[&Dataset]) -> Result<Option<String>> {
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
