//! Exports clips as videos for people to look at.

use std::path::Path;

use super::mp4::Mp4;
use crate::interop::ExportReport;
use crate::interop::report::track_names;
use vidrec_core::dataset::{Clip, Dataset};
use vidrec_core::progress::{Counter, ProgressFn};
use vidrec_core::store::disk::NewFolder;
use vidrec_format::error::Result;
use vidrec_jpeg::{Decoder, RgbPicture};

/// Writes `CLIP.mp4`, such as `000012.mp4`, for each clip to a new folder.
///
/// It shows the frames at `fps` frames per second, regardless of their times. The frames are encoded a second
/// time, so they differ from those that a training loop gets. The format has no room for tracks, including sound,
/// so the report names them. Nor has it room for clips without frames, which the report counts.
///
/// # Errors
///
/// [`Io`](vidrec_format::error::ErrorKind::Io) from the file system;
/// [`Usage`](vidrec_format::error::ErrorKind::Usage) if `out` exists and is not an empty folder;
/// [`Format`](vidrec_format::error::ErrorKind::Format) if the data set is damaged;
/// [`Decode`](vidrec_format::error::ErrorKind::Decode) if a frame cannot be decoded or the video cannot be
/// encoded.
pub fn export(dataset: &Dataset, out: &Path, fps: u32, progress: &mut ProgressFn<'_>) -> Result<ExportReport> {
    let counter = &mut Counter::new(Some(dataset.len()), progress);
    let tracks_left_out = track_names(dataset)?;
    let mut folder = NewFolder::create(out)?;
    let mut decoder = Decoder::new()?;
    let mut without_frames = 0;
    for clip in dataset.clips() {
        let clip = clip?;
        if clip.frame_count() == 0 {
            without_frames += 1;
            counter.add(0, 0)?;
            continue;
        }
        let name = format!("{:06}.mp4", clip.ordinal());
        write(&clip, &folder.join(&name), fps, &mut decoder).map_err(|e| e.in_clip(clip.ordinal()))?;
        folder.adopt(&name)?;
        counter.add(clip.frame_count().into(), 0)?;
    }
    let report = ExportReport { tracks_left_out, ..ExportReport::new(dataset, folder.publish()?) };
    Ok(report.without_frames(without_frames))
}

fn write(clip: &Clip<'_>, path: &Path, fps: u32, decoder: &mut Decoder) -> Result<()> {
    let mut video = None;
    let mut picture = RgbPicture::default();
    for frame in clip.frames() {
        let frame = frame?;
        frame.check()?;
        decoder.decode_picture_into(frame.jpeg(), &mut picture).map_err(|e| frame.place(e))?;
        let video = match &mut video {
            Some(video) => video,
            none => none.insert(Mp4::create(path, (picture.width, picture.height), fps)?),
        };
        video.push(&picture)?;
    }
    video.map_or(Ok(()), Mp4::finish)
}
