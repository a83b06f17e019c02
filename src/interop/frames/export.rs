//! Exporting folders of images.

use std::path::Path;

use super::layout::CLIP_FILE;
use crate::disk::NewFolder;
use crate::interop::ExportReport;
use crate::interop::clip_json::{self, ClipJson};
use crate::progress::{Counter, ProgressFn};
use crate::{Dataset, Result};

/// Writes `CLIP/FRAME.jpg`, such as `000012/003.jpg`, and `CLIP/clip.json` with everything else that is known about the
/// clip, to a new folder.
///
/// # Errors
///
/// [`Io`](crate::ErrorKind::Io) from the file system; [`Usage`](crate::ErrorKind::Usage) if `out` exists and is not an
/// empty folder; [`Format`](crate::ErrorKind::Format) if the data set is damaged.
pub fn export(dataset: &Dataset, out: &Path, progress: &mut ProgressFn<'_>) -> Result<ExportReport> {
    let counter = &mut Counter::new(Some(dataset.len()), progress);
    let mut folder = NewFolder::create(out)?;
    for clip in dataset.clips() {
        let clip = clip?;
        let name = format!("{:06}", clip.ordinal());
        for (t, frame) in clip.frames().enumerate() {
            let frame = frame?;
            frame.check()?;
            folder.write_many(format!("{name}/{t:03}.jpg"), frame.jpeg())?;
        }
        let json = serde_json::to_vec_pretty(&ClipJson::of(&clip)?.to_value()).unwrap_or_default();
        folder.write_many(format!("{name}/{CLIP_FILE}"), &json)?;
        counter.add(clip.frame_count().into(), 0)?;
    }
    clip_json::write_meta(dataset, &mut folder)?;
    Ok(ExportReport::new(dataset, folder.publish()?))
}
