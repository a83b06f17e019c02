//! Statistics of a data set.

use std::collections::BTreeMap;

use serde::Serialize;

use super::distribution::Distribution;
use super::tracks::TrackStats;
use crate::dataset::{Clip, Dataset};
use vidrec_format::error::Result;

/// The statistics that [`stats`](crate::dataset::stats) returns. `vidrec inspect --stats --json` prints the same.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Number of clips.
    pub clips: u64,
    /// Number of frames.
    pub frames: u64,
    /// Number of shards.
    pub shards: u64,
    /// Clips and frames of each class, in order of label. Clips without a label come first. Classes without clips are
    /// included.
    pub classes: Vec<ClassStats>,
    /// How the clips are distributed over lengths, sizes, formats and attributes: numbers first, then words.
    pub distributions: Vec<Distribution>,
    /// Number of frames of the longest clip; 0 if there are no clips.
    pub most_frames: u32,
    /// Sum of the seconds from the first to the last frame of each clip, by their presentation times. Clips whose times
    /// do not advance, such as clips of one frame, add nothing.
    pub seconds: f64,
    /// Bytes of the smallest JPEG; `None` if there are no frames.
    pub smallest_frame_bytes: Option<u32>,
    /// Bytes of the largest JPEG; `None` if there are no frames.
    pub largest_frame_bytes: Option<u32>,
    /// Clips whose source had too few frames, so that some frames are repeated.
    pub short_clips: u64,
    /// Frames that repeat an earlier frame of their clip.
    pub repeated_frames: u64,
    /// Clips that `vidrec repair` saved without some of their metadata.
    pub repaired_clips: u64,
    /// The packer's notes about the videos, by the name of the note: the number of clips with the note in their
    /// attributes, and the sum of its values.
    pub video_notes: BTreeMap<String, (u64, u64)>,
    /// JPEG bytes that an epoch over all frames of all clips reads.
    pub epoch_bytes: u64,
    /// Bytes of all frames decoded to RGB with one byte per channel, for the frames whose size is known.
    pub epoch_rgb_bytes: u64,
    /// Statistics of tracks, by name. `None` from [`stats`](crate::dataset::stats), which reads no tracks:
    /// [`track_stats`](crate::dataset::track_stats) makes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tracks: Option<BTreeMap<String, TrackStats>>,
    /// Statistics of pictures. `None` from [`stats`](crate::dataset::stats), which reads no pictures:
    /// [`picture_stats`](crate::dataset::picture_stats) computes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pictures: Option<TrackStats>,
}

/// One class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClassStats {
    /// Its label; `None` for clips that have none.
    pub label: Option<u32>,
    /// Its name; empty if it has none.
    pub class: String,
    /// Number of clips.
    pub clips: u64,
    /// Number of frames.
    pub frames: u64,
}

/// The classes of the clips.
#[derive(Default)]
pub(super) struct Classes(BTreeMap<Option<u32>, ClassStats>);

impl Classes {
    pub fn add(&mut self, clip: &Clip<'_>) -> Result<()> {
        let class = self.0.entry(clip.label()).or_insert_with(|| ClassStats::empty(clip.label(), ""));
        class.clips += 1;
        class.frames += u64::from(clip.frame_count());
        if class.class.is_empty() && clip.label().is_some() {
            clip.class()?.clone_into(&mut class.class);
        }
        Ok(())
    }

    pub fn all(self, set: &Dataset) -> Vec<ClassStats> {
        all_classes(self.0, set.classes())
    }
}

/// All classes in order of label: those that have clips, and those that the data set only names.
fn all_classes(with_clips: BTreeMap<Option<u32>, ClassStats>, names: &[String]) -> Vec<ClassStats> {
    let mut classes = Vec::with_capacity(with_clips.len() + names.len());
    let mut unnamed = (0..).zip(names).peekable();
    for (label, counted) in with_clips {
        let before = |(other, _): &(u32, &String)| label.is_some_and(|label| *other < label);
        while let Some((other, name)) = unnamed.next_if(before) {
            classes.push(ClassStats::empty(Some(other), name));
        }
        let name = unnamed.next_if(|(other, _)| Some(*other) == label).map(|(_, name)| name.clone());
        classes.push(ClassStats { class: name.unwrap_or(counted.class), ..counted });
    }
    classes.extend(unnamed.map(|(label, name)| ClassStats::empty(Some(label), name)));
    classes.shrink_to_fit();
    classes
}

impl ClassStats {
    fn empty(label: Option<u32>, class: &str) -> Self {
        ClassStats { label, class: class.to_owned(), clips: 0, frames: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_with_clips_and_those_with_names() {
        let counted = |label, class| ClassStats { clips: 1, frames: 8, ..ClassStats::empty(label, class) };
        let with_clips = [counted(None, ""), counted(Some(1), "old"), counted(Some(5), "own")];
        let by_label = with_clips.iter().cloned().map(|c| (c.label, c)).collect();
        let names = ["a", "b", "c"].map(str::to_owned);
        let expected = [
            counted(None, ""),
            ClassStats::empty(Some(0), "a"),
            counted(Some(1), "b"),
            ClassStats::empty(Some(2), "c"),
            counted(Some(5), "own"),
        ];
        assert_eq!(all_classes(by_label, &names), expected);
        assert_eq!(all_classes(BTreeMap::new(), &[]), []);
    }
}
