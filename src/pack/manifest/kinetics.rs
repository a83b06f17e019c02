//! The lists of Kinetics: `label,youtube_id,time_start,time_end,split`, without labels for the test set.
//!
//! A file is looked for anywhere below the root, first under the name `ID_000010_000020`, which is a clip that was cut
//! already, then as `ID`, which is the whole video and is cut here. Of several files of a name, the one in a folder
//! called after the class is taken, else the first in the order of paths.

use csv::StringRecord;

use super::super::inputs::source_name;
use super::super::segment::microseconds;
use super::columns::{Cells, Role};
use super::lookup::Lookup;
use super::table::{fault, line};
use super::{Context, Row};
use crate::Result;

pub(super) fn is_header(header: &StringRecord) -> bool {
    let has = |wanted| header.iter().any(|name| name == wanted);
    has("youtube_id") && has("time_start") && has("time_end") && !header.iter().any(|name| Role::of(name) == Role::Path)
}

pub(super) fn read(
    context: &Context<'_>,
    header: &StringRecord,
    records: impl Iterator<Item = csv::Result<StringRecord>>,
) -> Result<Vec<Row>> {
    let files = Lookup::new(&context.root)?;
    let mut rows = Vec::new();
    for record in records {
        let record = record.map_err(|e| fault(context, e))?;
        rows.push(row(context, &files, header, &record)?);
    }
    Ok(rows)
}

fn row(context: &Context<'_>, files: &Lookup, header: &StringRecord, record: &StringRecord) -> Result<Row> {
    let line = line(record);
    let cell =
        |wanted: &str| header.iter().zip(record).find(|(name, _)| *name == wanted).map_or("", |(_, value)| value);
    let id = cell("youtube_id");
    if id.is_empty() {
        return Err(context.bad(line, "youtube_id", "the id is empty"));
    }
    let whole_seconds = |name: &str| {
        let us =
            cell(name).parse().map_err(|_| format!("expected seconds, found {:?}", cell(name))).and_then(microseconds);
        us.map(|us| us / 1_000_000).map_err(|what| context.bad(line, name, what))
    };
    let (start, end) = (whole_seconds("time_start")?, whole_seconds("time_end")?);
    let cut_name = format!("{id}_{start:06}_{end:06}");
    let class = cell("label");
    let cut = files.find(&cut_name, class);
    let path = cut.or_else(|| files.find(id, class)).map(source_name);

    let mut cells = Cells::default();
    // A file that is missing is reported under the name that Kinetics' own downloader gives it.
    cells
        .set("path", path.unwrap_or(format!("{cut_name}.mp4")).into())
        .map_err(|what| context.bad(line, "youtube_id", what))?;
    for (name, value) in header.iter().zip(record) {
        cells.set(name, value.into()).map_err(|what| context.bad(line, name, what))?;
    }
    let mut row = cells.finish(line).map_err(|(column, what)| context.bad(line, column, what))?;
    if cut.is_some() {
        row.segment = None;
    }
    Ok(row)
}
