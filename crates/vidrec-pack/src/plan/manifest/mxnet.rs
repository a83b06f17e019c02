//! MXNet's `.lst`, as `im2rec.py` writes it: an index, one or more labels and a path, separated by tabs. The label
//! -1 means no label. Our exports write it, and vidrec stores it in the records of clips without a label.

use super::super::labels::{Label, Tag, number};
use super::super::manifest_columns::{ColumnTally, ColumnUse};
use super::list;
use super::row::{Context, ManifestRow, lines};
use vidrec_format::error::Result;

pub(super) fn read(context: &Context<'_>, columns: &mut ColumnTally) -> Result<Vec<ManifestRow>> {
    let text = context.text()?;
    let mut rows = Vec::new();
    columns.add(ColumnUse::Path, "the last column");
    columns.add(ColumnUse::Attribute, "index");
    for (line, text) in lines(&text) {
        let fields: Vec<&str> = text.split('\t').map(str::trim).collect();
        let [index, labels @ .., path] = fields.as_slice() else {
            return Err(context.bad(line, "path", "expected an index, a label and a path with tabs between them"));
        };
        if labels.is_empty() {
            let what =
                format!("expected an index, a label and a path with tabs between them, found {} columns", fields.len());
            return Err(context.bad(line, "label", what));
        }
        if path.is_empty() {
            return Err(context.bad(line, "path", "the path is empty"));
        }
        let id: u64 = index
            .parse()
            .map_err(|_| context.bad(line, "index", format!("expected a whole number, found {index:?}")))?;
        (0..labels.len()).for_each(|label| columns.add_number(ColumnUse::Label, label + 2));
        let tags: Result<Vec<Option<Tag>>, String> = labels.iter().map(|text| tag(text)).collect();
        let tags = tags.map_err(|what| context.bad(line, "label", what))?;
        let label = match <[Option<Tag>; 1]>::try_from(tags) {
            Ok([tag]) => tag.map_or(Label::None, Label::One),
            Err(several) => Label::Many(several.into_iter().flatten().collect()),
        };
        let mut row = ManifestRow { line, path: (*path).to_owned(), label, ..ManifestRow::default() };
        row.attributes.insert("index", id);
        rows.push(row);
    }
    list::even_out(&mut rows);
    Ok(rows)
}

/// Reads a label that is written as a float such as `3.000000`, as `im2rec.py` does. Returns `None` for -1.
fn tag(text: &str) -> Result<Option<Tag>, String> {
    match text.parse::<f64>() {
        Ok(-1.0) => Ok(None),
        Ok(v) if v >= 0.0 && v.fract() == 0.0 && v < 1e15 => number(v as u64).map(Some),
        _ => Err(format!("expected a whole number from 0 on, or -1 for no label, found {text:?}")),
    }
}
