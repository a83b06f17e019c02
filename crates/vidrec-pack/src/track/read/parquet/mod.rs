//! Parquet tables with columns of numbers, of texts, of lists of numbers that all have the same length, or of gray pictures as
//! PNG files.

mod chunks;
mod footer;
mod pictures;
mod rows;
mod structures;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use parquet::file::reader::FileReader;
use parquet::record::Field;

use super::open::{Depth, MAX_BYTES, ValueFile};
use super::pictures::read_png;
use super::table::Table;
use crate::track::array::Array;
use footer::{fault, open_table};
pub(crate) use rows::ParquetRows;
use vidrec_core::dataset::writer::TrackValues;
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;

/// Reads all columns of these kinds, and ignores the others.
pub(super) fn read(file: ValueFile, path: &Path) -> Result<Table> {
    // The parquet crate may panic on some damaged files.
    catch_unwind(AssertUnwindSafe(|| read_columns(file)))
        .unwrap_or_else(|_| Err(Error::usage("the file is not a valid Parquet file").file(path).without_file()))
}

fn read_columns(file: ValueFile) -> Result<Table> {
    let reader = open_table(file)?;
    let metadata = reader.metadata();
    let sizes = metadata.row_groups().iter().map(|group| u64::try_from(group.total_byte_size()).unwrap_or(u64::MAX));
    let bytes = sizes.fold(0u64, u64::saturating_add);
    if bytes > MAX_BYTES {
        return Err(Error::limit("the table is too large").expected(format!("at most {MAX_BYTES} bytes")).found(bytes));
    }
    let mut columns: Vec<(String, Option<Column>)> = Vec::new();
    for (row, fields) in reader.get_row_iter(None).map_err(fault)?.enumerate() {
        let fields = fields.map_err(fault)?;
        if row == 0 {
            if fields.len() > limits::MAX_COLUMNS {
                return Err(Error::limit("the table has too many columns").found(fields.len()));
            }
            columns = fields.get_column_iter().map(|(name, field)| (name.clone(), Column::of(field))).collect();
        }
        for ((name, column), (_, field)) in columns.iter_mut().zip(fields.get_column_iter()) {
            // A column that begins with values must go on with the same kind.
            if let Some(column) = column
                && !column.push(field)
            {
                return Err(Error::usage(format!(
                    "column {name:?} changes its type in row {row}, or a value is missing"
                ))
                .found(field.to_string().chars().take(80).collect::<String>()));
            }
        }
    }
    let array = |(name, column): (String, Option<Column>)| Some((name, column?.into_array()));
    Ok(Table(columns.into_iter().filter_map(array).collect()))
}

/// A column that is being read.
struct Column {
    values: TrackValues,
    /// The length of its lists, or height and width of its pictures. Empty for plain values.
    sides: Vec<usize>,
    rows: usize,
}

impl Column {
    /// Creates a column that begins with this value. Returns `None` if tracks have no values of its kind.
    fn of(first: &Field) -> Option<Self> {
        if let Some((_, sides)) = picture(first) {
            return Some(Column { values: TrackValues::U16(Vec::new()), sides: sides.into(), rows: 0 });
        }
        let (first, sides) = match first {
            Field::ListInternal(list) => (list.elements().first()?, vec![list.len()]),
            other => (other, vec![]),
        };
        let values = match first {
            Field::Float(_) | Field::Float16(_) => TrackValues::F32(Vec::new()),
            Field::Double(_) => TrackValues::F64(Vec::new()),
            Field::Byte(_) | Field::Short(_) => TrackValues::I16(Vec::new()),
            Field::UShort(_) => TrackValues::U16(Vec::new()),
            Field::Int(_) => TrackValues::I32(Vec::new()),
            Field::Long(_) | Field::UInt(_) => TrackValues::I64(Vec::new()),
            Field::UByte(_) => TrackValues::U8(Vec::new()),
            Field::Bool(_) => TrackValues::Bool(Vec::new()),
            Field::Str(_) if sides.is_empty() => TrackValues::Texts(Vec::new()),
            _ => return None,
        };
        Some(Column { values, sides, rows: 0 })
    }

    /// Adds a value. Returns whether it is like the first one.
    fn push(&mut self, field: &Field) -> bool {
        self.rows += 1;
        match (field, &self.sides[..], &mut self.values) {
            (field, [_, _], TrackValues::U16(numbers)) => picture(field).is_some_and(|(picture, sides)| {
                numbers.extend(picture);
                self.sides == sides
            }),
            (Field::ListInternal(list), &[side], values) => {
                list.len() == side && list.elements().iter().all(|field| push(values, field))
            }
            (field, [], values) => push(values, field),
            _ => false,
        }
    }

    fn into_array(self) -> Array {
        let shape = [self.rows].into_iter().chain(self.sides).collect();
        Array { values: self.values, shape }
    }
}

/// The picture of a cell: a PNG file, or a structure with one in `bytes`, as Hugging Face's `datasets` writes it.
fn picture(field: &Field) -> Option<Depth> {
    match field {
        Field::Bytes(png) => read_png(png.data()).ok(),
        Field::Group(row) => {
            let png = row.get_column_iter().find(|(name, _)| *name == "bytes");
            png.and_then(|(_, field)| if matches!(field, Field::Bytes(_)) { picture(field) } else { None })
        }
        _ => None,
    }
}

fn push(values: &mut TrackValues, field: &Field) -> bool {
    match (values, field) {
        (TrackValues::F32(n), Field::Float(value)) => n.push(*value),
        (TrackValues::F32(n), Field::Float16(value)) => n.push(value.to_f32()),
        (TrackValues::F64(n), Field::Double(value)) => n.push(*value),
        (TrackValues::I16(n), Field::Byte(value)) => n.push((*value).into()),
        (TrackValues::I16(n), Field::Short(value)) => n.push(*value),
        (TrackValues::I32(n), Field::Int(value)) => n.push(*value),
        (TrackValues::U16(n), Field::UShort(value)) => n.push(*value),
        (TrackValues::I64(n), Field::Long(value)) => n.push(*value),
        (TrackValues::I64(n), Field::UInt(value)) => n.push((*value).into()),
        (TrackValues::Bool(n), Field::Bool(value)) => n.push(*value),
        (TrackValues::U8(n), Field::UByte(value)) => n.push(*value),
        (TrackValues::Texts(texts), Field::Str(value)) => texts.push(value.clone()),
        _ => return false,
    }
    true
}
