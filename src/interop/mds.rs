//! Exporting MosaicML's MDS shards: `shard.00000.mds` and `index.json`.
//!
//! Source: mosaicml/streaming, `streaming/base/format/mds/writer.py` and `encodings.py`.
//!
//! ```text
//! shard  := samples u32 | offset u32 × (samples + 1) | the columns, as JSON | sample × samples
//! sample := length u32 of each column without a fixed length | the columns, concatenated
//! ```

use std::path::Path;

use serde_json::{Value, json};

use super::ExportReport;
use crate::disk::NewFolder;
use crate::progress::{Counter, ProgressFn};
use crate::{Clip, Dataset, Error, Result};

/// Name, encoding and length of the columns, in order of name.
const COLUMNS: [(&str, &str, Option<u32>); 7] = [
    ("attributes", "json", None),
    ("class", "str", None),
    ("clip", "int", Some(8)),
    ("frames", "jpeg_array", None),
    ("label", "int", Some(8)),
    ("pts_seconds", "json", None),
    ("source", "str", None),
];

/// Writes a sample for each clip to shards of about `shard_bytes` bytes, in a new folder.
///
/// The columns are `clip` (ordinal), `source`, `class`, `label` (-1 for none), `attributes`, `pts_seconds` (a list) and
/// `frames`, the JPEGs, which `streaming` returns as a list of Pillow images.
///
/// # Errors
///
/// [`Io`](crate::ErrorKind::Io) from the file system; [`Usage`](crate::ErrorKind::Usage) if `out` exists and is not an
/// empty folder; [`Limit`](crate::ErrorKind::Limit) if a shard would have 4 GiB or more;
/// [`Format`](crate::ErrorKind::Format) if the data set is damaged.
pub fn export(dataset: &Dataset, out: &Path, shard_bytes: u64, progress: &mut ProgressFn<'_>) -> Result<ExportReport> {
    let counter = &mut Counter::new(Some(dataset.len()), progress);
    let mut folder = NewFolder::create(out)?;
    let config = config(shard_bytes);
    let mut samples = Vec::new();
    let mut shards = Vec::new();
    for clip in dataset.clips() {
        let clip = clip?;
        let sample = sample(&clip)?;
        let bytes: usize = samples.iter().map(Vec::len).sum();
        if !samples.is_empty() && (bytes + sample.len()) as u64 > shard_bytes {
            shards.push(write_shard(&mut folder, shards.len(), &config, &std::mem::take(&mut samples))?);
        }
        samples.push(sample);
        counter.add(clip.frame_count().into(), 0)?;
    }
    if !samples.is_empty() {
        shards.push(write_shard(&mut folder, shards.len(), &config, &samples)?);
    }
    folder.write("index.json", json!({ "version": 2, "shards": shards }).to_string().as_bytes())?;
    Ok(ExportReport::new(dataset, folder.publish()?))
}

fn config(shard_bytes: u64) -> Value {
    json!({
        "version": 2,
        "format": "mds",
        "compression": null,
        "hashes": [],
        "size_limit": shard_bytes,
        "column_names": COLUMNS.map(|(name, ..)| name),
        "column_encodings": COLUMNS.map(|(_, encoding, _)| encoding),
        "column_sizes": COLUMNS.map(|(.., size)| size),
    })
}

fn sample(clip: &Clip<'_>) -> Result<Vec<u8>> {
    let mut jpegs = Vec::new();
    let mut times = Vec::new();
    let mut lengths = Vec::new();
    for frame in clip.frames() {
        let frame = frame?;
        frame.check()?;
        lengths.push(frame.jpeg().len() as u32);
        jpegs.extend_from_slice(frame.jpeg());
        times.push(frame.pts_seconds());
    }
    let count = lengths.len() as u32;
    let frames = [
        &count.to_le_bytes()[..],
        bytemuck::cast_slice(&lengths.iter().map(|n| n.to_le()).collect::<Vec<_>>()),
        &jpegs,
    ]
    .concat();
    let attributes = clip.attributes()?.to_string();
    let times = json!(times).to_string();
    let label = clip.label().map_or(-1, i64::from).to_le_bytes();
    let ordinal = clip.ordinal().to_le_bytes();
    let columns: [&[u8]; 7] = [
        attributes.as_bytes(),
        clip.class()?.as_bytes(),
        &ordinal,
        &frames,
        &label,
        times.as_bytes(),
        clip.source()?.as_bytes(),
    ];
    let mut sample = Vec::new();
    for (column, _) in columns.iter().zip(COLUMNS).filter(|(_, (.., size))| size.is_none()) {
        let length = u32::try_from(column.len())
            .map_err(|_| Error::limit("a clip has 4 GiB or more").in_clip(clip.ordinal()))?;
        sample.extend_from_slice(&length.to_le_bytes());
    }
    columns.iter().for_each(|column| sample.extend_from_slice(column));
    Ok(sample)
}

/// Writes a shard, and returns its entry in `index.json`.
fn write_shard(folder: &mut NewFolder, ordinal: usize, config: &Value, samples: &[Vec<u8>]) -> Result<Value> {
    let name = format!("shard.{ordinal:05}.mds");
    let columns = config.to_string();
    let mut at = (4 + 4 * (samples.len() + 1) + columns.len()) as u64;
    let mut head = (samples.len() as u32).to_le_bytes().to_vec();
    for length in samples.iter().map(Vec::len).chain([0]) {
        let offset =
            u32::try_from(at).map_err(|_| Error::limit("a shard has 4 GiB or more").help("make the shards smaller"))?;
        head.extend_from_slice(&offset.to_le_bytes());
        at += length as u64;
    }
    let mut file = folder.file(&name)?;
    file.write(&head)?;
    file.write(columns.as_bytes())?;
    samples.iter().try_for_each(|sample| file.write(sample))?;
    let mut entry = config.clone();
    entry["samples"] = json!(samples.len());
    entry["raw_data"] = json!({ "basename": name, "bytes": file.bytes, "hashes": {} });
    entry["zip_data"] = Value::Null;
    folder.finish(file)?;
    Ok(entry)
}
