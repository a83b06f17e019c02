//! `.csv` and `.tsv`: a header line that names the columns, one clip a line.

use std::fs::File;

use csv::{ReaderBuilder, StringRecord};

use super::columns::{Cells, Role};
use super::{Context, Row, kinetics, list};
use crate::{Error, Result};

/// Reads a table, or what else has its ending: a list of Kinetics, or paths and labels without a header.
pub(super) fn read(context: &Context<'_>, delimiter: u8) -> Result<Vec<Row>> {
    let file = File::open(context.file).map_err(|e| Error::io("open the manifest", context.file, e))?;
    let mut reader = ReaderBuilder::new().delimiter(delimiter).trim(csv::Trim::All).from_reader(file);
    let header = reader.headers().map_err(|e| fault(context, e))?.clone();
    if kinetics::is_header(&header) {
        return kinetics::read(context, &header, reader.records());
    }
    if !header.iter().any(|name| Role::of(name) == Role::Path) {
        return if list::is_row(context, &context.text()?) {
            list::read(context)
        } else {
            Err(no_paths(context, &header))
        };
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| fault(context, e))?;
        let line = line(&record);
        let mut cells = Cells::default();
        for (name, value) in header.iter().zip(&record) {
            cells.set(name, value.into()).map_err(|what| context.bad(line, name, what))?;
        }
        rows.push(cells.finish(line).map_err(|(column, what)| context.bad(line, column, what))?);
    }
    Ok(rows)
}

pub(super) fn line(record: &StringRecord) -> u64 {
    record.position().map_or(0, csv::Position::line)
}

pub(super) fn fault(context: &Context<'_>, e: csv::Error) -> Error {
    // The crate's own message names line, byte and the number of fields expected and found.
    Error::usage(format!("cannot read the table: {e}")).file(context.file)
}

fn no_paths(context: &Context<'_>, header: &StringRecord) -> Error {
    Error::usage("line 1: the header has no column \"path\" or \"file_name\", and the line is not a path and a label")
        .file(context.file)
        .found(header.iter().collect::<Vec<_>>().join(", "))
        .help("the first line must name the columns, for instance: path,label")
}
