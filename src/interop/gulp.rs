//! GulpIO and its forks: `data_N.gulp` with concatenated JPEGs, `meta_N.gmeta` with JSON, and `label2idx.json`.
//!
//! Source: GulpIO, `src/main/python/gulpio/fileio.py`. GulpIO2 has the same files.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use super::clip_json::{self, ClipJson};
use super::report::track_names;
use super::sink::{self, ImportOptions, Sink};
use super::{ExportReport, ImportReport, text_file};
use crate::{Clip, Dataset, Error, JsonObject, ProgressFn, Result};
use vidrec_core::progress::Counter;
use vidrec_core::store::disk::map::MappedFile;
use vidrec_core::store::disk::{NewFile, NewFolder};

/// The file with the class names and their labels, beside the chunks.
const LABELS_FILE: &str = "label2idx.json";

/// The key in a clip's metadata under which an export stores everything that the data set knows about the clip.
const OUR_KEY: &str = "vidrec";

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

/// Writes chunks of up to `clips_per_chunk` clips to a new folder.
///
/// A clip's id is its ordinal. Its metadata contains `label` (a class name, or a number as text), `id` (the
/// source) and its attributes. Everything else is under the key `vidrec`, so that an import restores the same
/// clip. A chunk has no room for tracks, which the report names, nor for clips without frames, which it counts.
///
/// # Errors
///
/// [`Io`](vidrec_format::error::ErrorKind::Io) from the file system;
/// [`Usage`](vidrec_format::error::ErrorKind::Usage) if `out` exists and is not an empty folder, or if
/// `clips_per_chunk` is 0; [`Format`](vidrec_format::error::ErrorKind::Format) if the data set is damaged.
pub fn export(
    dataset: &Dataset,
    out: &Path,
    clips_per_chunk: u64,
    progress: &mut ProgressFn<'_>,
) -> Result<ExportReport> {
    if clips_per_chunk == 0 {
        return Err(Error::usage("a chunk needs at least one clip"));
    }
    let counter = &mut Counter::new(Some(dataset.len()), progress);
    let tracks_left_out = track_names(dataset)?;
    let mut folder = NewFolder::create(out)?;
    let mut labels: BTreeMap<String, u32> = dataset.classes().iter().cloned().zip(0..).collect();
    let mut without_frames = 0;
    for (chunk, first) in (0..dataset.len()).step_by(clips_per_chunk as usize).enumerate() {
        let mut data = folder.file(format!("data_{chunk}.gulp"))?;
        let mut entries = Vec::new();
        for ordinal in first..dataset.len().min(first.saturating_add(clips_per_chunk)) {
            let clip = dataset.clip(ordinal)?;
            if clip.frame_count() == 0 {
                without_frames += 1;
                counter.add(0, 0)?;
                continue;
            }
            let id = ordinal.to_string();
            let json = ClipJson::of(&clip)?;
            if let Some((name, label)) = label_name(&json) {
                labels.insert(name, label);
            }
            let frames = write_frames(&clip, &mut data)?;
            let video = json!({ "meta_data": [meta_data(&json)], "frame_info": frames });
            entries.push(format!("\"{id}\": {video}"));
            counter.add(clip.frame_count().into(), 0)?;
        }
        folder.finish(data)?;
        // The JSON is built by hand, to keep the keys in the order of the clips.
        folder.write(format!("meta_{chunk}.gmeta"), format!("{{{}}}", entries.join(",\n")).as_bytes())?;
    }
    folder.write(LABELS_FILE, &serde_json::to_vec(&labels).unwrap_or_default())?;
    clip_json::write_meta(dataset, &mut folder)?;
    let report = ExportReport { tracks_left_out, ..ExportReport::new(dataset, folder.publish()?) };
    Ok(report.without_frames(without_frames))
}

fn write_frames(clip: &Clip<'_>, data: &mut NewFile) -> Result<Vec<[u64; 3]>> {
    let mut infos = Vec::new();
    for frame in clip.frames() {
        let frame = frame?;
        frame.check()?;
        let (offset, length) = (data.bytes, frame.jpeg().len() as u64);
        let padded = length.next_multiple_of(4);
        data.write(frame.jpeg())?;
        data.write(&[0; 3][..(padded - length) as usize])?;
        infos.push([offset, padded - length, padded]);
    }
    Ok(infos)
}

/// Returns the label's name, which GulpIO's own loader looks up in `label2idx.json`, and the label.
fn label_name(clip: &ClipJson) -> Option<(String, u32)> {
    let label = clip.label?;
    Some(if clip.class.is_empty() { (label.to_string(), label) } else { (clip.class.clone(), label) })
}

fn meta_data(clip: &ClipJson) -> Value {
    let mut data = clip.attributes.0.clone();
    data.insert("id".into(), json!(clip.source));
    if let Some((name, _)) = label_name(clip) {
        data.insert("label".into(), json!(name));
    }
    data.insert(OUR_KEY.into(), clip.to_value());
    Value::Object(data)
}

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
    let metas: Vec<Result<GulpMeta>> = chunks.values().map(Chunk::meta).collect();
    let labels = Labels::find(folder, metas.iter().flatten())?;
    let meta = clip_json::read_meta(folder)?.unwrap_or_else(|| sink::meta("gulp", labels.classes()));
    let mut sink = Sink::create(out, meta, options, progress)?;
    for (chunk, meta) in chunks.values().zip(metas) {
        match meta.and_then(|meta| Ok((meta, MappedFile::open(chunk.data()?)?))) {
            Ok((meta, bytes)) => {
                add_chunk(&mut sink, chunk, meta, &bytes, &labels, options)?;
                bytes.prove_whole(chunk.data()?)?;
            }
            Err(e) => sink.leave_out(&chunk.name(), e)?,
        }
    }
    sink.finish()
}

