//! Exports MosaicML's MDS shards: `shard.00000.mds` and `index.json`.
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
use super::tracks::{self, TrackJson};
use vidrec_core::dataset::{Clip, ClipTracks, Dataset, TrackView};
use vidrec_core::progress::{Counter, ProgressFn};
use vidrec_core::store::disk::NewFolder;
use vidrec_format::error::{Error, Result};
use vidrec_format::track::schema::{TrackSchema, TrackTiming, TrackType};

/// A column of all samples.
struct Column {
    name: String,
    encoding: &'static str,
    /// The length of each value in bytes, if it is fixed.
    size: Option<u32>,
    content: Content,
}

/// The content of a column.
enum Content {
    Attributes,
    Class,
    Clip,
    Frames,
    Label,
    Pts,
    Source,
    /// Which tracks the clip has.
    Tracks,
    /// The values of a track.
    Values(TrackSchema),
    /// The times of a track.
    Times(String),
}

/// Returns the columns of a data set, in order of name.
fn columns(dataset: &Dataset) -> Result<Vec<Column>> {
    let column = |name: &str, encoding, size, content| Column { name: name.to_owned(), encoding, size, content };
    let mut columns = vec![
        column("attributes", "json", None, Content::Attributes),
        column("class", "str", None, Content::Class),
        column("clip", "int", Some(8), Content::Clip),
        column("frames", "jpeg_array", None, Content::Frames),
        column("label", "int", Some(8), Content::Label),
        column("pts_seconds", "json", None, Content::Pts),
        column("source", "str", None, Content::Source),
    ];
    for track in dataset.tracks()? {
        let name = format!("track.{}", track.name);
        if matches!(track.timing, TrackTiming::Times | TrackTiming::Spans) {
            let times = Content::Times(track.name.clone());
            columns.push(column(&format!("{name}.times_ns"), "ndarray:int64", None, times));
        }
        columns.push(column(&name, encoding(track.kind), None, Content::Values(track)));
    }
    if columns.iter().any(|column| matches!(column.content, Content::Values(_))) {
        columns.push(column("tracks", "json", None, Content::Tracks));
    }
    columns.sort_by(|a, b| a.name.cmp(&b.name));
    match columns.windows(2).find(|two| two[0].name == two[1].name) {
        None => Ok(columns),
        Some(two) => Err(Error::usage(format!("two columns would have the name {:?}", two[0].name))
            .help("a track has the name of another track's times: rename one of them")),
    }
}

fn encoding(kind: TrackType) -> &'static str {
    match kind {
        TrackType::F32 => "ndarray:float32",
        TrackType::F64 => "ndarray:float64",
        TrackType::I16 => "ndarray:int16",
        TrackType::I32 => "ndarray:int32",
        TrackType::I64 => "ndarray:int64",
        TrackType::U16 => "ndarray:uint16",
        // Arrays of `streaming` cannot be bool.
        TrackType::U8 | TrackType::Bool => "ndarray:uint8",
        TrackType::Utf8 => "json",
    }
}

