//! Statistics of a data set.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::tables::Tables;
use crate::{Clip, Dataset};
use vidrec_format::error::Result;

/// The statistics that [`stats`] returns. `vidrec stats --json` prints the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    /// Frames per clip.
    pub frames_per_clip: Summary,
    /// Clips by their number of frames, in bins of powers of two.
    pub frames_per_clip_bins: Vec<Bin>,
    /// Seconds from the first to the last frame of a clip, by their presentation times.
    pub seconds_per_clip: Summary,
    /// Clips whose times do not advance, such as clips of one frame. They are not in `seconds_per_clip`.
    pub clips_without_times: u64,
    /// Bytes per JPEG.
    pub bytes_per_frame: Summary,
    /// JPEGs by their size in bytes, in bins of powers of two.
    pub bytes_per_frame_bins: Vec<Bin>,
    /// Clips by the size of their frames, the most frequent size first.
    pub sizes: Vec<SizeStats>,
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

/// One size of frames.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SizeStats {
    /// Width in pixels; 0 if the frames of a clip differ.
    pub width: u32,
    /// Height in pixels; 0 if the frames of a clip differ.
    pub height: u32,
    /// Number of clips.
    pub clips: u64,
}

/// A summary of some values. All fields are 0 if there are no values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Summary {
    /// The number of values.
    pub count: u64,
    /// The smallest value.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The largest value.
    pub max: f64,
    /// The sum.
    pub sum: f64,
}

impl Summary {
    fn add(&mut self, value: f64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = if self.count == 0 { value } else { self.max.max(value) };
        self.count += 1;
        self.sum += value;
        self.mean = self.sum / self.count as f64;
    }
}

/// A bin of a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Bin {
    /// The smallest value of the bin.
    pub from: u64,
    /// The smallest value above the bin.
    pub below: u64,
    /// The number of values in the bin.
    pub count: u64,
}

/// Facts under the attribute `video` that say that something was wrong with a video.
const NOTES: [&str; 9] = [
    "damaged_frames",
    "corrupt_packets",
    "decode_errors",
    "logged_errors",
    "failed_checksums",
    "format_changes",
    "size_changes",
    "unordered_times",
    "substituted_frames",
];

/// Computes the statistics of a data set. Reads all of the indexes, but no records.
///
/// # Errors
///
/// [`Format`](vidrec_format::error::ErrorKind::Format) if an entry is damaged.
///
/// ```no_run
/// # mod vidrec { pub use vidrec_dataset::{Dataset, stats}; pub use vidrec_format::error::Error; }
/// let stats = vidrec::stats(&vidrec::Dataset::open("train")?)?;
/// println!("{} bytes an epoch", stats.epoch_bytes);
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn stats(set: &Dataset) -> Result<Stats> {
    set.prefetch_all(Tables { clips: true, frames: true, strings: true })?;
    let mut count = Count::default();
    for clip in set.clips() {
        count.clip(&clip?)?;
    }
    Ok(count.into_stats(set))
}

#[derive(Default)]
struct Count {
    classes: BTreeMap<Option<u32>, ClassStats>,
    frames: Summary,
    frame_bins: Bins,
    seconds: Summary,
    without_times: u64,
    bytes: Summary,
    byte_bins: Bins,
    sizes: BTreeMap<(u32, u32), u64>,
    short: u64,
    repeated: u64,
    repaired: u64,
    notes: BTreeMap<String, (u64, u64)>,
    epoch_bytes: u64,
    epoch_rgb_bytes: u64,
}

impl Count {
    fn clip(&mut self, clip: &Clip<'_>) -> Result<()> {
        let frames = clip.frame_count();
        let class = self.classes.entry(clip.label()).or_insert_with(|| ClassStats::empty(clip.label(), ""));
        class.clips += 1;
        class.frames += u64::from(frames);
        if class.class.is_empty() {
            clip.class()?.clone_into(&mut class.class);
        }
        self.frames.add(f64::from(frames));
        self.frame_bins.add(u64::from(frames));
        *self.sizes.entry((clip.width(), clip.height())).or_default() += 1;
        self.short += u64::from(clip.is_short());
        let pixels = u64::from(clip.width()) * u64::from(clip.height());
        self.epoch_rgb_bytes = self.epoch_rgb_bytes.saturating_add((3 * pixels).saturating_mul(u64::from(frames)));
        self.entries(clip)?;
        self.attributes(&clip.attributes()?.0.into());
        Ok(())
    }

