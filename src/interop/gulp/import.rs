//! Imports GulpIO chunks.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::layout::{GulpClip, GulpMeta, LABELS_FILE, OUR_KEY, track_file};
use crate::interop::clip_json;
use crate::interop::clip_json::ClipJson;
use crate::interop::sink;
use crate::interop::sink::Sink;
use crate::interop::{ImportOptions, ImportReport, text, tracks};
use vidrec_core::dataset::writer::Track;
use vidrec_core::progress::ProgressFn;
use vidrec_core::store::disk::folder_of;
use vidrec_core::store::disk::map::MappedFile;
use vidrec_format::error::{Error, Result};
use vidrec_format::json_object::JsonObject;
use vidrec_format::limits;

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
        let read = read_tracks(chunk, &id, &clip).and_then(|tracks| Ok((frames(&video, bytes)?, tracks)));
        match read {
            Ok((frames, tracks)) => sink.add(&place, &clip, &frames, &tracks)?,
            Err(e) => sink.leave_out(&place, e.file(chunk.data()?).also_help(format!("this is video {id}")))?,
        }
    }
    Ok(())
}

/// Reads the tracks of a clip that an export wrote.
fn read_tracks(chunk: &Chunk, id: &str, clip: &ClipJson) -> Result<Vec<Track>> {
    let is_number = !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit());
    if !is_number && !clip.tracks.is_empty() {
        return Err(Error::decode("only clips that vidrec exported have tracks").found(format!("the id {id:?}")));
    }
    let folder = folder_of(chunk.data()?);
    let file = |name: &str| text::read_bytes(&folder.join(track_file(id, name)), limits::MAX_TRACK_BLOCK_BYTES);
    let file = |name: &str| file(name).map(Cow::Owned);
    clip.tracks.iter().map(|track| tracks::read(track, &file)).collect()
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
            let labels = serde_json::from_str(&text::read(&path)?);
            return labels.map(Labels).map_err(|e| text::malformed(&path, format!("not class names and labels: {e}")));
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
        text::name(self.data.as_ref().or(self.meta.as_ref()).map_or(Path::new(""), |p| p))
    }

    fn data(&self) -> Result<&Path> {
        self.data
            .as_deref()
            .ok_or_else(|| text::malformed(self.meta.as_deref().unwrap_or(Path::new("")), "its .gulp is missing"))
    }

    fn meta(&self) -> Result<GulpMeta> {
        let Some(path) = &self.meta else {
            let what = "its .gmeta is missing, which GulpIO writes last, and which says where each video begins";
            return Err(text::malformed(self.data()?, what));
        };
        if fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() == 0) {
            return Err(text::malformed(path, "the file is empty"));
        }
        let text =
            text::read(path).map_err(|e| e.help("if the metadata is pickled, first convert it to JSON with GulpIO"))?;
        serde_json::from_str(&text)
            .map_err(|e| text::malformed(path, format!("this is not the metadata of a chunk: {e}")))
    }
}

/// Returns the chunks of a folder by the first number in the names of their files.
fn chunks(folder: &Path) -> Result<BTreeMap<u64, Chunk>> {
    let failed = |e| Error::io("list the folder", folder, e);
    let mut chunks: BTreeMap<u64, Chunk> = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = text::name(&path);
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
