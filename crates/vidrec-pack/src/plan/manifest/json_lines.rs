//! `.jsonl`: a JSON object on each line, with the keys that a table has as columns.

use serde_json::{Map, Value};

use super::columns::{Cells, ColumnRole, no_paths};
use super::row::{Context, ManifestRow, ManifestVideos};
use crate::plan::manifest_columns::ColumnTally;
use crate::plan::text::{body, lines};
use vidrec_format::error::{Error, Result};

pub(super) fn read(context: &Context<'_>, columns: &mut ColumnTally, found: &mut ManifestVideos) -> Result<()> {
    let bytes = context.bytes()?;
    let text = body(&bytes, context.file)?;
    if text.trim_ascii_start().starts_with(b"[") {
        return Err(Error::usage("this is a JSON array: expected an object on each line")
            .file(context.file)
            .help(one_each_line(context)));
    }
    lines(text).try_for_each(|(line, text)| found.push(context, row(context, columns, line, text)))?;
    match found.videos.is_empty() || columns.has_path() {
        true => Ok(()),
        false => Err(no_paths(context, &columns.names())),
    }
}

/// The command that turns an array into this format.
pub(super) fn one_each_line(context: &Context<'_>) -> String {
    let name = context.file.file_name().unwrap_or_default().display();
    format!("write one object on each line, for instance with `jq -c '.[]' {name} > list.jsonl`")
}

fn row(context: &Context<'_>, columns: &mut ColumnTally, line: u64, text: Result<&str, String>) -> ManifestRow {
    let object = text.and_then(|text| {
        serde_json::from_str::<Map<String, Value>>(text).map_err(|e| {
            // Drop the position within the line, because its line number would always be 1.
            let what = e.to_string().split(" at line ").next().unwrap_or_default().to_owned();
            format!("character {}: not a JSON object: {what}", e.column())
        })
    });
    let object = match object {
        Ok(object) => object,
        Err(what) => return ManifestRow::bad(line, what),
    };
    let mut cells = Cells::default();
    for (name, value) in object {
        let role = ColumnRole::among(context.options, &name);
        role.in_report().into_iter().for_each(|column| columns.add(column, &name));
        cells.set(role, &name, value);
    }
    cells.finish(line)
}