    fn entries(&mut self, clip: &Clip<'_>) -> Result<()> {
        let entries = clip.frame_entries()?;
        for entry in &entries {
            self.bytes.add(f64::from(entry.jpeg_length));
            self.byte_bins.add(u64::from(entry.jpeg_length));
            self.epoch_bytes = self.epoch_bytes.saturating_add(u64::from(entry.jpeg_length));
        }
        let (first, last) = (entries.iter().map(|e| e.pts).min(), entries.iter().map(|e| e.pts).max());
        let ticks = first.zip(last).map_or(0, |(first, last)| i128::from(last) - i128::from(first));
        let (unit, per_second) = clip.time_base();
        if ticks > 0 {
            self.seconds.add(ticks as f64 * f64::from(unit) / f64::from(per_second));
        } else {
            self.without_times += 1;
        }
        let mut seen: Vec<(i64, u32)> = entries.iter().map(|e| (e.pts, e.jpeg_crc32)).collect();
        seen.sort_unstable();
        let all = seen.len();
        seen.dedup();
        self.repeated += if clip.is_short() { (all - seen.len()) as u64 } else { 0 };
        Ok(())
    }

    fn attributes(&mut self, attributes: &Value) {
        self.repaired += u64::from(attributes.get("repair").is_some());
        let video = attributes.get("video");
        for name in NOTES {
            let number = video.and_then(|v| v.get(name)).or_else(|| attributes.get(name)).and_then(Value::as_u64);
            if let Some(number) = number.filter(|&n| n > 0) {
                let (clips, sum) = self.notes.entry(name.into()).or_default();
                *clips += 1;
                *sum = sum.saturating_add(number);
            }
        }
    }

    fn into_stats(self, set: &Dataset) -> Stats {
        let classes = all_classes(self.classes, set.classes());
        let size = |((width, height), clips)| SizeStats { width, height, clips };
        let mut sizes: Vec<SizeStats> = self.sizes.into_iter().map(size).collect();
        sizes.sort_by_key(|s| std::cmp::Reverse(s.clips));
        Stats {
            clips: set.len(),
            frames: set.frame_count(),
            shards: set.shard_count() as u64,
            classes,
            frames_per_clip: self.frames,
            frames_per_clip_bins: self.frame_bins.into_bins(),
            seconds_per_clip: self.seconds,
            clips_without_times: self.without_times,
            bytes_per_frame: self.bytes,
            bytes_per_frame_bins: self.byte_bins.into_bins(),
            sizes,
            short_clips: self.short,
            repeated_frames: self.repeated,
            repaired_clips: self.repaired,
            video_notes: self.notes,
            epoch_bytes: self.epoch_bytes,
            epoch_rgb_bytes: self.epoch_rgb_bytes,
        }
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

/// A histogram with powers of two as bins.
#[derive(Default)]
struct Bins(BTreeMap<u32, u64>);

impl Bins {
    fn add(&mut self, value: u64) {
        *self.0.entry(value.max(1).ilog2()).or_default() += 1;
    }

    /// All bins from the first to the last that is not empty.
    fn into_bins(self) -> Vec<Bin> {
        let ends = self.0.keys().next().copied().zip(self.0.keys().next_back().copied());
        let bin = |log: u32| {
            let from = if log == 0 { 0 } else { 1 << log };
            Bin {
                from,
                below: 1u64.checked_shl(log + 1).unwrap_or(u64::MAX),
                count: self.0.get(&log).copied().unwrap_or(0),
            }
        };
        ends.map_or_else(Vec::new, |(first, last)| (first..=last).map(bin).collect())
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

    #[test]
    fn bins_are_powers_of_two_without_gaps() {
        let mut bins = Bins::default();
        [5, 6, 40, 7].into_iter().for_each(|n| bins.add(n));
        let bins = bins.into_bins();
        assert_eq!(
            bins.iter().map(|b| (b.from, b.below, b.count)).collect::<Vec<_>>(),
            [(4, 8, 3), (8, 16, 0), (16, 32, 0), (32, 64, 1)]
        );
        let mut ends = Bins::default();
        [0, u64::MAX].into_iter().for_each(|n| ends.add(n));
        let ends = ends.into_bins();
        assert_eq!((ends[0].from, ends[63].from, ends[63].below), (0, 1 << 63, u64::MAX));
    }
}
