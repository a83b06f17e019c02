//! Exports the metadata of clips or frames as a table.

use std::path::Path;

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

const CLIP_COLUMNS: [&str; 13] = [
    "clip",
    "source",
    "label",
    "class",
    "frames",
    "width",
    "height",
    "short",
    "first_seconds",
    "last_seconds",
    "bytes",
    "attributes",
    "tracks",
];

/// The columns of JSON. They are text only in formats that have nothing better.
const JSON_COLUMNS: [&str; 2] = ["attributes", "tracks"];

const FRAME_COLUMNS: [&str; 9] =
    ["clip", "frame", "source", "label", "pts", "pts_seconds", "source_index", "bytes", "crc32"];

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
    let columns: &[&str] = if rows == Rows::Clips { &CLIP_COLUMNS } else { &FRAME_COLUMNS };
    let counter = &mut Counter::new(Some(dataset.len()), progress);
    let mut file = AtomicFile::create(out)?;
    let here = |e: Error| e.file(out);
    let mut table: Box<dyn Table> = match format {
        Format::Csv => Box::new(Csv::begin(&mut file, columns).map_err(here)?),
        Format::Jsonl => Box::new(Jsonl { out: &mut file, columns }),
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
    fn begin(out: &'a mut AtomicFile, columns: &[&str]) -> Result<Self> {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(columns).map_err(failed)?;
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
    columns: &'a [&'a str],
}

impl Table for Jsonl<'_> {
    fn push(&mut self, row: Vec<Value>) -> Result<()> {
        let mut object: serde_json::Map<String, Value> =
            self.columns.iter().map(|name| (*name).into()).zip(row).collect();
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
