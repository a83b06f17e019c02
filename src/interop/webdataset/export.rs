//! Exports WebDataset shards.

use std::path::Path;

use crate::interop::ExportReport;
use crate::interop::clip_json;
use crate::interop::clip_json::ClipJson;
use crate::interop::tracks;
use crate::interop::tracks::TrackStems;
use vidrec_core::dataset::{Clip, Dataset};
use vidrec_core::progress::{Counter, ProgressFn};
use vidrec_core::store::disk::{NewFile, NewFolder};
use vidrec_format::error::{Error, Result};

/// The limits of a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebdatasetOptions {
    /// The most clips in a shard. 1000 by default.
    pub clips_per_shard: u64,
    /// The size in bytes after which a shard ends. 1 GiB by default.
    pub shard_bytes: u64,
}

impl Default for WebdatasetOptions {
    fn default() -> Self {
        WebdatasetOptions { clips_per_shard: 1000, shard_bytes: 1 << 30 }
    }
}

/// Writes a sample for each clip to `shard-000000.tar`, `shard-000001.tar` and so on, in a new folder.
///
/// The key `CLIP` of a sample is the clip's ordinal. Its files are `CLIP.000.jpg`, `CLIP.001.jpg` and so on,
/// `CLIP.json` with everything that is known about the clip, and `CLIP.cls` with the label, if there is one.
///
/// A track of numbers is `CLIP.track.NAME.npy`, (N, ...). A track of texts is `CLIP.track.NAME.json`, a list.
/// Stored times are `CLIP.track.NAME.times.npy` in nanoseconds: (N,), or (N, 2) for spans. `NAME` is the name of
/// the track in lowercase letters, with `_` for characters that are neither letters nor digits. `CLIP.json` has
/// the whole name. An import restores the same tracks.
///
/// # Errors
///
/// [`Io`](vidrec_format::error::ErrorKind::Io) from the file system;
/// [`Usage`](vidrec_format::error::ErrorKind::Usage) if `out` exists and is not an empty folder;
/// [`Format`](vidrec_format::error::ErrorKind::Format) if the data set is damaged.
pub fn export(
    dataset: &Dataset,
    out: &Path,
    options: WebdatasetOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<ExportReport> {
    let counter = &mut Counter::new(Some(dataset.len()), progress);
    let stems = TrackStems::of(dataset)?;
    let mut folder = NewFolder::create(out)?;
    let mut next = 0;
    for shard in 0.. {
        let path = format!("shard-{shard:06}.tar");
        let mut tar = tar::Builder::new(folder.file(&path)?);
        let first = next;
        while next < dataset.len() {
            let clips = next - first;
            if clips > 0 && (clips >= options.clips_per_shard || tar.get_ref().bytes >= options.shard_bytes) {
                break;
            }
            let clip = dataset.clip(next)?;
            write_sample(&clip, &stems, &mut tar)?;
            counter.add(clip.frame_count().into(), 0)?;
            next += 1;
        }
        let file = tar.into_inner().map_err(|e| Error::io("write", folder.join(&path), e))?;
        folder.finish(file)?;
        if next == dataset.len() {
            break;
        }
    }
    clip_json::write_meta(dataset, &mut folder)?;
    Ok(ExportReport::new(dataset, folder.publish()?))
}

fn write_sample(clip: &Clip<'_>, stems: &TrackStems, tar: &mut tar::Builder<NewFile>) -> Result<()> {
    let key = format!("{:06}", clip.ordinal());
    for (t, frame) in clip.frames().enumerate() {
        let frame = frame?;
        frame.check()?;
        add(tar, &format!("{key}.{t:03}.jpg"), frame.jpeg())?;
    }
    let tracks = tracks::write_all(clip, stems, &mut |file, bytes| add(tar, &format!("{key}.{file}"), bytes))?;
    let json = ClipJson::of(clip, tracks)?;
    add(tar, &format!("{key}.json"), json.to_value().to_string().as_bytes())?;
    if let Some(label) = json.label {
        add(tar, &format!("{key}.cls"), label.to_string().as_bytes())?;
    }
    Ok(())
}

/// Adds a file without a time or an owner, so that the same clips produce the same bytes.
fn add(tar: &mut tar::Builder<NewFile>, name: &str, bytes: &[u8]) -> Result<()> {
    let mut header = tar::Header::new_ustar();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    tar.append_data(&mut header, name, bytes).map_err(|e| Error::io("write", name, e))
}
