//! Exports the metadata of clips or frames as a table.

use std::path::Path;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use serde_json::{Value, json};

use super::ExportReport;
use super::tracks::TrackJson;
use vidrec_core::dataset::{Clip, Dataset};
use vidrec_core::progress::{Counter, ProgressFn};
use vidrec_core::store::disk::AtomicFile;
use vidrec_format::error::{Error, Result};
use vidrec_format::words::unknown_variant;

/// The file format of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum Format {
    /// Comma-separated values with a header line. Unknown values are empty. The default.
    #[default]
    Csv,
    /// One JSON object per line.
    Jsonl,
    /// Apache Parquet, uncompressed.
    Parquet,
}

/// What each row of the table describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum Rows {
    /// One clip. The default.
    #[default]
    Clips,
    /// One frame.
    Frames,
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    Number,
    Text,
}

const CLIP_COLUMNS: [(&str, Kind); 13] = [
    ("clip", Kind::Integer),
    ("source", Kind::Text),
    ("label", Kind::Integer),
    ("class", Kind::Text),
    ("frames", Kind::Integer),
    ("width", Kind::Integer),
    ("height", Kind::Integer),
    ("short", Kind::Integer),
    ("first_seconds", Kind::Number),
    ("last_seconds", Kind::Number),
    ("bytes", Kind::Integer),
    ("attributes", Kind::Text),
    ("tracks", Kind::Text),
];

/// The columns of JSON. They are text only in formats that have nothing better.
const JSON_COLUMNS: [&str; 2] = ["attributes", "tracks"];

const FRAME_COLUMNS: [(&str, Kind); 9] = [
    ("clip", Kind::Integer),
    ("frame", Kind::Integer),
    ("source", Kind::Text),
    ("label", Kind::Integer),
    ("pts", Kind::Integer),
    ("pts_seconds", Kind::Number),
    ("source_index", Kind::Integer),
    ("bytes", Kind::Integer),
    ("crc32", Kind::Integer),
];

/// Rows per row group of a Parquet file.
const GROUP_ROWS: usize = 1 << 16;

/// Writes the table to `out`, which appears when it is complete.
///
/// The columns for clips are `clip`, `source`, `label`, `class`, `frames`, `width`, `height`, `short` (0 or 1),
/// `first_seconds`, `last_seconds`, `bytes` (of the JPEGs), `attributes` (JSON as text) and `tracks`. `tracks` is
/// also JSON as text: a list of objects with the keys `name`, `type`, `shape`, `timing` and `count`, and with
/// timing `rate` also `first_ns` and `rate`. The columns for frames are `clip`, `frame`, `source`, `label`, `pts`,
/// `pts_seconds`, `source_index`, `bytes` and `crc32`. Unknown values are empty.
///
/// # Errors
///
/// [`Io`](vidrec_format::error::ErrorKind::Io) from the file system;
/// [`Usage`](vidrec_format::error::ErrorKind::Usage) if `out` exists;
/// [`Format`](vidrec_format::error::ErrorKind::Format) if the data set is damaged.
pub fn export(
    dataset: &Dataset,
    out: &Path,
    format: Format,
    rows: Rows,
    progress: &mut ProgressFn<'_>,
) -> Result<ExportReport> {
    if out.exists() {
        return Err(Error::usage("the file already exists").file(out));
    }
    let columns: &[(&str, Kind)] = if rows == Rows::Clips { &CLIP_COLUMNS } else { &FRAME_COLUMNS };
    let counter = &mut Counter::new(Some(dataset.len()), progress);
    let mut file = AtomicFile::create(out)?;
    let here = |e: Error| e.file(out);
    let mut table: Box<dyn Table> = match format {
        Format::Csv => Box::new(Csv::begin(&mut file, columns).map_err(here)?),
        Format::Jsonl => Box::new(Jsonl { out: &mut file, columns }),
        Format::Parquet => Box::new(Parquet::begin(&mut file, columns).map_err(here)?),
    };
    for clip in dataset.clips() {
        let clip = clip?;
        let new = if rows == Rows::Clips { vec![clip_row(&clip)?] } else { frame_rows(&clip)? };
        new.into_iter().try_for_each(|row| table.push(row).map_err(here))?;
        counter.add(clip.frame_count().into(), 0)?;
    }
    table.end().map_err(here)?;
    file.sync()?;
    file.publish()?;
    let bytes = std::fs::metadata(out).map_err(|e| Error::io("read the file's size", out, e))?.len();
    let (clips, frames) = (dataset.len(), dataset.frame_count());
    Ok(ExportReport { clips, frames, files: 1, bytes, ..ExportReport::default() })
}

fn clip_row(clip: &Clip<'_>) -> Result<Vec<Value>> {
    let frames = clip.frames().collect::<Result<Vec<_>>>()?;
    let tracks = TrackJson::of_clip(clip)?;
    let size = |side: u32| if side == 0 { Value::Null } else { side.into() };
    let text = |text: &str| if text.is_empty() { Value::Null } else { text.into() };
    Ok(vec![
        clip.ordinal().into(),
        text(&clip.source()?),
        clip.label().into(),
        text(&clip.class()?),
        clip.frame_count().into(),
        size(clip.width()),
        size(clip.height()),
        u32::from(clip.is_short()).into(),
        frames.first().map(|f| f.pts_seconds()).into(),
        frames.last().map(|f| f.pts_seconds()).into(),
        frames.iter().map(|f| f.jpeg().len() as u64).sum::<u64>().into(),
        text(&clip.attributes_json()?),
        if tracks.is_empty() { Value::Null } else { json!(tracks).to_string().into() },
    ])
}

