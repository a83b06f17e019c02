//! Tables that commands read: .csv and .tsv with a header line, .jsonl with an object on each line.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::rc::Rc;

use crate::limits::MAX_COLUMNS;
use csv::{ReaderBuilder, StringRecord};
use serde_json::{Map, Value};

/// A line of a table: the names of its columns, and a value for each.
pub struct Row {
    /// The number of the line, from 1.
    pub line: u64,
    cells: Vec<(Rc<str>, Value)>,
}

impl Row {
    /// Whether there is such a column, even if its cell is empty. Case does not matter.
    fn has(&self, column: &str) -> bool {
        self.cells.iter().any(|(name, _)| name.eq_ignore_ascii_case(column))
    }

    /// The cell of a column, if it is not empty.
    pub fn cell(&self, column: &str) -> Option<&Value> {
        self.cells().find(|(name, _)| name.eq_ignore_ascii_case(column)).map(|(_, value)| value)
    }

    /// The cell of a column as text, if it is not empty.
    pub fn text(&self, column: &str) -> Option<String> {
        self.cell(column).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }

    /// The column "clip": an ordinal.
    pub fn clip(&self) -> Result<Option<u64>, String> {
        let number = |text: String| text.parse().map_err(|_| format!("column \"clip\": {text:?} is not a number"));
        self.text("clip").map(number).transpose()
    }

    /// The column that names the source: "source", or "path" where there is no such column.
    pub fn source_column(&self) -> &'static str {
        if self.has("source") { "source" } else { "path" }
    }

    /// All cells that are not empty, with the names of their columns.
    pub fn cells(&self) -> impl Iterator<Item = (&str, &Value)> {
        let cells = self.cells.iter().map(|(name, value)| (&**name, value));
        cells.filter(|(_, value)| !value.is_null() && value.as_str() != Some(""))
    }
}

/// Whether a file with this name is a table.
pub fn is_table(path: &Path) -> bool {
    ["csv", "tsv", "jsonl"].iter().any(|ending| has_ending(path, ending))
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending))
}

/// Calls `each` with every row; the table's columns must name clips. Errors name the file and the line.
pub fn read(path: &Path, each: &mut dyn FnMut(&Row) -> Result<(), String>) -> Result<(), String> {
    let place = |what: String| format!("{}: {what}", path.display());
    let failed = |e: &dyn std::error::Error| place(format!("cannot read the table: {e}"));
    let file = File::open(path).map_err(|e| failed(&e))?;
    let mut row = |row: &Row| each(row).map_err(|e| place(format!("line {}, {e}", row.line)));
    if has_ending(path, "jsonl") {
        for (line, text) in (1..).zip(BufReader::new(file).lines()) {
            let text = text.map_err(|e| failed(&e))?;
            if !text.trim().is_empty() {
                row(&object(line, &text).map_err(place)?)?;
            }
        }
        return Ok(());
    }
    let delimiter = if has_ending(path, "tsv") { b'\t' } else { b',' };
    let mut reader = ReaderBuilder::new().delimiter(delimiter).trim(csv::Trim::All).from_reader(file);
    let header = columns(reader.headers().map_err(|e| failed(&e))?).map_err(place)?;
    for record in reader.records() {
        let record = record.map_err(|e| failed(&e))?;
        let line = record.position().map_or(0, csv::Position::line);
        let cells = header.iter().cloned().zip(record.iter().map(Value::from)).collect();
        row(&Row { line, cells })?;
    }
    Ok(())
}

fn columns(header: &StringRecord) -> Result<Vec<Rc<str>>, String> {
    if header.len() > MAX_COLUMNS {
        return Err(format!("line 1: too many columns: expected at most {MAX_COLUMNS}, found {}", header.len()));
    }
    let names: Vec<Rc<str>> = header.iter().map(|name| name.trim_start_matches('\u{feff}').into()).collect();
    if !names.iter().any(|name| ["clip", "source", "path"].iter().any(|known| name.eq_ignore_ascii_case(known))) {
        let found = names.join(", ");
        return Err(format!("line 1: the header needs a column \"source\" or \"clip\": found {found}"));
    }
    Ok(names)
}

fn object(line: u64, text: &str) -> Result<Row, String> {
    let object: Map<String, Value> = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|e| format!("cannot read the table: line {line} is not a JSON object: {e}"))?;
    Ok(Row { line, cells: object.into_iter().map(|(name, value)| (name.into(), value)).collect() })
}
