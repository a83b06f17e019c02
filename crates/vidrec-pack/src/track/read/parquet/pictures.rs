//! Pictures in a column of a Parquet file, one after another.

use std::ops::Range;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::ByteArrayType;
use parquet::file::reader::FileReader;

use super::footer::fault;
use super::rows::{ParquetRows, unpanicking};
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;

/// The pictures of a column. They are read in order, so that each page of the file is decoded once.
pub(crate) struct ParquetPictures<'a> {
    file: &'a ParquetRows,
    leaf: usize,
    /// The reader of a row group, its rows, and the next row that it reads.
    group: Option<(ColumnReaderImpl<ByteArrayType>, Range<u64>, u64)>,
}

impl ParquetRows {
    /// Returns the pictures of a column, as Hugging Face's `datasets` writes them: a structure of `bytes` and `path`.
    ///
    /// # Errors
    ///
    /// The file has no such column.
    pub fn pictures(&self, column: &str) -> Result<ParquetPictures<'_>> {
        let schema = self.reader().metadata().file_metadata().schema_descr();
        let is_it =
            |&i: &usize| matches!(schema.column(i).path().parts(), [root, leaf] if root == column && leaf == "bytes");
        let leaf = (0..schema.num_columns()).find(is_it);
        let leaf = leaf.ok_or_else(|| Error::usage(format!("the file has no pictures in the column {column:?}")))?;
        Ok(ParquetPictures { file: self, leaf, group: None })
    }
}

impl ParquetPictures<'_> {
    /// The bytes of the picture in a row, which must come after the rows read before.
    ///
    /// # Errors
    ///
    /// There is no such row or no picture in it, the picture is too large, or the file is damaged.
    pub fn get(&mut self, row: u64) -> Result<Vec<u8>> {
        unpanicking(|| self.read(row)).map_err(|e| Error::usage(format!("row {row}: {e:#}")))
    }

    fn read(&mut self, row: u64) -> Result<Vec<u8>> {
        if !self.group.as_ref().is_some_and(|(_, rows, next)| rows.contains(&row) && *next <= row) {
            self.group = Some(self.open_group(row)?);
        }
        let Some((reader, _, next)) = &mut self.group else { return Err(Error::internal("no row group is open")) };
        let short = || Error::usage("the row group has fewer rows than its metadata says");
        let skip = usize::try_from(row - *next).map_err(|_| short())?;
        if reader.skip_records(skip).map_err(fault)? != skip {
            return Err(short());
        }
        let (mut defined, mut values) = (Vec::new(), Vec::new());
        let (rows, ..) = reader.read_records(1, Some(&mut defined), None, &mut values).map_err(fault)?;
        *next = row + 1;
        if rows != 1 {
            return Err(short());
        }
        let picture = values.pop().ok_or_else(|| Error::usage("there is no picture, or only the path of one"))?;
        if picture.len() as u64 > limits::MAX_RECORD_BYTES {
            let e = Error::limit("the picture is too long").expected(limits::MAX_RECORD_BYTES);
            return Err(e.found(picture.len()));
        }
        Ok(picture.data().to_vec())
    }

    /// The row group that has a row.
    fn open_group(&self, row: u64) -> Result<(ColumnReaderImpl<ByteArrayType>, Range<u64>, u64)> {
        let mut first = 0u64;
        for (number, group) in self.file.reader().metadata().row_groups().iter().enumerate() {
            let end = first.saturating_add(u64::try_from(group.num_rows()).unwrap_or(0));
            if (first..end).contains(&row) {
                let group = self.file.reader().get_row_group(number).map_err(fault)?;
                let ColumnReader::ByteArrayColumnReader(reader) = group.get_column_reader(self.leaf).map_err(fault)?
                else {
                    return Err(Error::usage("the pictures are not bytes"));
                };
                return Ok((reader, first..end, first));
            }
            first = end;
        }
        Err(Error::usage("the row is missing").found(format!("{first} rows")))
    }
}