fn frame_rows(clip: &Clip<'_>) -> Result<Vec<Vec<Value>>> {
    let source = clip.source()?;
    let row = |(t, frame): (usize, Result<vidrec_core::dataset::Frame<'_>>)| {
        let frame = frame?;
        Ok(vec![
            clip.ordinal().into(),
            t.into(),
            if source.is_empty() { Value::Null } else { source.clone().into() },
            clip.label().into(),
            frame.pts().into(),
            frame.pts_seconds().into(),
            frame.source_index().into(),
            frame.jpeg().len().into(),
            frame.crc32().into(),
        ])
    };
    clip.frames().enumerate().map(row).collect()
}

/// Takes rows. Their values are in the order of the columns.
trait Table {
    fn push(&mut self, row: Vec<Value>) -> Result<()>;
    fn end(self: Box<Self>) -> Result<()>;
}

fn failed(e: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::io("write the table", "", std::io::Error::other(e))
}

struct Csv<'a>(csv::Writer<&'a mut AtomicFile>);

impl<'a> Csv<'a> {
    fn begin(out: &'a mut AtomicFile, columns: &[(&str, Kind)]) -> Result<Self> {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(columns.iter().map(|(name, _)| name)).map_err(failed)?;
        Ok(Csv(csv))
    }
}

impl Table for Csv<'_> {
    fn push(&mut self, row: Vec<Value>) -> Result<()> {
        let cell = |value: &Value| match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        self.0.write_record(row.iter().map(cell)).map_err(failed)
    }

    fn end(mut self: Box<Self>) -> Result<()> {
        self.0.flush().map_err(failed)
    }
}

struct Jsonl<'a> {
    out: &'a mut AtomicFile,
    columns: &'a [(&'a str, Kind)],
}

impl Table for Jsonl<'_> {
    fn push(&mut self, row: Vec<Value>) -> Result<()> {
        let mut object: serde_json::Map<String, Value> =
            self.columns.iter().map(|(n, _)| (*n).into()).zip(row).collect();
        for column in JSON_COLUMNS {
            if let Some(Value::String(text)) = object.get(column)
                && let Ok(value) = serde_json::from_str(text)
            {
                object.insert(column.into(), value);
            }
        }
        let line = Value::Object(object).to_string() + "\n";
        self.out.write_all(line.as_bytes())
    }

    fn end(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

struct Parquet<'a> {
    out: SerializedFileWriter<&'a mut AtomicFile>,
    kinds: Vec<Kind>,
    rows: Vec<Vec<Value>>,
}

impl<'a> Parquet<'a> {
    fn begin(out: &'a mut AtomicFile, columns: &[(&str, Kind)]) -> Result<Self> {
        let field = |&(name, kind): &(&str, Kind)| {
            let (physical, logical) = match kind {
                Kind::Integer => (Physical::INT64, None),
                Kind::Number => (Physical::DOUBLE, None),
                Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            };
            let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
            field.with_logical_type(logical).build().map(Arc::new)
        };
        let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let schema = Type::group_type_builder("vidrec").with_fields(fields).build().map_err(failed)?;
        let properties = WriterProperties::builder().build();
        let out = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(failed)?;
        Ok(Parquet { out, kinds: columns.iter().map(|&(_, kind)| kind).collect(), rows: Vec::new() })
    }

    fn write_group(&mut self) -> parquet::errors::Result<()> {
        let mut group = self.out.next_row_group()?;
        for (i, kind) in self.kinds.iter().enumerate() {
            let Some(mut column) = group.next_column()? else { break };
            let cells = || self.rows.iter().map(|row| &row[i]);
            let defined: Vec<i16> = cells().map(|v| i16::from(!v.is_null())).collect();
            match kind {
                Kind::Integer => {
                    let values: Vec<i64> = cells().filter_map(Value::as_i64).collect();
                    column.typed::<Int64Type>().write_batch(&values, Some(&defined), None)?;
                }
                Kind::Number => {
                    let values: Vec<f64> = cells().filter_map(Value::as_f64).collect();
                    column.typed::<DoubleType>().write_batch(&values, Some(&defined), None)?;
                }
                Kind::Text => {
                    let values: Vec<ByteArray> = cells().filter_map(Value::as_str).map(ByteArray::from).collect();
                    column.typed::<ByteArrayType>().write_batch(&values, Some(&defined), None)?;
                }
            }
            column.close()?;
        }
        group.close()?;
        self.rows.clear();
        Ok(())
    }
}

impl Table for Parquet<'_> {
    fn push(&mut self, row: Vec<Value>) -> Result<()> {
        self.rows.push(row);
        if self.rows.len() == GROUP_ROWS { self.write_group().map_err(failed) } else { Ok(()) }
    }

    fn end(mut self: Box<Self>) -> Result<()> {
        if !self.rows.is_empty() {
            self.write_group().map_err(failed)?;
        }
        self.out.finish().map(drop).map_err(failed)
    }
}
