//! Manifests: tables with a header line, one video a line.

use std::fs::File;
use std::path::Path;

use csv::{ReaderBuilder, StringRecord};
use serde_json::{Map, Value};

use super::inputs::{Found, Label, source_name};
use crate::{Error, Result, limits};

/// The character between columns, by the file's ending; `None` for a file that is no manifest.
pub(super) fn delimiter(path: &Path) -> Option<u8> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "csv" => Some(b','),
        "tsv" => Some(b'\t'),
        _ => None,
    }
}

/// Adds the videos of a manifest, in its order. Paths are relative to the manifest's folder.
///
/// Column `path` is required. Column `label` may be missing or empty; if every label of the file is a whole number they are
/// numbers, else names. Every other column that is not empty becomes an attribute.
pub(super) fn read(path: &Path, delimiter: u8, found: &mut Vec<Found>) -> Result<()> {
    let file = File::open(path).map_err(|e| Error::io("open the manifest", path, e))?;
    let mut reader = ReaderBuilder::new().delimiter(delimiter).trim(csv::Trim::All).from_reader(file);
    let header = reader.headers().map_err(|e| table_error(path, e))?.clone();
    let columns = Columns::find(&header).map_err(|e| e.file(path))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let first = found.len();
    for record in reader.records() {
        let record = record.map_err(|e| table_error(path, e))?;
        let line = record.position().map_or(0, csv::Position::line);
        found.push(
            columns.row(&header, &record, folder).map_err(|(column, what)| {
                Error::usage(format!("line {line}, column \"{column}\": {what}")).file(path)
            })?,
        );
    }
    number_labels(&mut found[first..]).map_err(|e| e.file(path))
}

fn table_error(path: &Path, e: csv::Error) -> Error {
    // The crate's own message names line, byte and the number of fields expected and found.
    Error::usage(format!("cannot read the table: {e}")).file(path)
}

/// Where the columns are that mean something.
struct Columns {
    path: usize,
    label: Option<usize>,
}

impl Columns {
    fn find(header: &StringRecord) -> Result<Self> {
        let at = |name: &str| header.iter().position(|h| h.eq_ignore_ascii_case(name));
        let named: Vec<&str> = header.iter().collect();
        let path = at("path").ok_or_else(|| {
            Error::usage("line 1: the header has no column \"path\"")
                .found(named.join(", "))
                .help("the first line must name the columns, for instance: path,label")
        })?;
        Ok(Columns { path, label: at("label") })
    }

    fn row(
        &self,
        header: &StringRecord,
        record: &StringRecord,
        folder: &Path,
    ) -> std::result::Result<Found, (String, String)> {
        let written = record.get(self.path).unwrap_or_default();
        if written.is_empty() {
            return Err((header[self.path].to_owned(), "the path is empty".into()));
        }
        let label = self.label.and_then(|i| record.get(i)).unwrap_or_default();
        let label = if label.is_empty() { Label::None } else { Label::Name(label.to_owned()) };
        let mut attributes = Map::new();
        for (i, (name, value)) in header.iter().zip(record.iter()).enumerate() {
            if i != self.path && Some(i) != self.label && !value.is_empty() {
                attributes.insert(name.to_owned(), Value::from(value));
            }
        }
        Ok(Found { path: folder.join(written), source: source_name(Path::new(written)), label, attributes })
    }
}

/// Turns labels into numbers if all of them are.
fn number_labels(rows: &mut [Found]) -> Result<()> {
    let numbers: Option<Vec<Option<u64>>> = rows
        .iter()
        .map(|row| match &row.label {
            Label::Name(text) => text.parse().ok().map(Some),
            _ => Some(None),
        })
        .collect();
    for (row, number) in rows.iter_mut().zip(numbers.unwrap_or_default()) {
        let Some(number) = number else { continue };
        let small = u32::try_from(number).ok().filter(|&n| n <= limits::MAX_LABEL as u32);
        row.label = Label::Number(small.ok_or_else(|| {
            Error::limit(format!("{}: the label is too large", row.source))
                .expected(format!("at most {}", limits::MAX_LABEL))
                .found(number)
        })?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<Found>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("list.csv");
        std::fs::write(&path, text).unwrap();
        let mut found = Vec::new();
        read(&path, b',', &mut found)?;
        Ok(found)
    }

    #[test]
    fn names_numbers_and_none() {
        let rows = parse("path,label\n a.mp4 , run\n\"b, c.mp4\",3\nd.mp4,\n").unwrap();
        let labels: Vec<_> = rows.iter().map(|r| r.label.clone()).collect();
        assert_eq!(labels, [Label::Name("run".into()), Label::Name("3".into()), Label::None]);
        assert_eq!(rows[1].source, "b, c.mp4");
        let rows = parse("label,path\n7,a.mp4\n,b.mp4\n0,c.mp4\n").unwrap();
        let labels: Vec<_> = rows.iter().map(|r| r.label.clone()).collect();
        assert_eq!(labels, [Label::Number(7), Label::None, Label::Number(0)]);
    }

    #[test]
    fn other_columns_are_attributes() {
        let rows = parse("path,label,caption,split\na.mp4,x,\"a man, running\",\n").unwrap();
        assert_eq!(rows[0].attributes, *serde_json::json!({"caption": "a man, running"}).as_object().unwrap());
    }

    #[test]
    fn errors_name_file_line_and_column() {
        for (text, parts) in [
            ("file,label\na.mp4,1\n", ["line 1", "no column \"path\"", "file, label"]),
            ("path,label\na.mp4,1\n,2\n", ["line 3", "column \"path\"", "empty"]),
            ("path,label\na.mp4,1\nb.mp4\n", ["line: 3", "found record with 1 fields", "list.csv"]),
            ("path,label\na.mp4,99999999\n", ["too large", "16777216", "a.mp4"]),
        ] {
            let e = parse(text).unwrap_err().to_string();
            for part in parts {
                assert!(e.contains(part), "{e:?} lacks {part:?}");
            }
        }
    }
}
