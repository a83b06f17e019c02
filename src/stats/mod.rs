//! Statistics of data sets: the distributions of their clips.

mod distribution;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use serde::Serialize;
use serde_json::Value;

pub use self::distribution::{Bin, Distribution, Summary};
use self::distribution::{Words, bins_of_numbers, bins_of_words};
use crate::{Clip, Dataset, TrackStats};
use vidrec_format::{FrameEntry, JsonObject, Result, SectionId};

/// The statistics that [`stats`] returns. `vidrec inspect --stats --json` prints the same.
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
    /// The distributions of the clips over lengths, sizes, formats and attributes: numbers first, then words.
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
    /// JPEG bytes that an epoch over all frames of all clips reads.
    pub epoch_bytes: u64,
    /// Bytes of all frames decoded to RGB with one byte per channel, for the frames whose size is known.
    pub epoch_rgb_bytes: u64,
    /// Statistics of tracks, by name. `None` from [`stats`], which reads no tracks:
    /// [`track_stats`](crate::track_stats) makes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tracks: Option<BTreeMap<String, TrackStats>>,
    /// Statistics of pictures. `None` from [`stats`], which reads no pictures:
    /// [`picture_stats`](crate::picture_stats) computes them.
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

/// Computes the statistics of a data set. Reads all of the indexes, but no records.
///
/// # Errors
///
/// [`Format`](vidrec_format::error::ErrorKind::Format) if an entry is damaged.
///
/// ```no_run
/// let stats = vidrec::stats(&vidrec::Dataset::open("train")?)?;
/// println!("{} bytes an epoch", stats.epoch_bytes);
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn stats(set: &Dataset) -> Result<Stats> {
    stats_of(slice::from_ref(set)).map(|mut all| all.swap_remove(0))
}

/// Computes the statistics of each of several data sets. All of them have the same [`Distribution`]s with the same
/// bins, so that their numbers can be compared.
///
/// # Errors
///
/// The same as [`stats`].
///
/// ```no_run
/// let stats = vidrec::stats_of(&[vidrec::Dataset::open("train")?, vidrec::Dataset::open("val")?])?;
/// for (train, val) in stats[0].distributions.iter().zip(&stats[1].distributions) {
///     println!("{}: {:?} and {:?}", train.title, train.summary, val.summary);
/// }
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn stats_of(sets: &[Dataset]) -> Result<Vec<Stats>> {
    let mut surveys = sets.iter().map(Survey::new).collect::<Result<Vec<_>>>()?;
    let mut columns: Vec<_> = surveys.iter_mut().map(|survey| std::mem::take(&mut survey.columns)).collect();
    let names: BTreeSet<Column> = columns.iter().flat_map(|columns| columns.keys().cloned()).collect();
    for column in names {
        let values = columns.iter_mut().map(|columns| columns.remove(&column).unwrap_or_default());
        let (mut numbers, words): (Vec<_>, Vec<_>) = values.map(|values| (values.numbers, values.words)).unzip();
        add_distribution(&mut surveys, &column, bins_of_numbers(&mut numbers));
        // If most clips have a word of their own, such as a caption, there is nothing to count.
        let is_counted = column.0 < ATTRIBUTE || words.iter().any(Words::repeat);
        add_distribution(&mut surveys, &column, if is_counted { bins_of_words(&words) } else { Vec::new() });
    }
    Ok(surveys.into_iter().map(|survey| survey.stats).collect())
}

/// Adds a distribution, given as the bins and the summary of each data set, if it has bins.
fn add_distribution(surveys: &mut [Survey], column: &Column, found: Vec<(Vec<Bin>, Option<Summary>)>) {
    for (survey, (bins, summary)) in surveys.iter_mut().zip(found) {
        let without = survey.stats.clips.saturating_sub(bins.iter().map(|bin| bin.clips).sum());
        let (title, unit) = (column.1.clone().into_owned(), column.2);
        survey.stats.distributions.push(Distribution { title, unit, bins, summary, without });
    }
}

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
}

/// Everything that is known of the clips of a data set.
#[derive(Default)]
struct Survey {
    stats: Stats,
    /// The values that distributions show. A clip without a value has no entry.
    columns: BTreeMap<Column, Values>,
    classes: BTreeMap<Option<u32>, ClassStats>,
}

/// A property of clips that has a distribution: its place among the distributions, its title, and its unit.
type Column = (u8, Cow<'static, str>, &'static str);

/// The place of the distributions of attributes, which are in order of their names.
const ATTRIBUTE: u8 = 10;

/// The values of a column. Of an attribute, some may be numbers and others words.
#[derive(Default)]
struct Values {
    numbers: Vec<f64>,
    words: Words,
}

/// The most columns. Attributes beyond it are not counted.
const MOST_COLUMNS: usize = 34;

