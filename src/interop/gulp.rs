//! GulpIO and its forks: `data_N.gulp` with concatenated JPEGs, `meta_N.gmeta` with JSON, and `label2idx.json`.
//!
//! Source: GulpIO, `src/main/python/gulpio/fileio.py`. GulpIO2 has the same files.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::sink::ImportReport;
use super::sink::{self, ImportOptions, Sink, file_name, malformed, read_text};
use crate::{ClipInfo, Error, ErrorKind, JsonObject, ProgressFn, Result, limits};
use vidrec_core::store::disk::map::MappedFile;

/// The file with the class names and their labels, beside the chunks.
const LABELS_FILE: &str = "label2idx.json";

/// A video in a `.gmeta` file.
#[derive(Debug, Deserialize)]
struct GulpClip {
    /// The user's metadata. Readers use the first element.
    meta_data: Vec<Value>,
    /// The offset, the number of padding bytes and the length, including padding, of each frame.
    frame_info: Vec<(u64, u64, u64)>,
}

/// A `.gmeta` file, by id.
type GulpMeta = BTreeMap<String, GulpClip>;

/// The labels of classes.
type Labels = BTreeMap<String, u32>;

/// Imports all chunks of a folder, in order of number. The videos of a chunk are in order of their frames.
///
/// The key `label` becomes the label. A number is the label itself. A name is looked up in `label2idx.json` or, without
/// that file, becomes its position in the sorted list of names. All other keys become attributes, and the id becomes
/// the source.
///
/// # Errors
///
/// The first fault, such as a chunk without its `.gmeta`, frames beyond the end of the file, or an image that is not a
/// JPEG, unless [`salvage`](ImportOptions::salvage) is set. [`Io`](vidrec_format::error::ErrorKind::Io),
/// [`Usage`](vidrec_format::error::ErrorKind::Usage).
pub fn import(
    folder: &Path,
    out: &Path,
    options: &ImportOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<ImportReport> {
    let chunks = chunks(folder)?;
    if chunks.is_empty() {
        return Err(Error::usage("there are no GulpIO chunks here").file(folder).expected("data_0.gulp, meta_0.gmeta"));
    }
    let metas: Vec<Result<GulpMeta>> = chunks.iter().map(|data| read_meta(data)).collect();
    let labels = labels(folder, metas.iter().flatten())?;
    let mut sink = Sink::create(out, sink::meta("gulp", classes(&labels)), options, progress)?;
    for (path, meta) in chunks.iter().zip(metas) {
        match meta.and_then(|meta| Ok((meta, MappedFile::open(path)?))) {
            Ok((meta, bytes)) => {
                add_chunk(&mut sink, path, meta, &bytes, &labels)?;
                bytes.prove_whole(path)?;
            }
            Err(e) => sink.leave_out(&file_name(path), e)?,
        }
    }
    sink.finish()
}

fn add_chunk(sink: &mut Sink<'_, '_>, path: &Path, meta: GulpMeta, bytes: &[u8], labels: &Labels) -> Result<()> {
    let mut videos: Vec<_> = meta.into_iter().collect();
    videos.sort_by_key(|(_, video)| video.frame_info.first().map_or(u64::MAX, |&(offset, ..)| offset));
    for (id, video) in videos {
        let place = format!("{}, video {id}", file_name(path));
        match frames(&video, bytes) {
            Ok(frames) => sink.add(&place, described(sink.clip(id), &video, labels), &[], &frames)?,
            Err(e) => sink.leave_out(&place, e.file(path).also_help(format!("this is video {id}")))?,
        }
    }
    Ok(())
}

/// Returns the JPEGs of a video.
fn frames<'a>(video: &GulpClip, bytes: &'a [u8]) -> Result<Vec<Cow<'a, [u8]>>> {
    if video.frame_info.is_empty() {
        return Err(Error::decode("the video has no frames"));
    }
    let frame = |(t, &(offset, padding, length)): (usize, &(u64, u64, u64))| {
        let end = offset.checked_add(length).and_then(|end| end.checked_sub(padding));
        let range = usize::try_from(offset).ok().zip(end.and_then(|end| usize::try_from(end).ok()));
        let jpeg = range.filter(|_| padding < length).and_then(|(begin, end)| bytes.get(begin..end));
        jpeg.map(Cow::Borrowed).ok_or_else(|| {
            Error::decode("the frame is not in the file: the file was truncated, or the .gmeta belongs to another file")
                .in_frame(t as u32)
                .expected(format!("{length} bytes, including {padding} bytes of padding, from byte {offset}"))
                .found(format!("a file of {} bytes", bytes.len()))
        })
    };
    video.frame_info.iter().enumerate().map(frame).collect()
}

