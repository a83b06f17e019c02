//! Exports GulpIO chunks.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::layout::{LABELS_FILE, OUR_KEY, track_file};
use crate::interop::ExportReport;
use crate::interop::clip_json;
use crate::interop::clip_json::ClipJson;
use crate::interop::tracks;
use crate::interop::tracks::TrackStems;
use vidrec_core::dataset::{Clip, Dataset};
use vidrec_core::progress::{Counter, ProgressFn};
use vidrec_core::store::disk::{NewFile, NewFolder};
use vidrec_format::error::{Error, Result};

/// Writes chunks of up to `clips_per_chunk` clips to a new folder.
///
/// A clip's id is its ordinal. Its metadata contains `label` (a class name, or a number as text), `id` (the
/// source) and its attributes. Everything else is under the key `vidrec`, so that an import restores the same
/// clip. A chunk has no room for tracks. They are files `tracks/CLIP.track.NAME.npy` or `.json`, with times in
/// `tracks/CLIP.track.NAME.times.npy`. Nor has it room for clips without frames, which the report counts.
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
    let stems = TrackStems::of(dataset)?;
    let mut folder = NewFolder::create(out)?;
    let mut labels = BTreeMap::new();
    for (label, class) in (0u32..).zip(dataset.classes()) {
        labels.insert(class.clone(), label);
    }
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
            let put = &mut |file: &str, bytes: &[u8]| folder.write_many(track_file(&id, file), bytes);
            let json = ClipJson::of(&clip, tracks::write_all(&clip, &stems, put)?)?;
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
    Ok(ExportReport::new(dataset, folder.publish()?).without_frames(without_frames))
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
    let mut data = Map::new();
    for (key, value) in &clip.attributes.0 {
        data.insert(key.clone(), value.clone());
    }
    data.insert("id".into(), json!(clip.source));
    if let Some((name, _)) = label_name(clip) {
        data.insert("label".into(), json!(name));
    }
    data.insert(OUR_KEY.into(), clip.to_value());
    Value::Object(data)
}
