//! The manifests of Kinetics: `label,youtube_id,time_start,time_end,split`, without labels in the test set.
//!
//! A file may be anywhere below the root. The search is first for the name `ID_000010_000020`, which is a segment
//! that was cut out already. It is then for `ID`, which is the whole video, and the pack takes the segment from
//! it. If several files have the name, the one in a folder named after the class is taken, or else the first in
//! the order of paths.

use csv::StringRecord;

use super::super::manifest_columns::{ColumnTally, ColumnUse};
use super::columns::{Cells, ColumnRole};
use super::lookup::Lookup;
use super::row::{Context, ManifestRow};
use vidrec_core::source_name;
use vidrec_format::error::Result;

/// The columns that such a manifest has.
const ID: &str = "youtube_id";
const START: &str = "time_start";
const END: &str = "time_end";

pub(super) fn is_header(header: &StringRecord) -> bool {
    let has = |wanted| header.iter().any(|name| name == wanted);
    [ID, START, END].into_iter().all(has) && !header.iter().any(|name| ColumnRole::of(name) == ColumnRole::Path)
}

/// A manifest with its videos and the places of its columns.
pub(super) struct List<'a> {
    files: Lookup,
    header: &'a StringRecord,
    roles: Vec<ColumnRole>,
}

impl<'a> List<'a> {
    pub fn new(context: &Context<'_>, header: &'a StringRecord, columns: &mut ColumnTally) -> Result<Self> {
        let roles: Vec<ColumnRole> = header.iter().map(ColumnRole::of).collect();
        columns.add(ColumnUse::Path, ID);
        for (name, role) in header.iter().zip(&roles) {
            role.in_report().into_iter().for_each(|column| columns.add(column, name));
        }
        Ok(List { files: Lookup::new(&context.root)?, header, roles })
    }

    pub fn row(&self, line: u64, record: &StringRecord) -> ManifestRow {
        let cell =
            |wanted: &str| self.header.iter().zip(record).find(|(name, _)| *name == wanted).map_or("", |(_, v)| v);
        let id = cell(ID);
        let mut cells = Cells::default();
        for ((name, &role), value) in self.header.iter().zip(&self.roles).zip(record) {
            cells.set(role, name, value.into());
        }
        for name in [ID, START, END].into_iter().filter(|name| cell(name).is_empty()) {
            cells.refuse(name, "the cell is empty");
        }
        let whole_seconds = |name: &str| cell(name).parse::<f64>().unwrap_or_default() as u64;
        let cut_name = format!("{id}_{:06}_{:06}", whole_seconds(START), whole_seconds(END));
        let class = cell("label");
        let cut = self.files.find(&cut_name, class);
        let path = cut.or_else(|| self.files.find(id, class)).map(source_name::of_path);
        // A missing file is reported under the name that Kinetics' own downloader gives it.
        let path = path.unwrap_or_else(|| if id.is_empty() { String::new() } else { format!("{cut_name}.mp4") });
        cells.set(ColumnRole::Path, ID, path.into());
        let mut row = cells.finish(line);
        if cut.is_some() {
            row.segment = None;
        }
        row
    }
}
