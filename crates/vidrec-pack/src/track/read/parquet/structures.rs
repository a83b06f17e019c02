//! Columns of structures, such as LeRobot's of language, as JSON texts.

use std::ops::Range;
use std::sync::Arc;

use parquet::file::reader::FileReader;
use parquet::record::Field;
use parquet::schema::types::Type;
use serde_json::Value;

use super::footer::fault;
use super::rows::{ParquetRows, unpanicking};
use crate::track::read::column_rows::ColumnRows;
use crate::track::read::open::MAX_BYTES;
use vidrec_core::dataset::writer::TrackValues;
use vidrec_format::error::{Error, Result};

impl ParquetRows {
    /// Returns the contents of a column in these rows, each as a JSON text: what a row has, or `[]` if it has nothing.
    ///
    /// # Errors
    ///
    /// The column or a row does not exist, the file is damaged, the values are too large, or of a type that JSON lacks.
    pub fn json(&self, column: &str, rows: Range<u64>) -> Result<ColumnRows> {
        unpanicking(|| self.read_json(column, rows)).map_err(|e| Error::usage(format!("column {column:?}: {e:#}")))
    }

    fn read_json(&self, column: &str, rows: Range<u64>) -> Result<ColumnRows> {
        let schema = self.only(column)?;
        let (mut texts, mut bytes, mut first) = (Vec::new(), 0, 0u64);
        for (number, group) in self.reader().metadata().row_groups().iter().enumerate() {
            let end = first.saturating_add(u64::try_from(group.num_rows()).unwrap_or(0));
            let wanted = rows.start.max(first)..rows.end.min(end);
            let (skip, take) = (wanted.start - first, wanted.end.saturating_sub(wanted.start));
            first = end;
            if take == 0 {
                continue;
            }
            let sizes = self
                .leaves(column)
                .map(|leaf| u64::try_from(group.column(leaf).uncompressed_size()).unwrap_or(u64::MAX));
            let size = sizes.fold(0, u64::saturating_add);
            if size > MAX_BYTES {
                return Err(Error::limit("the column is too large").expected(MAX_BYTES).found(size));
            }
            let group = self.reader().get_row_group(number).map_err(fault)?;
            let found = group.get_row_iter(Some(schema.clone())).map_err(fault)?;
            let most = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
            for row in found.skip(most(skip)).take(most(take)) {
                let row = row.map_err(fault)?;
                let text = match row.get_column_iter().next() {
                    None | Some((_, Field::Null)) => "[]".to_owned(),
                    Some((_, field)) => json(field)?.to_string(),
                };
                bytes += (size_of::<String>() + text.len()) as u64;
                if bytes > MAX_BYTES {
                    return Err(Error::limit("the column is too large").expected(MAX_BYTES).found(bytes));
                }
                texts.push(text);
            }
        }
        if texts.len() as u64 != rows.end.saturating_sub(rows.start) {
            return Err(Error::usage("rows are missing").expected(rows.end).found(format!("{} rows", self.rows())));
        }
        let count = texts.len();
        let (counts, repeated) = (vec![1; count], vec![0; count]);
        Ok(ColumnRows { values: TrackValues::Texts(texts), counts, depth: 0, repeated })
    }

    /// The schema of the file without its other columns.
    fn only(&self, column: &str) -> Result<Type> {
        let schema = self.reader().metadata().file_metadata().schema();
        let found = schema.get_fields().iter().find(|field| field.name() == column);
        let found = found.ok_or_else(|| Error::usage("the file does not have this column"))?;
        Type::group_type_builder(schema.name()).with_fields(vec![Arc::clone(found)]).build().map_err(fault)
    }
}

fn json(field: &Field) -> Result<Value> {
    Ok(match field {
        Field::Null => Value::Null,
        Field::Str(text) => text.as_str().into(),
        Field::Bool(value) => (*value).into(),
        Field::Int(number) => (*number).into(),
        Field::Long(number) => (*number).into(),
        Field::Float(number) => (*number).into(),
        Field::Double(number) => (*number).into(),
        Field::ListInternal(list) => list.elements().iter().map(json).collect::<Result<Vec<_>>>()?.into(),
        Field::Group(row) => {
            let fields = row.get_column_iter().map(|(name, field)| Ok((name.clone(), json(field)?)));
            Value::Object(fields.collect::<Result<_>>()?)
        }
        _ => return Err(Error::usage("the column has values of another type").expected("texts, numbers and lists")),
    })
}
