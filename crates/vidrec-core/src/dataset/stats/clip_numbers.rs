//! Totals over the entries of a clip's frames.

use crate::dataset::Clip;
use vidrec_format::frame_entry::FrameEntry;

/// The totals over the entries of a clip's frames.
pub struct ClipNumbers {
    /// The seconds from the first to the last frame, if the times advance.
    pub seconds: Option<f64>,
    /// The size of its JPEGs in bytes.
    pub bytes: u64,
}

impl ClipNumbers {
    /// Computes the totals of a clip with these entries.
    pub fn of(clip: &Clip<'_>, entries: &[FrameEntry]) -> ClipNumbers {
        let bytes = entries.iter().map(|entry| u64::from(entry.jpeg_length)).sum();
        let (first, last) = (entries.iter().map(|e| e.pts).min(), entries.iter().map(|e| e.pts).max());
        let ticks = first.zip(last).map_or(0, |(first, last)| i128::from(last) - i128::from(first));
        let (unit, per_second) = clip.time_base();
        let seconds = (ticks > 0).then(|| ticks as f64 * f64::from(unit) / f64::from(per_second));
        ClipNumbers { seconds, bytes }
    }

    /// Returns the packed frames per second.
    pub(super) fn rate(&self, clip: &Clip<'_>) -> Option<f64> {
        self.seconds.map(|seconds| f64::from(clip.frame_count().saturating_sub(1)) / seconds)
    }

    pub(super) fn bytes_per_frame(&self, clip: &Clip<'_>) -> Option<f64> {
        (clip.frame_count() > 0).then(|| self.bytes as f64 / f64::from(clip.frame_count()))
    }
}
