//! Exports folders of images.

use std::path::Path;

use super::layout::CLIP_FILE;
use crate::interop::ExportReport;
use crate::interop::clip_json;
use crate::interop::clip_json::ClipJson;
use crate::interop::tracks;
use crate::interop::tracks::TrackStems;
use vidrec_core::dataset::Dataset;
use vidrec_core::progress::{Counter, ProgressFn};
use vidrec_core::store::disk::NewFolder;
use vidrec_format::error::Result;

/// Writes a folder of images for each clip to a new folder.
///
/// A frame is `CLIP/FRAME.jpg`, such as `000012/003.jpg`. `CLIP/clip.json` holds everything else that is known
/// about the clip. A track of numbers is `CLIP/track.NAME.npy`, and one of texts is `CLIP/track.NAME.json`. Stored
/// times are `CLIP/track.NAME.times.npy` in nanoseconds: (N,), or (N, 2) for spans.
///
/// # Errors
///
/// [`Io`](vidrec_format::error::ErrorKind::Io) from the file system;
/// [`Usage`](vidrec_format::error::ErrorKind::Usage) if `out` exists and is not an empty folder;
/// [`Format`](vidrec_format::error::ErrorKind::Format) if the data set is damaged.
pub fn export(dataset: &Dataset, out: &Path, progress: &mut ProgressFn<'_>) -> Result<ExportReport> {
    let counter = &mut Counter::new(Some(dataset.len()), progress);
    let stems = TrackStems::of(dataset)?;
    let mut folder = NewFolder::create(out)?;
    for clip in dataset.clips() {
        let clip = clip?;
        let name = format!("{:06}", clip.ordinal());
        for (t, frame) in clip.frames().enumerate() {
            let frame = frame?;
            frame.check()?;
            folder.write_many(format!("{name}/{t:03}.jpg"), frame.jpeg())?;
        }
        let put = &mut |file: &str, bytes: &[u8]| folder.write_many(format!("{name}/{file}"), bytes);
        let tracks = tracks::write_all(&clip, &stems, put)?;
        let json = serde_json::to_vec_pretty(&ClipJson::of(&clip, tracks)?.to_value()).unwrap_or_default();
        folder.write_many(format!("{name}/{CLIP_FILE}"), &json)?;
        counter.add(clip.frame_count().into(), 0)?;
    }
    clip_json::write_meta(dataset, &mut folder)?;
    Ok(ExportReport::new(dataset, folder.publish()?))
}