impl Survey {
    /// Reads the whole index.
    fn new(set: &Dataset) -> Result<Survey> {
        set.prefetch_all(&[SectionId::CLIPS, SectionId::FRAMES, SectionId::STRINGS])?;
        let mut survey = Survey::default();
        for clip in set.clips() {
            survey.add(&clip?)?;
        }
        (0..).zip(set.classes()).for_each(|(label, name)| survey.class(Some(label)).class.clone_from(name));
        let classes = std::mem::take(&mut survey.classes).into_values().collect();
        let (clips, frames, shards) = (set.len(), set.frame_count(), set.shard_count() as u64);
        survey.stats = Stats { clips, frames, shards, classes, ..survey.stats };
        Ok(survey)
    }

    fn class(&mut self, label: Option<u32>) -> &mut ClassStats {
        self.classes.entry(label).or_insert(ClassStats { label, class: String::new(), clips: 0, frames: 0 })
    }

    fn add(&mut self, clip: &Clip<'_>) -> Result<()> {
        let entries = clip.frame_entries()?;
        let numbers = ClipNumbers::of(clip, &entries);
        self.stats.add(clip, &entries, &numbers);
        let class = self.class(clip.label());
        class.clips += 1;
        class.frames += u64::from(clip.frame_count());
        if class.class.is_empty() && clip.label().is_some() {
            class.class = clip.class()?;
        }
        let (frames, width, height) = (f64::from(clip.frame_count()), clip.width(), clip.height());
        let rate = numbers.seconds.map(|seconds| (frames - 1.0) / seconds);
        let mean = (frames > 0.0).then(|| numbers.bytes as f64 / frames);
        let aspect = (height > 0).then(|| f64::from(width) / f64::from(height));
        self.value((0, "Frames per clip".into(), ""), &frames.into());
        self.value((1, "Seconds per clip, first frame to last".into(), "s"), &numbers.seconds.into());
        self.value((2, "Packed frames per second".into(), "/s"), &rate.into());
        self.value((3, "Bytes per frame, mean of each clip".into(), "B"), &mean.into());
        self.value((4, "Width by height".into(), ""), &aspect.into());
        if frames > 0.0 {
            let size = if (width, height) == (0, 0) { "varying".into() } else { format!("{width}×{height}") };
            self.value((6, "Size of the frames".into(), ""), &size.into());
        }
        self.attributes(clip.attributes()?);
        Ok(())
    }

    /// Adds a number or a word to a column.
    fn value(&mut self, column: Column, value: &Value) {
        let values = || self.columns.entry(column).or_default();
        match value {
            Value::Number(number) => values().numbers.extend(number.as_f64()),
            Value::String(text) => values().words.add(text),
            Value::Bool(value) => values().words.add(&value.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => {}
        }
    }

    fn attributes(&mut self, attributes: JsonObject) {
        for (name, value) in attributes.0 {
            if name == "video" {
                self.video(&value);
                continue;
            }
            let column = (ATTRIBUTE, format!("Attribute {name}").into(), "");
            if self.columns.len() >= MOST_COLUMNS && !self.columns.contains_key(&column) {
                continue;
            }
            self.value(column, &value);
        }
    }

    fn video(&mut self, video: &Value) {
        let text = |key: &str| video.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).into();
        let year = video.get("creation_year").and_then(Value::as_u64).and_then(|year| u16::try_from(year).ok());
        self.value((5, "Year of the video, by its container".into(), "year"), &year.into());
        self.value((7, "Codec of the video".into(), ""), &text("codec"));
        self.value((8, "Container of the video".into(), ""), &text("container"));
        self.value((9, "Pixel format of the video".into(), ""), &text("pixel_format"));
    }
}

impl Stats {
    fn add(&mut self, clip: &Clip<'_>, entries: &[FrameEntry], numbers: &ClipNumbers) {
        let frames = u64::from(clip.frame_count());
        let pixels = u64::from(clip.width()) * u64::from(clip.height());
        self.most_frames = self.most_frames.max(clip.frame_count());
        self.seconds += numbers.seconds.unwrap_or(0.0);
        self.epoch_bytes = self.epoch_bytes.saturating_add(numbers.bytes);
        self.epoch_rgb_bytes = self.epoch_rgb_bytes.saturating_add((3 * pixels).saturating_mul(frames));
        for length in entries.iter().map(|entry| entry.jpeg_length) {
            self.smallest_frame_bytes = self.smallest_frame_bytes.map_or(Some(length), |least| Some(least.min(length)));
            self.largest_frame_bytes = self.largest_frame_bytes.max(Some(length));
        }
        if clip.is_short() {
            let different: BTreeSet<(i64, u32)> = entries.iter().map(|e| (e.pts, e.jpeg_crc32)).collect();
            self.short_clips += 1;
            self.repeated_frames += (entries.len() - different.len()) as u64;
        }
    }
}
