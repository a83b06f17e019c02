//! Writes the videos of a camera, with several episodes each.

use super::mp4;
use vidrec_core::dataset::Dataset;
use vidrec_core::store::disk::NewFolder;
use vidrec_format::error::{Error, Result};
use vidrec_format::sampler::Rate;

/// A video ends before it exceeds this many bytes, which is LeRobot's own limit.
const FILE_BYTES: u64 = 200 << 20;

/// A video ends before it exceeds this many seconds, unless a single episode is longer. LeRobot has times of 32
/// bits. Later ones are further apart than half of the 0.1 ms within which it has to find a frame.
const FILE_SECONDS: f64 = 1000.0;

/// The number of files in a folder, as in LeRobot.
pub(super) const CHUNK_FILES: u64 = 1000;

/// The location of an episode in the videos of a camera.
#[derive(Debug, Clone, Copy)]
pub(super) struct VideoPlace {
    /// The number of the file, counted over all folders.
    pub file: u64,
    /// Its first and last time, in seconds.
    pub from: f64,
    pub to: f64,
}

/// Writes the videos of a camera. Its clips must be in the order of the episodes.
pub(super) fn write(
    dataset: &Dataset,
    folder: &mut NewFolder,
    (key, size): (&str, (u32, u32)),
    clips: &[u64],
    rate: Rate,
    mut done: impl FnMut(u32) -> Result<()>,
) -> Result<Vec<VideoPlace>> {
    let (seconds, per) = rate.frame_seconds();
    let time = |frame: u64| (frame as f64 * f64::from(seconds)) / f64::from(per);
    let mut places = Vec::with_capacity(clips.len());
    let (mut first, mut number) = (0, 0);
    while first < clips.len() {
        let (mut lengths, mut bytes, mut end) = (Vec::new(), 0u64, first);
        while let Some(&ordinal) = clips.get(end) {
            let entries = dataset.clip(ordinal)?.frame_entries()?;
            let more: u64 = entries.iter().map(|entry| u64::from(entry.jpeg_length)).sum();
            let frames = (lengths.len() + entries.len()) as u64;
            if end > first && (bytes + more > FILE_BYTES || time(frames) > FILE_SECONDS) {
                break;
            }
            places.push(VideoPlace { file: number, from: time(lengths.len() as u64), to: time(frames) });
            lengths.extend(entries.iter().map(|entry| entry.jpeg_length));
            bytes += more;
            end += 1;
        }
        let mut file = folder.file(path(key, number))?;
        file.write(&mp4::head(&lengths, size, rate)?)?;
        for &ordinal in &clips[first..end] {
            let clip = dataset.clip(ordinal)?;
            for frame in clip.frames() {
                let frame = frame?;
                frame.check()?;
                file.write(frame.jpeg())?;
            }
            done(clip.frame_count())?;
        }
        folder.finish(file)?;
        (first, number) = (end, number + 1);
    }
    match places.len() == clips.len() {
        true => Ok(places),
        false => Err(Error::internal("an episode is in no video")),
    }
}

fn path(key: &str, number: u64) -> String {
    let (chunk, file) = (number / CHUNK_FILES, number % CHUNK_FILES);
    format!("videos/{key}/chunk-{chunk:03}/file-{file:03}.mp4")
}
