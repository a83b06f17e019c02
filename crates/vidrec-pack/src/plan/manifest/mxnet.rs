//! MXNet's `.lst`, as `im2rec.py` writes it: an index, one or more labels and a path, separated by tabs. The label
//! -1 means no label. Our exports write it, and vidrec stores it in the records of clips without a label.

use super::super::labels::{Label, Tag, number};
use super::super::manifest_columns::{ColumnTally, ColumnUse};
use super::super::text::{body, lines};
use super::list;
use super::row::{Context, ManifestRow, in_column};
use vidrec_format::error::Result;

pub(super) fn read(context: &Context<'_>, columns: &mut ColumnTally) -> Result<Vec<ManifestRow>> {
    let bytes = context.bytes()?;
    columns.add(ColumnUse::Path, "the last column");
    columns.add(ColumnUse::Attribute, "index");
    let rows = lines(body(&bytes, context.file)?);
    let mut rows: Vec<ManifestRow> = rows.map(|(line, text)| row(columns, line, text)).collect();
    list::even_out(&mut rows);
    Ok(rows)
}

fn row(columns: &mut ColumnTally, line: u64, text: Result<&str, String>) -> ManifestRow {
    let text = match text {
        Ok(text) => text,
        Err(what) => return ManifestRow::bad(line, what),
    };
    let fields: Vec<&str> = text.split('\t').map(str::trim).collect();
    let [index, labels @ .., path] = &*fields else { return ManifestRow::bad(line, LAYOUT) };
    if labels.is_empty() {
        return ManifestRow::bad(line, format!("{LAYOUT}, found {} columns", fields.len()));
    }
    (0..labels.len()).for_each(|label| columns.add_number(ColumnUse::Label, label + 2));
    let mut row = ManifestRow { line, path: (*path).to_owned(), ..ManifestRow::default() };
    let tags: Result<Vec<Option<Tag>>, String> = labels.iter().map(|text| tag(text)).collect();
    match tags.map(<[Option<Tag>; 1]>::try_from) {
        Ok(Ok([tag])) => row.label = tag.map_or(Label::None, Label::One),
        Ok(Err(several)) => row.label = Label::Many(several.into_iter().flatten().collect()),
        Err(what) => row.fault = Some(in_column("label", what)),
    }
    match index.parse::<u64>() {
        Ok(id) => row.attributes.insert("index", id),
        Err(_) => row.fault = Some(in_column("index", format!("expected a whole number, found {index:?}"))),
    }
    if path.is_empty() {
        row.fault = Some(in_column("path", "the path is empty"));
    }
    row
}

/// What a line must have.
const LAYOUT: &str = "expected an index, a label and a path with tabs between them";

/// Reads a label that is written as a float such as `3.000000`, as `im2rec.py` does. Returns `None` for -1.
fn tag(text: &str) -> Result<Option<Tag>, String> {
    match text.parse::<f64>() {
        Ok(-1.0) => Ok(None),
        Ok(v) if v >= 0.0 && v.fract() == 0.0 && v < 1e15 => number(v as u64).map(Some),
        _ => Err(format!("expected a whole number from 0 on, or -1 for no label, found {text:?}")),
    }
}
