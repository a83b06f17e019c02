//! `.csv` and `.tsv`: a header line that names the columns, then one clip on each line. `.jsonl`: the same as objects.

use csv::{ByteRecord, ReaderBuilder, StringRecord};
use serde_json::{Map, Value};

use super::columns::{ColumnRole, ColumnTally, no_paths};
use super::context::{Context, ManifestVideos};
use super::row::ManifestRow;
use super::{ids, list};
use crate::plan::text::{body, decoded, lines};
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;

/// Reads a table, or another file with its extension: a Kinetics manifest, or paths and labels without a header.
pub(super) fn read(
    context: &Context<'_>,
    delimiter: u8,
    columns: &mut ColumnTally,
    found: &mut ManifestVideos,
) -> Result<()> {
    let bytes = context.bytes()?;
    let text = body(&bytes, context.file)?;
    let mut reader = ReaderBuilder::new().delimiter(delimiter).trim(csv::Trim::All).flexible(true).from_reader(text);
    let header = reader.byte_headers().map_err(|e| fault(context, &e))?.clone();
    let header = string(&header).map_err(|what| Error::usage(format!("line 1: {what}")).file(context.file))?;
    if header.len() > limits::MAX_COLUMNS {
        return Err(Error::limit("line 1: the table has too many columns")
            .file(context.file)
            .expected(format!("at most {}", limits::MAX_COLUMNS))
            .found(header.len()));
    }
    let rows = Rows { context, text, reader, columns: header.len(), at: (0, 1) };
    if ids::is_kinetics(&header) && context.options.path_column.is_none() {
        let list = ids::Kinetics::new(context, &header, columns)?;
        return rows.each(found, |line, record| list.row(line, record));
    }
    let roles: Vec<ColumnRole> = header.iter().map(|name| ColumnRole::among(context.options, name)).collect();
    if !roles.contains(&ColumnRole::Path) {
        return if list::is_row(context, text) {
            list::read(context, text, columns)?.into_iter().try_for_each(|row| found.push(context, row))
        } else {
            let first = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
            let e = no_paths(context.file, &header.iter().collect::<Vec<_>>());
            Err(match separator(context, &String::from_utf8_lossy(first), delimiter) {
                Some(help) => e.help(help),
                None => e,
            })
        };
    }
    header.iter().zip(&roles).for_each(|(name, &role)| columns.add(role, name));
    rows.each(found, |line, record| ManifestRow::of(&header, &roles, line, record))
}

/// The lines below the header.
struct Rows<'a> {
    context: &'a Context<'a>,
    text: &'a [u8],
    reader: csv::Reader<&'a [u8]>,
    columns: usize,
    /// The offset up to which line ends are counted, and the number of the line there.
    at: (usize, u64),
}

impl Rows<'_> {
    /// Adds what `row` makes of each line.
    fn each(mut self, found: &mut ManifestVideos, row: impl Fn(u64, &StringRecord) -> ManifestRow) -> Result<()> {
        let mut record = ByteRecord::new();
        while self.reader.read_byte_record(&mut record).map_err(|e| fault(self.context, &e))? {
            let line = self.line(&record);
            if record.iter().all(<[u8]>::is_empty) {
                continue;
            }
            let mut row = match string(&record) {
                Ok(record) => row(line, &record),
                Err(what) => ManifestRow::bad(line, what),
            };
            if record.len() != self.columns {
                row.fault = Some(format!("expected {} cells, found {}", self.columns, record.len()));
            }
            if self.is_open() {
                row.fault = Some("a quote opens and does not close, so all that follows is in this row".into());
            }
            found.push(self.context, row)?;
        }
        Ok(())
    }

    /// Whether the record that was read last goes on to the end of the file because its last quote does not close.
    fn is_open(&self) -> bool {
        let rest = self.text.get(self.at.0..).unwrap_or_default().trim_ascii_end();
        self.reader.position().byte() as usize >= self.text.len()
            && rest.contains(&b'\n')
            && memchr::memchr_iter(b'"', rest).count() % 2 == 1
    }

    /// Returns the number of the line at which a record begins. The reader counts some line ends late.
    fn line(&mut self, record: &ByteRecord) -> u64 {
        let begin = record.position().map_or(0, csv::Position::byte) as usize;
        let blank = self.text.get(begin..).unwrap_or_default().iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
        let begin = begin + blank.count();
        let between = self.text.get(self.at.0..begin).unwrap_or_default();
        self.at = (begin, self.at.1 + memchr::memchr_iter(b'\n', between).count() as u64);
        self.at.1
    }
}

/// Returns a record as text. The error says what is wrong with its first bad cell.
fn string(record: &ByteRecord) -> Result<StringRecord, String> {
    record.iter().map(decoded).collect()
}

fn fault(context: &Context<'_>, e: &csv::Error) -> Error {
    Error::usage(format!("cannot read the table: {e}")).file(context.file)
}

/// Says what separates the columns if it is not `delimiter`.
fn separator(context: &Context<'_>, line: &str, delimiter: u8) -> Option<String> {
    const CURES: [(char, &str, &str); 3] = [
        (';', "semicolons", "save it with commas between columns and points in numbers"),
        ('\t', "tabs", "name the file .tsv"),
        (',', "commas", "name the file .csv"),
    ];
    let is_path = |cell: &str| {
        let cell = cell.trim().trim_matches('"');
        ColumnRole::among(context.options, cell) == ColumnRole::Path || list::is_file_name(cell)
    };
    let found =
        CURES.iter().find(|(c, ..)| *c != char::from(delimiter) && line.contains(*c) && line.split(*c).any(is_path));
    found.map(|(_, what, cure)| format!("{what} separate the columns: {cure}"))
}

/// Reads `.jsonl`: a JSON object on each line, with the keys that a table has as columns.
pub(super) fn read_json_lines(
    context: &Context<'_>,
    columns: &mut ColumnTally,
    found: &mut ManifestVideos,
) -> Result<()> {
    let bytes = context.bytes()?;
    let text = body(&bytes, context.file)?;
    if text.trim_ascii_start().starts_with(b"[") {
        return Err(Error::usage("this is a JSON array: expected an object on each line")
            .file(context.file)
            .help(context.one_each_line()));
    }
    lines(text).try_for_each(|(line, text)| found.push(context, json_row(context, columns, line, text)))?;
    match found.videos.is_empty() || columns.has_path() {
        true => Ok(()),
        false => Err(no_paths(context.file, &columns.names())),
    }
}

fn json_row(context: &Context<'_>, columns: &mut ColumnTally, line: u64, text: Result<&str, String>) -> ManifestRow {
    let object = text.and_then(|text| {
        serde_json::from_str::<Map<String, Value>>(text).map_err(|e| {
            // Drop the position within the line, because its line number would always be 1.
            let what = e.to_string().split(" at line ").next().unwrap_or_default().to_owned();
            format!("character {}: not a JSON object: {what}", e.column())
        })
    });
    let object = match object {
        Ok(object) => object,
        Err(what) => return ManifestRow::bad(line, what),
    };
    let mut row = ManifestRow::new(line);
    for (name, value) in object {
        let role = ColumnRole::among(context.options, &name);
        columns.add(role, &name);
        row.set(role, &name, value);
    }
    row
}
