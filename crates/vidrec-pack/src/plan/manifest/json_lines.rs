//! `.jsonl`: a JSON object on each line, with the keys that a table has as columns.

use serde_json::{Map, Value};

use super::super::manifest_columns::ColumnTally;
use super::columns::{Cells, ColumnRole};
use super::row::{Context, FoundVideos, lines};
use vidrec_format::error::{Error, Result};

pub(super) fn read(context: &Context<'_>, columns: &mut ColumnTally, found: &mut FoundVideos) -> Result<()> {
    let text = context.text()?;
    let mut row = |(line, text): (u64, &str)| {
        let object: Map<String, Value> = serde_json::from_str(text).map_err(|e| {
            // Drop the position within the line, because its line number would always be 1.
            let what = e.to_string().split(" at line ").next().unwrap_or_default().to_owned();
            Error::usage(format!("line {line}, character {}: not a JSON object: {what}", e.column())).file(context.file)
        })?;
        let mut cells = Cells::default();
        for (name, value) in object {
            let role = ColumnRole::among(context.options, &name);
            role.in_report().into_iter().for_each(|column| columns.add(column, &name));
            cells.set(role, &name, value).map_err(|what| context.bad(line, &name, what))?;
        }
        cells.finish(line).map_err(|(column, what)| context.bad(line, column, what))
    };
    lines(&text).try_for_each(|line| found.push(context, row(line)?))
}
