//! Exporting clips as videos, for people to look at.

use std::path::Path;

use super::ExportReport;
use crate::disk::NewFolder;
use crate::jpeg::Decoder;
use crate::progress::{Counter, ProgressFn};
use crate::video::Mp4;
use crate::{Clip, Dataset, Result};

/// Writes `CLIP.mp4`, such as `000012.mp4`, for each clip to a new folder. It shows the frames at `fps` frames per
/// second, regardless of their times. The frames are encoded a second time, so they differ from those that a training
/// loop gets.
///
/// # Errors
///
/// [`Io`](crate::ErrorKind::Io) from the file system; [`Usage`](crate::ErrorKind::Usage) if `out` exists and is not an
/// empty folder; [`Format`](crate::ErrorKind::Format) if the data set is damaged; [`Decode`](crate::ErrorKind::Decode)
/// if a frame cannot be decoded or the video cannot be encoded.
pub fn export(dataset: &Dataset, out: &Path, fps: u32, progress: &mut ProgressFn<'_>) -> Result<ExportReport> {
    let counter = &mut Counter::new(Some(dataset.len()), progress);
    let mut folder = NewFolder::create(out)?;
    let mut decoder = Decoder::new()?;
    for clip in dataset.clips() {
        let clip = clip?;
        let name = format!("{:06}.mp4", clip.ordinal());
        write(&clip, &folder.join(&name), fps, &mut decoder).map_err(|e| e.in_clip(clip.ordinal()))?;
        folder.adopt(&name)?;
        counter.clip(&clip)?;
    }
    Ok(ExportReport::new(dataset, folder.publish()?))
}

fn write(clip: &Clip<'_>, path: &Path, fps: u32, decoder: &mut Decoder) -> Result<()> {
    let mut video = None;
    let mut rgb = Vec::new();
    for frame in clip.frames() {
        let frame = frame?;
        frame.check()?;
        let header = decoder.header(frame.jpeg()).map_err(|e| frame.place(e))?;
        let (width, height) = (header.width, header.height);
        rgb.resize(header.rgb_len(), 0);
        decoder.decode_rgb(frame.jpeg(), &mut rgb, width as usize * 3).map_err(|e| frame.place(e))?;
        let video = match &mut video {
            Some(video) => video,
            none => none.insert(Mp4::create(path, (width, height), fps)?),
        };
        video.push(&rgb, width, height)?;
    }
    video.map_or(Ok(()), Mp4::finish)
}
