//! Notes on the inputs before the work begins, and the files that a scan ignored.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::job::FoundVideo;

/// Returns a note on videos without a label.
pub(super) fn unlabeled(found: &[FoundVideo]) -> Option<String> {
    let mut unlabeled = UnlabeledVideos::default();
    found.iter().filter(|found| found.fault.is_none()).for_each(|found| unlabeled.count(found));
    unlabeled.note()
}

/// The videos without a label so far.
#[derive(Default)]
pub(super) struct UnlabeledVideos {
    /// The number of all videos.
    pub of: u64,
    count: u64,
    first: Option<String>,
}

impl UnlabeledVideos {
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

/// Files of one kind in the input folders that are neither videos nor frames. Hidden files, whose names begin with
/// a dot, are neither looked at nor counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IgnoredFiles {
    /// The extension with its dot, in lower case, such as `.srt`; or `special file`, such as a pipe; or
    /// `other` for all kinds after the first 64.
    pub kind: String,
    /// The number of these files.
    pub files: u64,
    /// The path of the first of them, relative to the input.
    pub example: String,
}

/// The number of kinds that are counted separately.
const MOST_KINDS: usize = 64;

/// The ignored files so far, by kind.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct IgnoredTally(BTreeMap<String, IgnoredFiles>);

impl IgnoredTally {
    /// Counts a file, whose name `example` returns.
    pub fn add(&mut self, kind: String, example: impl FnOnce() -> String) {
        match self.0.get_mut(&kind) {
            Some(known) => known.files += 1,
            None => self.merge_one(IgnoredFiles { kind, files: 1, example: example() }),
        }
    }

    /// Adds the counts of another tally.
    pub fn merge(&mut self, other: IgnoredTally) {
        other.into_list().into_iter().for_each(|one| self.merge_one(one));
    }

    fn merge_one(&mut self, mut one: IgnoredFiles) {
        if self.0.len() >= MOST_KINDS && !self.0.contains_key(&one.kind) {
            one.kind = "other".into();
        }
        match self.0.get_mut(&one.kind) {
            Some(known) => known.files += one.files,
            None => drop(self.0.insert(one.kind.clone(), one)),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the counts in the order of their kinds.
    pub fn into_list(self) -> Vec<IgnoredFiles> {
        self.0.into_values().collect()
    }
}

/// Returns the kind of a file by its extension.
pub(super) fn kind_by_ending(path: &Path) -> String {
    let ending = path.extension().unwrap_or_default();
    format!(".{}", vidrec_core::source_name::of_os_str(ending).to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_counted_with_the_first_of_each_and_bounded() {
        let mut tally = IgnoredTally::default();
        for i in 0..200 {
            tally.add(format!(".{:03}", i % 100), || format!("file {i}"));
        }
        let list = tally.clone().into_list();
        assert_eq!(list.len(), MOST_KINDS + 1);
        assert_eq!((list[3].kind.as_str(), list[3].files, list[3].example.as_str()), (".003", 2, "file 3"));
        let other = list.iter().find(|p| p.kind == "other").unwrap();
        assert_eq!((other.files, other.example.as_str()), (72, "file 64"));
        let mut twice = tally.clone();
        twice.merge(tally);
        assert_eq!(twice.into_list().iter().map(|p| p.files).sum::<u64>(), 400);
    }
}
