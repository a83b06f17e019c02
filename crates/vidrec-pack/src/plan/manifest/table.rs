//! `.csv` and `.tsv`: a header line that names the columns, then one clip on each line.

use std::fs::File;

use csv::{ReaderBuilder, StringRecord};

use super::super::manifest_columns::ColumnTally;
use super::super::near_names::meant;
use super::columns::{Cells, ColumnRole};
use super::row::{Context, FoundVideos, ManifestRow, line};
use super::{kinetics, list};
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;

/// Reads a table, or another file with its extension: a Kinetics manifest, or paths and labels without a header.
pub(super) fn read(
    context: &Context<'_>,
    delimiter: u8,
    columns: &mut ColumnTally,
    found: &mut FoundVideos,
) -> Result<()> {
    let file = context.open()?;
    let mut reader = ReaderBuilder::new().delimiter(delimiter).trim(csv::Trim::All).from_reader(file);
    let header = reader.headers().map_err(|e| fault(context, e))?.clone();
    if header.len() > limits::MAX_COLUMNS {
        return Err(Error::limit("line 1: the table has too many columns")
            .file(context.file)
            .expected(format!("at most {}", limits::MAX_COLUMNS))
            .found(header.len()));
    }
    if kinetics::is_header(&header) && context.options.path_column.is_none() {
        let list = kinetics::List::new(context, &header, columns)?;
        return rows(context, reader, found, |record| list.row(record));
    }
    let roles: Vec<ColumnRole> = header.iter().map(|name| ColumnRole::among(context.options, name)).collect();
    if !roles.contains(&ColumnRole::Path) {
        return if list::is_row(context, &context.text()?) {
            list::read(context, columns)?.into_iter().try_for_each(|row| found.push(context, row))
        } else {
            Err(no_paths(context, &header))
        };
    }
    for (name, role) in header.iter().zip(&roles) {
        role.in_report().into_iter().for_each(|column| columns.add(column, name));
    }
    rows(context, reader, found, |record| {
        let line = line(record);
        let mut cells = Cells::default();
        for ((name, &role), value) in header.iter().zip(&roles).zip(record) {
            cells.set(role, name, value.into()).map_err(|what| context.bad(line, name, what))?;
        }
        cells.finish(line).map_err(|(column, what)| context.bad(line, column, what))
    })
}

/// Adds what `row` makes of each line below the header.
fn rows(
    context: &Context<'_>,
    mut reader: csv::Reader<File>,
    found: &mut FoundVideos,
    mut row: impl FnMut(&StringRecord) -> Result<ManifestRow>,
) -> Result<()> {
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).map_err(|e| fault(context, e))? {
        found.push(context, row(&record)?)?;
    }
    Ok(())
}

fn fault(context: &Context<'_>, e: csv::Error) -> Error {
    // The message of the csv crate names the line, the byte and the number of fields expected and found.
    Error::usage(format!("cannot read the table: {e}")).file(context.file)
}

/// The most column names in an error.
const COLUMNS_SHOWN: usize = 20;

fn no_paths(context: &Context<'_>, header: &StringRecord) -> Error {
    let mut found = header.iter().take(COLUMNS_SHOWN).collect::<Vec<_>>().join(", ");
    if header.len() > COLUMNS_SHOWN {
        found += &format!(" and {} more", header.len() - COLUMNS_SHOWN);
    }
    let near = header.iter().find(|name| meant(name) == Some("path"));
    let help = match near {
        Some(name) => format!("did you mean \"path\" by {name:?}?"),
        None => "the first line must name the columns, for instance: path,label".into(),
    };
    Error::usage("line 1: the header has no column \"path\" or \"file_name\", and the line is not a path and a label")
        .file(context.file)
        .found(found)
        .help(help)
}
