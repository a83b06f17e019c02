//! Something-Something: an array of `{"id", "label", "template", "placeholders"}`, with `labels.json` beside it,
//! which numbers the templates without their brackets. The test set has only ids.
//!
//! Videos are searched for below the root by their ids, whatever their extension. A folder with an id as its name
//! holds frames. The manifest's `label` is a caption, and is kept as the attribute `caption`.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::super::attributes::Attributes;
use super::super::labels::{Classes, Label};
use super::super::manifest_columns::{ColumnTally, ColumnUse};
use super::super::text::whole;
use super::columns::ColumnRole;
use super::json_lines::one_each_line;
use super::lookup::Lookup;
use super::row::{Context, ManifestRow};
use vidrec_core::source_name;
use vidrec_format::error::{Error, Hint, Result};

/// Names of the data set's own file of classes.
const LABELS: [&str; 2] = ["labels.json", "something-something-v2-labels.json"];

pub(super) fn read(context: &Context<'_>, columns: &mut ColumnTally) -> Result<(Vec<ManifestRow>, Option<Classes>)> {
    let fault = |what: String| Error::usage(what).file(context.file);
    let bytes = context.bytes()?;
    let not_json = |e| fault(format!("the file is not JSON: {e}")).help(LINES);
    let entries: Value = serde_json::from_str(whole(&bytes, context.file)?).map_err(not_json)?;
    let Value::Array(entries) = entries else {
        return Err(fault("expected an array of objects with an \"id\", as in Something-Something".into()).help(LINES));
    };
    let has_id = |entry: &Value| entry.get("id").is_some();
    let objects = || entries.iter().filter_map(Value::as_object);
    let is_path = |name: &String| ColumnRole::among(context.options, name) == ColumnRole::Path;
    if !entries.iter().any(has_id) && objects().any(|entry| entry.keys().any(is_path)) {
        return Err(fault("only the lists of Something-Something are arrays of objects, with an \"id\"".into())
            .help(one_each_line(context)));
    }
    let files = Lookup::new(&context.root)?;
    let rows = (1..).zip(entries).map(|(n, entry)| match entry {
        Value::Object(entry) => row(&files, n, entry, columns),
        other => ManifestRow::bad(n, format!("expected an object, found {other}")),
    });
    let rows: Vec<ManifestRow> = rows.collect();
    let labeled = rows.iter().any(|row| row.label != Label::None);
    let classes = if labeled && context.options.classes.is_none() { Some(own_classes(context)?) } else { None };
    Ok((rows, classes))
}

/// What may be meant by a file that is no array.
const LINES: &str = "if each line has one object, use the ending .jsonl";

fn row(files: &Lookup, n: u64, mut entry: Map<String, Value>, columns: &mut ColumnTally) -> ManifestRow {
    let id = match entry.remove("id") {
        Some(Value::String(id)) if !id.is_empty() => id,
        Some(Value::Number(id)) => id.to_string(),
        other => {
            let found = other.unwrap_or_default();
            return ManifestRow::bad(n, format!("key \"id\": expected the name of a video, found {found}"));
        }
    };
    columns.add(ColumnUse::Path, "id");
    if entry.contains_key("template") {
        columns.add(ColumnUse::Label, "template");
    }
    let (label, fault) = match entry.remove("template") {
        Some(Value::String(template)) => (Label::name(&template.replace(['[', ']'], "")), None),
        None | Some(Value::Null) => (Label::None, None),
        Some(other) => (Label::None, Some(format!("key \"template\": expected text, found {other}"))),
    };
    if let Some(caption) = entry.remove("label") {
        entry.insert("caption".into(), caption);
    }
    entry.keys().for_each(|name| columns.add(ColumnUse::Attribute, name));
    let found = files.find(&id, "").map(source_name::of_path);
    let path = found.unwrap_or_else(|| if files.has_folder(&id) { id.clone() } else { format!("{id}.webm") });
    entry.insert("id".into(), id.into());
    let attributes = Attributes::from_map(entry);
    ManifestRow { line: n, path, label, attributes, fault, ..ManifestRow::default() }
}

fn own_classes(context: &Context<'_>) -> Result<Classes> {
    let folder = context.file.parent().unwrap_or(std::path::Path::new(""));
    let candidates: Vec<PathBuf> = LABELS.iter().map(|name| folder.join(name)).collect();
    match candidates.iter().find(|path| path.is_file()) {
        Some(path) => Classes::read(path),
        None => Err(Error::usage("there is no labels.json beside the list, which numbers its templates")
            .file(context.file)
            .help("name the file of classes")
            .hint(Hint::Set("classes"))),
    }
}
