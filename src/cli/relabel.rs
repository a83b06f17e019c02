//! `vidrec relabel`: other labels, class names, attributes and clocks for the same clips.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::edit::{self, Change, ClockStart, Key, Relabeling};
use crate::{Dataset, JsonObject};
use clap::ArgGroup;
use serde_json::{Map, Value};

use crate::cli::clip_list::check_source;
use crate::cli::edit::{NewSetArgs, parse_pair};
use crate::cli::outcome::Run;
use crate::cli::table::{self, Row};

/// Write a data set with other labels, class names, attributes or clocks.
///
/// TABLE is a .csv or .tsv file with a header line, or a .jsonl file with an object on each line. Column source or column
/// clip (a number, counted from 0) says which clips a line is for; with both, they must agree. Column label has their new
/// label, a number or a class name; all other columns are attributes. An empty cell changes nothing. Names that are new to
/// the data set get the next labels.
///
/// TABLE may also be what `vidrec export metadata` wrote: change its columns label, class and attributes. vidrec ignores its
/// columns of facts, such as frames and width.
///
/// vidrec changes no picture. Where a label or a clock changes, it writes new record files; otherwise it shares them with the
/// input by hard links and writes only new indexes.
#[derive(clap::Args)]
#[command(group = ArgGroup::new("what to change").args(["table", "rename_class", "clock"]).required(true).multiple(true))]
pub struct Args {
    /// The data set.
    dataset: PathBuf,
    /// The table of changes.
    table: Option<PathBuf>,
    /// Give a class another name; its label stays. May be given several times.
    #[arg(long, value_name = "OLD=NEW", value_parser = parse_pair)]
    rename_class: Vec<(String, String)>,
    /// Let the clock of each clip begin at the first value of a track, or at the clip's first frame with first-frame: the times
    /// of frames and tracks count from there. Loaders pair cameras of an episode by these times.
    #[arg(long, value_name = "TRACK|first-frame")]
    clock: Option<String>,
    #[command(flatten)]
    new: NewSetArgs,
}

pub fn run(args: &Args) -> Run {
    let set = args.new.storage.open(&args.dataset)?;
    let changes = args.table.as_deref().map(|path| read_table(path, &set)).transpose()?.unwrap_or_default();
    let clock = args.clock.as_deref().map(ClockStart::from);
    let relabeling = Relabeling { changes, renamed_classes: args.rename_class.clone(), clock };
    args.new
        .write(|out, options| edit::relabel(&set, &relabeling, out, options, &mut args.new.how.progress.of("clips")))
}

fn read_table(path: &Path, set: &Dataset) -> Result<Vec<Change>, String> {
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

/// The new label of a row of `export metadata`, which has the label's number and its class: the one that was changed.
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