fn add_chunk(
    sink: &mut Sink<'_, '_>,
    chunk: &Chunk,
    meta: GulpMeta,
    bytes: &[u8],
    labels: &Labels,
    options: &ImportOptions,
) -> Result<()> {
    let mut videos: Vec<_> = meta.into_iter().collect();
    videos.sort_by_key(|(_, video)| video.frame_info.first().map_or(u64::MAX, |&(offset, ..)| offset));
    for (id, video) in videos {
        let place = format!("{}, video {id}", chunk.name());
        let clip = clip(&id, &video, labels, options);
        match frames(&video, bytes) {
            Ok(frames) => sink.add(&place, &clip, &frames)?,
            Err(e) => sink.leave_out(&place, e.file(chunk.data()?).also_help(format!("this is video {id}")))?,
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

fn clip(id: &str, video: &GulpClip, labels: &Labels, options: &ImportOptions) -> ClipJson {
    let mut clip = ClipJson::named(id.to_owned(), options.time_base);
    let Some(data) = video.meta_data.first().and_then(Value::as_object) else { return clip };
    if let Some(ours) = data.get(OUR_KEY).and_then(ClipJson::from_value) {
        return ours;
    }
    clip.attributes = JsonObject(data.clone());
    match clip.attributes.0.remove("label") {
        Some(Value::String(name)) => {
            clip.label = labels.0.get(&name).copied();
            clip.class = name;
        }
        Some(other) => clip.set_label(&other),
        None => {}
    }
    clip
}

/// Labels by the name of their class.
struct Labels(BTreeMap<String, u32>);

impl Labels {
    fn find<'a>(folder: &Path, metas: impl Iterator<Item = &'a GulpMeta>) -> Result<Self> {
        let path = folder.join(LABELS_FILE);
        if path.exists() {
            let labels = serde_json::from_str(&text_file::read(&path)?);
            return labels
                .map(Labels)
                .map_err(|e| text_file::malformed(&path, format!("not class names and labels: {e}")));
        }
        let names: BTreeSet<&str> = metas
            .flat_map(|meta| meta.values())
            .filter_map(|video| video.meta_data.first()?.get("label")?.as_str())
            .collect();
        Ok(Labels(names.into_iter().map(str::to_owned).zip(0..).collect()))
    }

    /// Returns the names by label, if the labels are 0, 1, 2, …
    fn classes(&self) -> Vec<String> {
        let mut by_label: Vec<_> = self.0.iter().map(|(name, &label)| (label, name.clone())).collect();
        by_label.sort();
        let dense = (0..).zip(&by_label).all(|(i, &(label, _))| i == label);
        if dense { by_label.into_iter().map(|(_, name)| name).collect() } else { Vec::new() }
    }
}

/// The two files of a chunk, either of which may be missing.
#[derive(Debug, Default)]
struct Chunk {
    data: Option<PathBuf>,
    meta: Option<PathBuf>,
}

impl Chunk {
    fn name(&self) -> String {
        text_file::name(self.data.as_ref().or(self.meta.as_ref()).map_or(Path::new(""), |p| p))
    }

    fn data(&self) -> Result<&Path> {
        self.data
            .as_deref()
            .ok_or_else(|| text_file::malformed(self.meta.as_deref().unwrap_or(Path::new("")), "its .gulp is missing"))
    }

    fn meta(&self) -> Result<GulpMeta> {
        let Some(path) = &self.meta else {
            let what = "its .gmeta is missing, which GulpIO writes last, and which says where each video begins";
            return Err(text_file::malformed(self.data()?, what));
        };
        if fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() == 0) {
            return Err(text_file::malformed(path, "the file is empty"));
        }
        let text = text_file::read(path)
            .map_err(|e| e.help("if the metadata is pickled, first convert it to JSON with GulpIO"))?;
        serde_json::from_str(&text)
            .map_err(|e| text_file::malformed(path, format!("this is not the metadata of a chunk: {e}")))
    }
}

/// Returns the chunks of a folder by the first number in the names of their files.
fn chunks(folder: &Path) -> Result<BTreeMap<u64, Chunk>> {
    let failed = |e| Error::io("list the folder", folder, e);
    let mut chunks: BTreeMap<u64, Chunk> = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = text_file::name(&path);
        let digits = name.split(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty());
        let Some(number) = digits.and_then(|d| d.parse().ok()) else { continue };
        match path.extension().and_then(|e| e.to_str()) {
            Some("gulp") => chunks.entry(number).or_default().data = Some(path),
            Some("gmeta") => chunks.entry(number).or_default().meta = Some(path),
            _ => {}
        }
    }
    Ok(chunks)
}
