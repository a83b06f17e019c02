//! Notes on the inputs before the work begins.

use super::found::FoundVideo;
use super::manifest_columns::ManifestColumns;

/// Returns notes on misspelled columns and on videos without a label.
pub(super) fn of(manifests: &[ManifestColumns], found: &[FoundVideo]) -> Vec<String> {
    manifests.iter().flat_map(ManifestColumns::notes).chain(unlabeled(found)).collect()
}

fn unlabeled(found: &[FoundVideo]) -> Option<String> {
    // Episodes have tasks instead.
    let mut without = found.iter().filter(|f| f.label.tags().is_empty() && f.episode.is_none());
    let first = without.next()?;
    let count = 1 + without.count();
    if count == found.len() {
        return Some(
            "no video has a label; a label comes from the column \"label\" of a manifest, or from the first level of folders"
                .into(),
        );
    }
    let verb = if count == 1 { "has" } else { "have" };
    Some(format!("{count} of {} videos {verb} no label, such as {}", found.len(), first.source))
}
