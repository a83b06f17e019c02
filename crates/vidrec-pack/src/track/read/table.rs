//! Named arrays: the columns of a table, or the arrays of an archive.

use crate::track::array::Array;
use vidrec_core::dataset::writer::TrackValues;
use vidrec_format::error::{Error, Result};
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
    macro_rules! woven {
        ($variant:ident) => {{
            let lists = columns.iter().filter_map(|column| match &column.values {
                TrackValues::$variant(n) => Some(n),
                _ => None,
            });
            let lists: Vec<_> = lists.collect();
            TrackValues::$variant((0..rows).flat_map(|row| lists.iter().map(move |list| list[row])).collect())
        }};
    }
    let values = match kind {
        TrackType::F32 => woven!(F32),
        TrackType::F64 => woven!(F64),
        TrackType::I16 => woven!(I16),
        TrackType::I32 => woven!(I32),
        TrackType::I64 => woven!(I64),
        TrackType::U8 => woven!(U8),
        TrackType::U16 => woven!(U16),
        TrackType::Bool => woven!(Bool),
        TrackType::Utf8 => TrackValues::Texts(Vec::new()),
    };
    Ok(Array { values, shape: vec![rows, columns.len()] })
}
