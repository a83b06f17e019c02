//! Exports the metadata of clips or frames as a table.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::ExportReport;
use crate::{Clip, Dataset, Error, ProgressFn, Result, TrackView};
use vidrec_core::progress::Counter;
use vidrec_core::store::disk::AtomicFile;
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

/// The subject of each row of the table.
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
    let failed = |e: csv::Error| Error::io("write the table", out, std::io::Error::other(e));
    let mut file = AtomicFile::create(out)?;
    match format {
        Format::Csv => {
            let mut csv = csv::Writer::from_writer(&mut file);
            csv.write_record(columns).map_err(failed)?;
            for_each_row(dataset, rows, counter, &mut |row| csv.write_record(row.iter().map(cell)).map_err(failed))?;
            csv.flush().map_err(|e| failed(e.into()))?;
        }
        Format::Jsonl => for_each_row(dataset, rows, counter, &mut |row| {
            let object: Map<String, Value> = columns.iter().map(|name| (*name).into()).zip(row).collect();
            file.write_all((Value::Object(object).to_string() + "\n").as_bytes())
        })?,
    }
    file.sync()?;
    file.publish()?;
    let bytes = std::fs::metadata(out).map_err(|e| Error::io("read the file's size", out, e))?.len();
    let (clips, frames) = (dataset.len(), dataset.frame_count());
    Ok(ExportReport { clips, frames, files: 1, bytes, ..ExportReport::default() })
}

/// Calls `put` with each row, whose values are in the order of the columns.
fn for_each_row(
    dataset: &Dataset,
    rows: Rows,
    counter: &mut Counter<'_, '_>,
    put: &mut dyn FnMut(Vec<Value>) -> Result<()>,
) -> Result<()> {
    for clip in dataset.clips() {
        let clip = clip?;
        let rows = if rows == Rows::Clips { vec![clip_row(&clip)?] } else { frame_rows(&clip)? };
        rows.into_iter().try_for_each(&mut *put)?;
        counter.add(clip.frame_count().into(), 0)?;
    }
    Ok(())
}

/// A cell of a table of text. Lists and objects are JSON.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn clip_row(clip: &Clip<'_>) -> Result<Vec<Value>> {
    let frames = clip.frames().collect::<Result<Vec<_>>>()?;
    let (tracks, attributes) = (clip.tracks()?.all()?, clip.attributes()?);
    let size = |side: u32| if side == 0 { Value::Null } else { side.into() };
    Ok(vec![
        clip.ordinal().into(),
        text(clip.source()?),
        clip.label().into(),
        text(clip.class()?),
        clip.frame_count().into(),
        size(clip.width()),
        size(clip.height()),
        u32::from(clip.is_short()).into(),
        frames.first().map(|f| f.pts_seconds()).into(),
        frames.last().map(|f| f.pts_seconds()).into(),
        frames.iter().map(|f| f.jpeg().len() as u64).sum::<u64>().into(),
        if attributes.0.is_empty() { Value::Null } else { attributes.0.into() },
        if tracks.is_empty() { Value::Null } else { tracks.iter().map(track).collect() },
    ])
}

fn text(text: String) -> Value {
    if text.is_empty() { Value::Null } else { text.into() }
}

fn track(track: &TrackView<'_>) -> Value {
    let mut json = json!(track.schema());
    json["count"] = track.len().into();
    if let Some((first_ns, rate)) = track.rate() {
        (json["first_ns"], json["rate"]) = (first_ns.into(), json!(rate));
    }
    json
}

fn frame_rows(clip: &Clip<'_>) -> Result<Vec<Vec<Value>>> {
    let source = text(clip.source()?);
    let row = |(t, frame): (usize, Result<vidrec_core::dataset::Frame<'_>>)| {
        let frame = frame?;
        Ok(vec![
            clip.ordinal().into(),
            t.into(),
            source.clone(),
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