/// Writes a sample for each clip to shards of about `shard_bytes` bytes, in a new folder.
///
/// The columns are `clip` (ordinal), `source`, `class`, `label` (-1 for none), `attributes`, `pts_seconds` (a list) and
/// `frames`, the JPEGs, which `streaming` returns as a list of Pillow images.
///
/// Each track is a column `track.NAME`: an array (N, ...) of numbers, or a list of texts. Stored times are
/// `track.NAME.times_ns` in nanoseconds: (N,), or (N, 2) for spans. The column `tracks` lists the tracks of the
/// clip as objects with `name`, `type`, `shape`, `timing` and `count`. With timing `rate`, they also have
/// `first_ns` and `rate`. If a clip lacks a track, the columns of that track are empty.
///
/// # Errors
///
/// [`Io`](vidrec_format::error::ErrorKind::Io) from the file system;
/// [`Usage`](vidrec_format::error::ErrorKind::Usage) if `out` exists and is not an empty folder;
/// [`Limit`](vidrec_format::error::ErrorKind::Limit) if a shard would have 4 GiB or more;
/// [`Format`](vidrec_format::error::ErrorKind::Format) if the data set is damaged.
pub fn export(dataset: &Dataset, out: &Path, shard_bytes: u64, progress: &mut ProgressFn<'_>) -> Result<ExportReport> {
    let counter = &mut Counter::new(Some(dataset.len()), progress);
    let columns = columns(dataset)?;
    let mut folder = NewFolder::create(out)?;
    let config = config(&columns, shard_bytes);
    let mut samples = Vec::new();
    let mut shards = Vec::new();
    for clip in dataset.clips() {
        let clip = clip?;
        let sample = sample(&columns, &clip)?;
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

fn config(columns: &[Column], shard_bytes: u64) -> Value {
    json!({
        "version": 2,
        "format": "mds",
        "compression": null,
        "hashes": [],
        "size_limit": shard_bytes,
        "column_names": columns.iter().map(|column| &column.name).collect::<Vec<_>>(),
        "column_encodings": columns.iter().map(|column| column.encoding).collect::<Vec<_>>(),
        "column_sizes": columns.iter().map(|column| column.size).collect::<Vec<_>>(),
    })
}

fn sample(columns: &[Column], clip: &Clip<'_>) -> Result<Vec<u8>> {
    let tracks = clip.tracks()?;
    let values = columns.iter().map(|column| column.content.of(clip, &tracks)).collect::<Result<Vec<_>>>()?;
    tracks.all()?.iter().try_for_each(|track| track.prove_still_there())?;
    let mut sample = Vec::new();
    for (value, _) in values.iter().zip(columns).filter(|(_, column)| column.size.is_none()) {
        let length = u32::try_from(value.len())
            .map_err(|_| Error::limit("the clip takes 4 GiB or more").in_clip(clip.ordinal()))?;
        sample.extend_from_slice(&length.to_le_bytes());
    }
    values.iter().for_each(|value| sample.extend_from_slice(value));
    Ok(sample)
}

impl Content {
    /// Returns the bytes of a clip.
    fn of(&self, clip: &Clip<'_>, tracks: &ClipTracks<'_>) -> Result<Vec<u8>> {
        Ok(match self {
            Content::Attributes => clip.attributes()?.to_string().into(),
            Content::Class => clip.class()?.into(),
            Content::Clip => clip.ordinal().to_le_bytes().into(),
            Content::Frames => frames(clip)?,
            Content::Label => clip.label().map_or(-1, i64::from).to_le_bytes().into(),
            Content::Pts => {
                let times = clip.frames().map(|frame| frame.map(|frame| frame.pts_seconds()));
                json!(times.collect::<Result<Vec<_>>>()?).to_string().into()
            }
            Content::Source => clip.source()?.into(),
            Content::Tracks => json!(tracks.all()?.iter().map(TrackJson::of).collect::<Vec<_>>()).to_string().into(),
            Content::Values(schema) => values(schema, tracks.get(&schema.name)?.as_ref()),
            Content::Times(name) => {
                let track = tracks.get(name)?;
                let (shape, times) = track.as_ref().and_then(tracks::times).unwrap_or((vec![0], Vec::new()));
                ndarray(&shape, &times.iter().flat_map(|time| time.to_le_bytes()).collect::<Vec<_>>())
            }
        })
    }
}

/// Returns the JPEGs of a clip: their number, their lengths, their bytes.
fn frames(clip: &Clip<'_>) -> Result<Vec<u8>> {
    let (mut lengths, mut jpegs) = (Vec::new(), Vec::new());
    for frame in clip.frames() {
        let frame = frame?;
        frame.check()?;
        lengths.extend((frame.jpeg().len() as u32).to_le_bytes());
        jpegs.extend_from_slice(frame.jpeg());
    }
    Ok([&clip.frame_count().to_le_bytes()[..], &lengths, &jpegs].concat())
}

/// Returns the values of a track that a clip may lack.
fn values(schema: &TrackSchema, track: Option<&TrackView<'_>>) -> Vec<u8> {
    if schema.kind == TrackType::Utf8 {
        let texts = track.and_then(|track| Some(track.texts()?.collect::<Vec<_>>()));
        return json!(texts.unwrap_or_default()).to_string().into();
    }
    let count = track.map_or(0, TrackView::len);
    let shape: Vec<usize> = std::iter::once(count).chain(schema.shape.iter().map(|&side| side as usize)).collect();
    ndarray(&shape, track.and_then(|track| track.number_bytes()).unwrap_or_default())
}

/// Returns an array of a known type: the number of sides and the width of each, the sides, the numbers.
fn ndarray(shape: &[usize], numbers: &[u8]) -> Vec<u8> {
    let most = shape.iter().copied().max().unwrap_or(0) as u64;
    let (code, width) = match most {
        0..=0xFF => (0, 1),
        0x100..=0xFFFF => (1, 2),
        0x1_0000..=0xFFFF_FFFF => (2, 4),
        _ => (3, 8),
    };
    let sides = shape.iter().flat_map(|&side| (side as u64).to_le_bytes().into_iter().take(width));
    let head = [(shape.len() as u8) << 2 | code];
    head.into_iter().chain(sides).chain(numbers.iter().copied()).collect()
}

/// Writes a shard, and returns its entry in `index.json`.
fn write_shard(folder: &mut NewFolder, ordinal: usize, config: &Value, samples: &[Vec<u8>]) -> Result<Value> {
    let name = format!("shard.{ordinal:05}.mds");
    let columns = config.to_string();
    let mut at = (4 + 4 * (samples.len() + 1) + columns.len()) as u64;
    let mut head = (samples.len() as u32).to_le_bytes().to_vec();
    for length in samples.iter().map(Vec::len).chain([0]) {
        let offset = u32::try_from(at)
            .map_err(|_| Error::limit("the shard takes 4 GiB or more").help("make the shards smaller"))?;
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
