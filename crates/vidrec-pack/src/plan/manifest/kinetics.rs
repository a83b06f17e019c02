//! The manifests of Kinetics: `label,youtube_id,time_start,time_end,split`, without labels in the test set.
//!
//! A file may be anywhere below the root. The search is first for the name `ID_000010_000020`, which is a segment
//! that was cut out already. It is then for `ID`, which is the whole video, and the pack takes the segment from
//! it. If several files have the name, the one in a folder named after the class is taken, or else the first in
//! the order of paths.

use csv::StringRecord;

use super::super::manifest_columns::{ColumnTally, ColumnUse};
use super::super::segment::microseconds;
use super::columns::{Cells, ColumnRole};
use super::lookup::Lookup;
use super::row::{Context, ManifestRow, line};
use vidrec_format::error::Result;
use vidrec_format::source_name;

pub(super) fn is_header(header: &StringRecord) -> bool {
    let has = |wanted| header.iter().any(|name| name == wanted);
    has("youtube_id")
        && has("time_start")
        && has("time_end")
        && !header.iter().any(|name| ColumnRole::of(name) == ColumnRole::Path)
}

/// A manifest with its videos and the places of its columns.
pub(super) struct List<'a> {
    context: &'a Context<'a>,
    files: Lookup,
    header: &'a StringRecord,
    roles: Vec<ColumnRole>,
}

impl<'a> List<'a> {
    pub fn new(context: &'a Context<'a>, header: &'a StringRecord, columns: &mut ColumnTally) -> Result<Self> {
        let roles: Vec<ColumnRole> = header.iter().map(ColumnRole::of).collect();
        columns.add(ColumnUse::Path, "youtube_id");
        for (name, role) in header.iter().zip(&roles) {
            role.in_report().into_iter().for_each(|column| columns.add(column, name));
        }
        Ok(List { context, files: Lookup::new(&context.root)?, header, roles })
    }

    pub fn row(&self, record: &StringRecord) -> Result<ManifestRow> {
        let (context, line) = (self.context, line(record));
        let cell =
            |wanted: &str| self.header.iter().zip(record).find(|(name, _)| *name == wanted).map_or("", |(_, v)| v);
        let id = cell("youtube_id");
        if id.is_empty() {
            return Err(context.bad(line, "youtube_id", "the id is empty"));
        }
        let whole_seconds = |name: &str| {
            let seconds = cell(name).parse().map_err(|_| format!("expected seconds, found {:?}", cell(name)));
            let us = seconds.and_then(microseconds);
            us.map(|us| us / 1_000_000).map_err(|what| context.bad(line, name, what))
        };
        let (start, end) = (whole_seconds("time_start")?, whole_seconds("time_end")?);
        let cut_name = format!("{id}_{start:06}_{end:06}");
        let class = cell("label");
        let cut = self.files.find(&cut_name, class);
        let path = cut.or_else(|| self.files.find(id, class)).map(source_name::of_path);

        let mut cells = Cells::default();
        // A missing file is reported under the name that Kinetics' own downloader gives it.
        cells
            .set(ColumnRole::Path, "path", path.unwrap_or(format!("{cut_name}.mp4")).into())
            .map_err(|what| context.bad(line, "youtube_id", what))?;
        for ((name, &role), value) in self.header.iter().zip(&self.roles).zip(record) {
            cells.set(role, name, value.into()).map_err(|what| context.bad(line, name, what))?;
        }
        let mut row = cells.finish(line).map_err(|(column, what)| context.bad(line, column, what))?;
        if cut.is_some() {
            row.segment = None;
        }
        Ok(row)
    }
}
