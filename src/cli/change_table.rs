//! Tables of other labels and attributes for clips, as `vidrec subset --changes` takes them.
//!
//! A row is for a clip or for all clips of a source. The table may be one that `vidrec export metadata` wrote.

use std::collections::BTreeMap;
use std::path::Path;

use crate::edit::{Change, Key};
use crate::{Dataset, JsonObject};
use serde_json::{Map, Value};

use crate::cli::clip_list::check_source;
use crate::cli::table::{self, Row};

/// Reads the changes of a table for a data set.
pub fn read(path: &Path, set: &Dataset) -> Result<Vec<Change>, String> {
    let mut changes = Vec::new();
    table::read(path, &mut |row| {
        changes.push(change(row, set)?);
        Ok(())
    })?;
    Ok(changes)
}

/// Columns that say which clip a row is for, and what its label is.
const WHICH: [&str; 2] = ["clip", "label"];
/// Columns of `export metadata` that state facts of a clip.
const FACTS: [&str; 7] = ["frames", "width", "height", "short", "first_seconds", "last_seconds", "bytes"];
/// Its other columns.
const CHANGEABLE: [&str; 2] = ["class", "attributes"];

fn change(row: &Row, set: &Dataset) -> Result<Change, String> {
    let source_column = row.source_column();
    let source = row.text(source_column);
    let key = match (row.clip()?, source) {
        (Some(clip), source) => {
            let place = |e| format!("column \"{source_column}\": {e}");
            check_source(set, clip, source.as_deref()).map_err(place)?;
            Key::Clip(clip)
        }
        (None, Some(source)) => Key::Source(source),
        (None, None) => return Err("neither \"source\" nor \"clip\" says which clip".into()),
    };
    let is_taken = |name: &str, taken: &[&str]| taken.iter().any(|known| name.eq_ignore_ascii_case(known));
    let others = row.cells().filter(|(name, _)| !is_taken(name, &WHICH) && !is_taken(name, &[source_column]));
    if let Key::Clip(clip) = key
        && FACTS.iter().chain(&CHANGEABLE).all(|column| row.has(column))
    {
        let mut attributes = attributes(row)?;
        let others = others.filter(|(name, _)| !is_taken(name, &FACTS) && !is_taken(name, &CHANGEABLE));
        attributes.extend(others.map(|(name, value)| (name.to_owned(), value.clone())));
        let attributes = JsonObject::of(attributes).map_err(|e| e.to_string())?;
        return Ok(Change { key, label: changed_label(row, set, clip)?, attributes });
    }
    let attributes = JsonObject::of(others.collect::<BTreeMap<_, _>>()).map_err(|e| e.to_string())?;
    Ok(Change { key, label: row.text("label"), attributes })
}

/// The column "attributes" of `export metadata`: an object, or its JSON.
fn attributes(row: &Row) -> Result<Map<String, Value>, String> {
    let wrong = |what: String| format!("column \"attributes\": {what}");
    match row.cell("attributes") {
        None => Ok(Map::new()),
        Some(Value::Object(attributes)) => Ok(attributes.clone()),
        Some(Value::String(json)) => serde_json::from_str(json).map_err(|e| wrong(format!("not a JSON object: {e}"))),
        Some(other) => Err(wrong(format!("not a JSON object: {other}"))),
    }
}

/// The new label of a row of `export metadata`, which has the label's number and its class: whichever was changed.
fn changed_label(row: &Row, set: &Dataset, clip: u64) -> Result<Option<String>, String> {
    let now = set.clip(clip).map_err(|e| e.to_string())?;
    let (label_now, class_now) = (now.label().map(|label| label.to_string()), now.class().map_err(|e| e.to_string())?);
    let number = row.text("label").filter(|label| Some(label) != label_now.as_ref());
    let class = row.text("class").filter(|class| *class != class_now);
    let Some(number) = number else { return Ok(class) };
    // By its name, because other rows may have names that are new, which do not go together with numbers.
    let label = match number.parse::<usize>().ok().and_then(|label| set.classes().get(label)) {
        Some(name) => name.clone(),
        None if set.classes().is_empty() => number,
        None => {
            return Err(format!("column \"label\": there is no class {number:?}; column \"class\" takes new names"));
        }
    };
    match class {
        Some(class) if class != label => {
            Err(format!("columns \"label\" and \"class\" disagree: {label:?} and {class:?}; change only one of them"))
        }
        _ => Ok(Some(label)),
    }
}
