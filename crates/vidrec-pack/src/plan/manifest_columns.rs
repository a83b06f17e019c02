//! A report of what each column of a manifest was taken for, so that misspelled names can be seen.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use vidrec_format::limits;

/// What vidrec took the columns of a manifest for. If a manifest has no header line, its columns are named by
/// number, as in `column 1`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ManifestColumns {
    /// The path of the manifest.
    pub manifest: String,
    /// Columns of paths, or of names that lead to a path.
    pub path: Vec<String>,
    /// Columns of labels. Empty: no clip of this manifest has a label.
    pub label: Vec<String>,
    /// Columns of times at which segments begin.
    pub start: Vec<String>,
    /// Columns of times at which segments end.
    pub end: Vec<String>,
    /// Columns of splits.
    pub split: Vec<String>,
    /// Columns that vidrec only keeps as attributes of the clips. At most the first 4096 of them.
    pub attributes: Vec<String>,
    /// Columns of tracks, or of their times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tracks: Vec<String>,
}

/// The use of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnUse {
    Path,
    Label,
    Start,
    End,
    Split,
    Attribute,
    Track,
}

impl ManifestColumns {
    fn place(&mut self, column: ColumnUse) -> &mut Vec<String> {
        match column {
            ColumnUse::Path => &mut self.path,
            ColumnUse::Label => &mut self.label,
            ColumnUse::Start => &mut self.start,
            ColumnUse::End => &mut self.end,
            ColumnUse::Split => &mut self.split,
            ColumnUse::Attribute => &mut self.attributes,
            ColumnUse::Track => &mut self.tracks,
        }
    }
}

/// The columns so far, in the order in which they were first seen.
pub(super) struct ColumnTally {
    columns: ManifestColumns,
    seen: HashSet<String>,
}

impl ColumnTally {
    pub fn new(manifest: String) -> Self {
        ColumnTally { columns: ManifestColumns { manifest, ..ManifestColumns::default() }, seen: HashSet::new() }
    }

    /// Adds a column. A column that is known already keeps its use.
    pub fn add(&mut self, column: ColumnUse, name: &str) {
        if self.seen.len() < limits::MAX_COLUMNS && !self.seen.contains(name) {
            self.seen.insert(name.to_owned());
            self.columns.place(column).push(name.to_owned());
        }
    }

    /// Adds column `number`, from 1, of a manifest without a header line.
    pub fn add_number(&mut self, column: ColumnUse, number: usize) {
        self.add(column, &format!("column {number}"));
    }

    /// Whether a column has paths.
    pub fn has_path(&self) -> bool {
        !self.columns.path.is_empty()
    }

    /// Whether a column of this name was added.
    pub fn has(&self, name: &str) -> bool {
        self.seen.contains(name)
    }

    /// The names of all columns.
    pub fn names(&self) -> Vec<&str> {
        let c = &self.columns;
        let all = [&c.path, &c.label, &c.start, &c.end, &c.split, &c.tracks, &c.attributes];
        all.into_iter().flatten().map(String::as_str).collect()
    }

    pub fn finish(self) -> ManifestColumns {
        self.columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_listed_once_and_bounded() {
        let mut tally = ColumnTally::new("l.jsonl".into());
        for i in 0..2 * limits::MAX_COLUMNS {
            tally.add(ColumnUse::Path, "path");
            tally.add(ColumnUse::Attribute, &format!("a{i}"));
        }
        let columns = tally.finish();
        assert_eq!((columns.path.len(), columns.attributes.len()), (1, limits::MAX_COLUMNS - 1));
    }
}
