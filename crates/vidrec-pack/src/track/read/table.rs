//! Named arrays: the columns of a table such as a CSV file, or the arrays of an archive.

use crate::track::array::{Array, numbers, typed};
use vidrec_core::dataset::writer::TrackValues;
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;
use vidrec_format::track::schema::TrackType;

/// Arrays by name, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Table(pub Vec<(String, Array)>);

/// The most names in an error.
const SHOWN: usize = 20;

impl Table {
    fn find(&self, name: &str) -> Result<&Array> {
        let found = self.0.iter().find(|(known, _)| known == name).map(|(_, array)| array);
        found.ok_or_else(|| {
            let names: Vec<&str> = self.0.iter().take(SHOWN).map(|(name, _)| name.as_str()).collect();
            Error::usage(format!("there is no column or array {name:?}")).found(names.join(", "))
        })
    }

    /// Returns a column or array.
    pub fn column(&self, name: &str) -> Result<Array> {
        self.find(name).cloned()
    }

    /// Returns the values: the named columns side by side, or without names all columns except `times`.
    pub fn values(&self, names: &[String], times: &[&str]) -> Result<Array> {
        let columns: Vec<&Array> = if names.is_empty() {
            self.0.iter().filter(|(name, _)| !times.contains(&name.as_str())).map(|(_, array)| array).collect()
        } else {
            names.iter().map(|name| self.find(name)).collect::<Result<_>>()?
        };
        match columns[..] {
            [] => Err(Error::usage("the table has no column of values")),
            [one] => Ok(one.clone()),
            [first, ..] => side_by_side(&columns, first),
        }
    }
}

/// Returns columns of numbers as one array of their common type.
fn side_by_side(columns: &[&Array], first: &Array) -> Result<Array> {
    let kind = first.values.kind();
    let is_column = |column: &&Array| column.shape.len() == 1 && column.shape == first.shape;
    if !columns.iter().all(is_column) || columns.iter().any(|c| c.values.kind() != kind) || kind == TrackType::Utf8 {
        return Err(Error::usage(
            "columns that together form a value need numbers of one type, and the same number of them",
        )
        .help("add values=A+B to the description of the track"));
    }
    let rows = first.len();
    let lists: Vec<_> = columns.iter().filter_map(|column| numbers(&column.values)).collect();
    let woven: Vec<_> = (0..rows).flat_map(|row| lists.iter().map(move |list| list[row])).collect();
    let values = typed(&woven, kind).map_err(|_| Error::internal("a number lost its type"))?;
    Ok(Array { values, shape: vec![rows, columns.len()], ends: None })
}

/// Reads a text table with a header. A column in which all cells are numbers becomes `f64`, and any other column becomes
/// texts.
pub(super) fn read_csv(bytes: &[u8], delimiter: u8) -> Result<Table> {
    let fault = |e: csv::Error| Error::usage(format!("cannot read the table: {e}"));
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).trim(csv::Trim::All).from_reader(bytes);
    let header = reader.headers().map_err(fault)?.clone();
    if header.len() > limits::MAX_COLUMNS {
        let e = Error::limit("the table has too many columns").expected(format!("at most {}", limits::MAX_COLUMNS));
        return Err(e.found(header.len()));
    }
    let mut columns: Vec<Vec<String>> = vec![Vec::new(); header.len()];
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(fault)? {
        columns.iter_mut().zip(&record).for_each(|(column, cell)| column.push(cell.to_owned()));
    }
    Ok(Table(header.iter().map(str::to_owned).zip(columns.into_iter().map(array)).collect()))
}

fn array(cells: Vec<String>) -> Array {
    let numbers: Option<Vec<f64>> = cells.iter().map(|cell| cell.parse().ok()).collect();
    Array::row(numbers.map_or(TrackValues::Texts(cells), TrackValues::F64))
}
