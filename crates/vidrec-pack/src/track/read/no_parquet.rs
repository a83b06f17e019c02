//! What stands for `parquet` in a build without the feature `interop`. Its error says how to get a build that can read such files.

use std::ops::Range;
use std::path::Path;

use super::column_rows::ColumnRows;
use super::open::{OpenFile, ValueFile};
use super::table::Table;
use vidrec_format::error::{Error, Result};

pub(super) fn absent<T>(kind: &str) -> Result<T> {
    let e = Error::usage(format!(
        "this build of vidrec cannot read {kind} files: it was built without its feature \"interop\""
    ));
    Err(e.help("use a released wheel or program, or build one from a checkout with `cargo install --path .`"))
}

pub(super) fn read(_: ValueFile, _: &Path) -> Result<Table> {
    absent("Parquet")
}

/// A file that cannot be opened: the type has no values, so nobody can call its methods.
pub(crate) enum ParquetRows {}

impl ParquetRows {
    pub fn open(_: &Path) -> Result<Self> {
        absent("Parquet")
    }

    pub fn open_by(_: &Path, _: OpenFile<'_>) -> Result<Self> {
        absent("Parquet")
    }

    pub fn rows(&self) -> u64 {
        match *self {}
    }

    pub fn has(&self, _: &str) -> bool {
        match *self {}
    }

    pub fn column(&self, _: &str, _: Range<u64>) -> Result<ColumnRows> {
        match *self {}
    }

    pub fn json(&self, _: &str, _: Range<u64>) -> Result<ColumnRows> {
        match *self {}
    }

    pub fn pictures(&self, _: &str) -> Result<ParquetPictures<'_>> {
        match *self {}
    }
}

/// The pictures of such a file.
pub(crate) struct ParquetPictures<'a>(&'a ParquetRows);

impl ParquetPictures<'_> {
    pub fn get(&mut self, _: u64) -> Result<Vec<u8>> {
        match *self.0 {}
    }
}
