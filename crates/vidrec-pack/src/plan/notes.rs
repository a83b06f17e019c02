//! Notes on the inputs before the work begins.

use super::found::FoundVideo;
use super::manifest_columns::ManifestColumns;

/// Returns notes on misspelled columns and on videos without a label.
pub(super) fn of(manifests: &[ManifestColumns], found: &[FoundVideo]) -> Vec<String> {
    let mut unlabeled = Unlabeled::default();
    found.iter().for_each(|found| unlabeled.count(found));
    manifests.iter().flat_map(ManifestColumns::notes).chain(unlabeled.note()).collect()
}

/// The videos without a label so far.
#[derive(Default)]
pub(super) struct Unlabeled {
    /// The number of all videos.
    pub of: u64,
    count: u64,
    first: Option<String>,
}

impl Unlabeled {
    pub fn count(&mut self, found: &FoundVideo) {
        self.of += 1;
        // Episodes have tasks instead.
        if found.label.tags().is_empty() && found.episode.is_none() {
            self.count += 1;
            self.first.get_or_insert_with(|| found.source.clone());
        }
    }

    pub fn note(self) -> Option<String> {
        let (first, count) = (self.first?, self.count);
        if count == self.of {
            return Some(
                "no video has a label; a label comes from the column \"label\" of a manifest, or from the first level of folders"
                    .into(),
            );
        }
        let verb = if count == 1 { "has" } else { "have" };
        Some(format!("{count} of {} videos {verb} no label, such as {first}", self.of))
    }
}
