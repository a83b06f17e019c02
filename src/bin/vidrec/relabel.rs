//! `vidrec relabel`: other labels, class names and attributes for the same clips.

use std::path::{Path, PathBuf};

use clap::ArgGroup;
use csv::{ReaderBuilder, StringRecord};
use serde_json::{Map, Value};
use vidrec::Dataset;
use vidrec::edit::{self, Change, Key, Relabeling};
use vidrec::limits::MAX_COLUMNS;

use crate::edit::{OutputArgs, parse_pair, tell};
use crate::{Run, clip_count};

/// Write a data set with other labels, class names or attributes.
///
/// TABLE is a .csv or .tsv file with a header line. Column source or column clip (a number, counted from 0) says which
/// clips a line is for; with both, they must agree. Column label has their new label, a number or a class name; all
/// other columns are attributes. An empty cell leaves things as they are. Names that are new to the data set get the
/// next labels.
///
/// No picture is touched. Where a label changes, record files are written anew, because records hold labels too;
/// otherwise they are shared with the input by hard links, and only the indexes are new.
#[derive(clap::Args)]
#[command(group = ArgGroup::new("what to change").args(["table", "rename_class"]).required(true).multiple(true))]
pub struct Args {
    /// The data set.
    dataset: PathBuf,
    /// The table of changes.
    table: Option<PathBuf>,
    /// The folder to make the new data set in.
    #[arg(short, long)]
    output: PathBuf,
    /// Give a class another name; its label stays. May be given several times.
    #[arg(long, value_name = "OLD=NEW", value_parser = parse_pair)]
    rename_class: Vec<(String, String)>,
    #[command(flatten)]
    how: OutputArgs,
}

pub fn run(args: &Args) -> Run {
    let set = Dataset::open(&args.dataset)?;
    let changes = args.table.as_deref().map(|path| read_table(path, &set)).transpose()?.unwrap_or_default();
    let relabeling = Relabeling { changes, renamed_classes: args.rename_class.clone() };
    let report = edit::relabel(&set, &relabeling, &args.output, &args.how.options(), &mut clip_count::shown())?;
    tell(&report, args.how.json)
}

fn read_table(path: &Path, set: &Dataset) -> Result<Vec<Change>, String> {
    let place = |what: String| format!("{}: {what}", path.display());
    let delimiter = if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("tsv")) { b'\t' } else { b',' };
    let reader = ReaderBuilder::new().delimiter(delimiter).trim(csv::Trim::All).from_path(path);
    let mut reader = reader.map_err(|e| place(format!("cannot read the table: {e}")))?;
    let header = reader.headers().map_err(|e| place(format!("cannot read the table: {e}")))?.clone();
    if header.len() > MAX_COLUMNS {
        return Err(place(format!("line 1: too many columns: expected at most {MAX_COLUMNS}, found {}", header.len())));
    }
    let columns = Columns::find(&header).map_err(place)?;
    let mut changes = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| place(format!("cannot read the table: {e}")))?;
        let line = record.position().map_or(0, csv::Position::line);
        let change = columns.change(&header, &record).and_then(|change| columns.check(change, &record, set));
        changes.push(change.map_err(|e| place(format!("line {line}, {e}")))?);
    }
    Ok(changes)
}

/// Where the columns are that mean something.
struct Columns {
    source: Option<usize>,
    clip: Option<usize>,
    label: Option<usize>,
}

impl Columns {
    fn find(header: &StringRecord) -> Result<Self, String> {
        let at = |name: &str| header.iter().position(|h| h.trim_start_matches('\u{feff}').eq_ignore_ascii_case(name));
        let columns = Columns { source: at("source"), clip: at("clip"), label: at("label") };
        if columns.source.is_none() && columns.clip.is_none() {
            let found = header.iter().collect::<Vec<_>>().join(", ");
            return Err(format!("line 1: the header needs a column \"source\" or \"clip\": found {found}"));
        }
        Ok(columns)
    }

    /// Where both columns say which clip, they must mean the same one.
    fn check(&self, change: Change, record: &StringRecord, set: &Dataset) -> Result<Change, String> {
        let wanted = self.source.and_then(|i| record.get(i)).filter(|text| !text.is_empty());
        let (Key::Clip(clip), Some(wanted)) = (&change.key, wanted) else { return Ok(change) };
        let found = set.clip(*clip).and_then(|clip| clip.source()).map_err(|e| e.to_string())?;
        if found == wanted {
            return Ok(change);
        }
        Err(format!("column \"source\": clip {clip} is of {found:?}, not of {wanted:?}"))
    }

    fn change(&self, header: &StringRecord, record: &StringRecord) -> Result<Change, String> {
        let cell = |column: Option<usize>| column.and_then(|i| record.get(i)).filter(|text| !text.is_empty());
        let key = match (cell(self.clip), cell(self.source)) {
            (Some(clip), _) => {
                Key::Clip(clip.parse().map_err(|_| format!("column \"clip\": {clip:?} is not a number"))?)
            }
            (None, Some(source)) => Key::Source(source.to_owned()),
            (None, None) => return Err("neither \"source\" nor \"clip\" says which clip".into()),
        };
        let taken = [self.source, self.clip, self.label];
        let attributes: Map<String, Value> = header
            .iter()
            .zip(record)
            .enumerate()
            .filter(|(i, (_, value))| !taken.contains(&Some(*i)) && !value.is_empty())
            .map(|(_, (name, value))| (name.to_owned(), value.into()))
            .collect();
        Ok(Change { key, label: cell(self.label).map(str::to_owned), attributes })
    }
}