/// Adds a video's metadata to its clip. A label that a data set cannot have becomes the attribute `label_value`.
fn described(mut clip: ClipInfo, video: &GulpClip, labels: &Labels) -> ClipInfo {
    let Some(data) = video.meta_data.first().and_then(Value::as_object) else { return clip };
    clip.attributes = JsonObject(data.clone());
    match clip.attributes.0.remove("label") {
        Some(Value::String(name)) => {
            clip.label = labels.get(&name).copied();
            clip.class = name;
        }
        Some(value) if !value.is_null() => {
            let number = value.as_u64().filter(|&n| n <= limits::MAX_LABEL as u64);
            clip.label = number.map(|n| n as u32);
            if number.is_none() {
                clip.attributes.0.insert("label_value".into(), value);
            }
        }
        _ => {}
    }
    clip
}

/// Returns the labels of `label2idx.json`, or else the positions of all names in order.
fn labels<'a>(folder: &Path, metas: impl Iterator<Item = &'a GulpMeta>) -> Result<Labels> {
    let path = folder.join(LABELS_FILE);
    if path.exists() {
        let labels = serde_json::from_str(&read_text(&path)?);
        return labels.map_err(|e| malformed(&path, format!("not class names and labels: {e}")));
    }
    let label = |video: &'a GulpClip| video.meta_data.first()?.get("label")?.as_str();
    let names: BTreeSet<&str> = metas.flat_map(|meta| meta.values()).filter_map(label).collect();
    Ok(names.into_iter().map(str::to_owned).zip(0..).collect())
}

/// Returns the names by label, if the labels are 0, 1, 2, …
fn classes(labels: &Labels) -> Vec<String> {
    let by_label: BTreeMap<u32, &String> = labels.iter().map(|(name, &label)| (label, name)).collect();
    let is_dense = by_label.len() == labels.len() && by_label.keys().copied().eq(0..labels.len() as u32);
    if is_dense { by_label.into_values().cloned().collect() } else { Vec::new() }
}

/// Reads the `.gmeta` beside a chunk: `meta_0.gmeta` beside `data_0.gulp`.
fn read_meta(data: &Path) -> Result<GulpMeta> {
    let path = data.with_file_name(file_name(data).replacen("data", "meta", 1)).with_extension("gmeta");
    let pickled = "if the metadata is pickled, first convert it to JSON with GulpIO";
    let text = read_text(&path).map_err(|e| if e.kind() == ErrorKind::Decode { e.help(pickled) } else { e })?;
    serde_json::from_str(&text).map_err(|e| malformed(&path, format!("this is not the metadata of a chunk: {e}")))
}

/// Returns the `.gulp` files that a folder has or that a `.gmeta` is for, by the first number in their names.
fn chunks(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |e| Error::io("list the folder", folder, e);
    let mut chunks: BTreeMap<u64, PathBuf> = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = file_name(&entry.map_err(failed)?.path());
        let digits = name.split(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty());
        let Some(number) = digits.and_then(|digits| digits.parse().ok()) else { continue };
        let data = match name.rsplit_once('.') {
            Some((_, "gulp")) => name,
            Some((stem, "gmeta")) => format!("{}.gulp", stem.replacen("meta", "data", 1)),
            _ => continue,
        };
        chunks.insert(number, folder.join(data));
    }
    Ok(chunks.into_values().collect())
}
