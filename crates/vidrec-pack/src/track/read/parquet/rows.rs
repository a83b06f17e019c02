//! Some rows of a column of a Parquet file, read without the rows before and after them.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use parquet::basic::{ConvertedType, LogicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray};
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::footer::{fault, open_table};
use crate::track::read::column_rows::ColumnRows;
use crate::track::read::open::MAX_BYTES;
use crate::track::read::open::{OpenFile, ValueFile, open};
use crate::video::open_regular;
use vidrec_core::dataset::writer::TrackValues;
use vidrec_format::error::{Error, Result};

/// The number of rows that are decoded at a time.
const BATCH: usize = 4096;

/// A Parquet file from which rows of some columns are read: numbers, texts, and lists of them, including nested
/// lists.
pub(crate) struct ParquetRows {
    reader: SerializedFileReader<ValueFile>,
    rows: u64,
}

impl ParquetRows {
    /// Opens a file, and reads its metadata.
    ///
    /// # Errors
    ///
    /// The file is not on this machine, is not a Parquet file, or is too large.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_by(path, &open_regular)
    }

    /// Opens a file with `how`, and reads its metadata.
    pub fn open_by(path: &Path, how: OpenFile<'_>) -> Result<Self> {
        let file = open(path, how)?;
        unpanicking(|| {
            let reader = open_table(file)?;
            let count = |n: i64| u64::try_from(n).map_err(|_| Error::usage("the number of rows is negative"));
            let groups = reader.metadata().row_groups();
            let rows = groups.iter().try_fold(0u64, |sum, group| Ok(sum.saturating_add(count(group.num_rows())?)))?;
            Ok(ParquetRows { reader, rows })
        })
    }

    pub(super) fn reader(&self) -> &SerializedFileReader<ValueFile> {
        &self.reader
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether a column of this name exists.
    pub fn has(&self, column: &str) -> bool {
        self.leaves(column).next().is_some()
    }

    pub(super) fn leaves(&self, column: &str) -> impl Iterator<Item = usize> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        (0..schema.num_columns()).filter(move |&i| schema.get_column_root(i).name() == column)
    }

    /// Returns the contents of a column in these rows.
    ///
    /// # Errors
    ///
    /// The column or a row does not exist, the values are of a kind that tracks do not have, the file is damaged,
    /// or the values are too large.
    pub fn column(&self, column: &str, rows: Range<u64>) -> Result<ColumnRows> {
        unpanicking(|| self.read(column, rows)).map_err(|e| Error::usage(format!("column {column:?}: {e:#}")))
    }

    fn read(&self, column: &str, rows: Range<u64>) -> Result<ColumnRows> {
        let mut leaves = self.leaves(column);
        let leaf = leaves.next().ok_or_else(|| Error::usage("the file does not have this column"))?;
        if leaves.next().is_some() {
            return Err(
                Error::usage("the column has several values side by side").expected("numbers, texts or lists of them")
            );
        }
        if rows.end > self.rows {
            return Err(Error::usage("rows are missing").expected(rows.end).found(format!("{} rows", self.rows)));
        }
        let mut found = ColumnRows::default();
        let mut first = 0u64;
        for (number, group) in self.reader.metadata().row_groups().iter().enumerate() {
            let end = first.saturating_add(u64::try_from(group.num_rows()).unwrap_or(0));
            let wanted = rows.start.max(first)..rows.end.min(end);
            if !wanted.is_empty() || (number == 0 && rows.is_empty()) {
                let bytes = group.column(leaf).uncompressed_size();
                if u64::try_from(bytes).is_ok_and(|bytes| bytes > MAX_BYTES) {
                    return Err(Error::limit("the column is too large").expected(MAX_BYTES).found(bytes));
                }
                let group = self.reader.get_row_group(number).map_err(fault)?;
                let reader = group.get_column_reader(leaf).map_err(fault)?;
                found.add(self.kind(leaf)?, reader, (wanted.start - first, wanted.end.saturating_sub(wanted.start)))?;
            }
            first = end;
        }
        Ok(found)
    }

    fn kind(&self, leaf: usize) -> Result<ColumnKind> {
        let column = self.reader.metadata().file_metadata().schema_descr().column(leaf);
        let kind = match (column.physical_type(), column.converted_type(), column.logical_type_ref()) {
            (parquet::basic::Type::INT32, ConvertedType::INT_8 | ConvertedType::INT_16, _) => NumberKind::I16,
            (parquet::basic::Type::INT32, ConvertedType::UINT_8, _) => NumberKind::U8,
            (parquet::basic::Type::INT32, ConvertedType::UINT_32, _) => NumberKind::U32,
            (parquet::basic::Type::INT64, ConvertedType::UINT_64, _) => NumberKind::U64,
            (parquet::basic::Type::FIXED_LEN_BYTE_ARRAY, _, Some(LogicalType::Float16)) => NumberKind::F16,
            _ => NumberKind::AsStored,
        };
        Ok(ColumnKind { number: kind, most_defined: column.max_def_level(), depth: column.max_rep_level() })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberKind {
    I16,
    U8,
    U32,
    U64,
    F16,
    AsStored,
}

#[derive(Debug, Clone, Copy)]
struct ColumnKind {
    number: NumberKind,
    most_defined: i16,
    depth: i16,
}

impl ColumnRows {
    /// Adds rows of a row group: `rows` is how many to skip, and how many to take.
    fn add(&mut self, kind: ColumnKind, reader: ColumnReader, rows: (u64, u64)) -> Result<()> {
        self.depth = kind.depth;
        /// Converts the values of one Parquet type to values of a track.
        macro_rules! values {
            ($reader:expr, $variant:ident, $convert:expr) => {{
                if self.counts.is_empty() {
                    self.values = TrackValues::$variant(Vec::new());
                }
                let mut read = Vec::new();
                self.levels(kind, $reader, rows, &mut read)?;
                let TrackValues::$variant(values) = &mut self.values else {
                    return Err(Error::usage("the type of the column differs between row groups"));
                };
                for value in read {
                    values.push($convert(value)?);
                }
                Ok(())
            }};
        }
        match (reader, kind.number) {
            (ColumnReader::BoolColumnReader(reader), _) => values!(reader, Bool, Ok::<bool, Error>),
            (ColumnReader::Int32ColumnReader(reader), NumberKind::I16) => values!(reader, I16, narrow::<i32, i16>),
            (ColumnReader::Int32ColumnReader(reader), NumberKind::U8) => values!(reader, U8, narrow::<i32, u8>),
            (ColumnReader::Int32ColumnReader(reader), NumberKind::U32) => {
                values!(reader, I64, |n: i32| Ok(i64::from(n.cast_unsigned())))
            }
            (ColumnReader::Int32ColumnReader(reader), _) => values!(reader, I32, Ok::<i32, Error>),
            (ColumnReader::Int64ColumnReader(reader), NumberKind::U64) => {
                values!(reader, I64, |n: i64| narrow::<u64, i64>(n.cast_unsigned()))
            }
            (ColumnReader::Int64ColumnReader(reader), _) => values!(reader, I64, Ok::<i64, Error>),
            (ColumnReader::FloatColumnReader(reader), _) => values!(reader, F32, Ok::<f32, Error>),
            (ColumnReader::DoubleColumnReader(reader), _) => values!(reader, F64, Ok::<f64, Error>),
            (ColumnReader::ByteArrayColumnReader(reader), _) => values!(reader, Texts, text),
            (ColumnReader::FixedLenByteArrayColumnReader(reader), NumberKind::F16) => values!(reader, F32, half),
            _ => {
                Err(Error::usage("tracks cannot hold values of this type").expected("numbers, texts or lists of them"))
            }
        }
    }

    /// Reads the values of rows, and counts how many each row has.
    fn levels<T: DataType>(
        &mut self,
        kind: ColumnKind,
        mut reader: ColumnReaderImpl<T>,
        (skip, take): (u64, u64),
        values: &mut Vec<T::T>,
    ) -> Result<()> {
        let whole = |n: u64| usize::try_from(n).map_err(|_| Error::limit("there are too many rows"));
        let (skip, mut left) = (whole(skip)?, whole(take)?);
        let short = || Error::usage("the row group has fewer rows than its metadata says");
        if reader.skip_records(skip).map_err(fault)? != skip {
            return Err(short());
        }
        let most = MAX_BYTES as usize / size_of::<T::T>().max(1);
        while left > 0 {
            let (mut defined, mut repeated) = (Vec::new(), Vec::new());
            let batch = left.min(BATCH);
            let read = reader.read_records(batch, Some(&mut defined), Some(&mut repeated), values).map_err(fault)?;
            if read.0 == 0 {
                return Err(short());
            }
            left = left.saturating_sub(read.0);
            if values.len() > most {
                return Err(Error::limit("the rows have too many values").expected(most).found(values.len()));
            }
            for level in 0..read.2 {
                let repeated = repeated.get(level).copied().unwrap_or(0);
                if repeated == 0 {
                    self.counts.push(0);
                }
                // An empty cell or list has a level but no value.
                if defined.get(level).copied().unwrap_or(kind.most_defined) == kind.most_defined {
                    let count = self.counts.last_mut();
                    *count.ok_or_else(|| Error::usage("the first row begins in the middle of a list"))? += 1;
                    self.repeated.push(repeated);
                }
            }
        }
        Ok(())
    }
}

fn narrow<From: Copy + std::fmt::Display, To: TryFrom<From>>(n: From) -> Result<To> {
    To::try_from(n).map_err(|_| Error::usage("a number does not fit its type").found(n))
}

fn text(bytes: ByteArray) -> Result<String> {
    let text = bytes.as_utf8().map_err(|_| Error::usage("a text is not UTF-8"))?;
    Ok(text.to_owned())
}

fn half(bytes: FixedLenByteArray) -> Result<f32> {
    let two = bytes.data().try_into().map_err(|_| Error::usage("a float of 16 bits has the wrong length"))?;
    Ok(half::f16::from_le_bytes(two).to_f32())
}

/// Turns a panic into an error, because the parquet crate may panic on some damaged files.
pub(super) fn unpanicking<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(Error::usage("the file is not a valid Parquet file")))
}
