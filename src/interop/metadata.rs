//! Exports the metadata of clips as a table.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::sink::ExportReport;
use crate::{Clip, Dataset, Error, ProgressFn, Result, TrackView};
use vidrec_core::progress::Counter;
use vidrec_core::store::disk::AtomicFile;

const COLUMNS: [&str; 13] = [
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

/// Writes a table with a row for each clip to `out`, which appears when it is complete. If its name ends with `.jsonl`, the
/// table has one JSON object per line; otherwise it has comma-separated values with a header line.
///
/// The columns are `clip`, `source`, `label`, `class`, `frames`, `width`, `height`, `short` (0 or 1),
/// `first_seconds`, `last_seconds`, `bytes` (of the JPEGs), `attributes` (JSON as text) and `tracks`. `tracks` is
/// also JSON as text: a list of objects with the keys `name`, `type`, `shape`, `timing` and `count`, and with
/// timing `rate` also `first_ns` and `rate`. Unknown values are empty.
///
/// # Errors
///
/// [`Io`](vidrec_format::error::ErrorKind::Io) from the file system;
/// [`Usage`](vidrec_format::error::ErrorKind::Usage) if `out` exists;
/// [`Format`](vidrec_format::error::ErrorKind::Format) if the data set is damaged.
pub fn export(dataset: &Dataset, out: &Path, progress: &mut ProgressFn<'_>) -> Result<ExportReport> {
    if out.exists() {
        return Err(Error::usage("the file already exists").file(out));
    }
    let counter = &mut Counter::new(Some(dataset.len()), progress);
    let is_csv = out.extension().is_none_or(|ending| ending != "jsonl");
    let mut file = AtomicFile::create(out)?;
    if is_csv {
        file.write_all(&csv_line(COLUMNS)?)?;
    }
    for clip in dataset.clips() {
        let clip = clip?;
        let row = row(&clip)?;
        file.write_all(&match is_csv {
            true => csv_line(row.iter().map(cell))?,
            false => {
                let object: Map<String, Value> = COLUMNS.iter().map(|name| (*name).into()).zip(row).collect();
                (Value::Object(object).to_string() + "\n").into_bytes()
            }
        })?;
        counter.add(clip.frame_count().into(), 0)?;
    }
    file.sync()?;
    file.publish()?;
    let bytes = std::fs::metadata(out).map_err(|e| Error::io("read the file's size", out, e))?.len();
    let (clips, frames) = (dataset.len(), dataset.frame_count());
    Ok(ExportReport { clips, frames, files: 1, bytes, ..ExportReport::default() })
}

fn csv_line(cells: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Result<Vec<u8>> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    // Writing to memory cannot fail.
    csv.write_record(cells).map_err(|e| Error::internal(e.to_string()))?;
    csv.into_inner().map_err(|e| Error::internal(e.to_string()))
}

/// A cell of a table of text. Lists and objects are JSON.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn row(clip: &Clip<'_>) -> Result<Vec<Value>> {
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
