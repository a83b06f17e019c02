//! Makes one pass over the index of a data set, and collects the numbers and words of each clip.

use std::collections::BTreeMap;

use serde_json::Value;

use super::categories::Categories;
use super::clip_numbers::ClipNumbers;
use super::stats::{Classes, Stats};
use crate::dataset::{Clip, Dataset, tables::Tables};
use vidrec_format::error::Result;
use vidrec_format::frame_entry::FrameEntry;
use vidrec_format::json_object::JsonObject;

/// What is known of the clips of a data set.
#[derive(Default)]
pub(super) struct Survey {
    /// The counts that need only one clip at a time.
    pub stats: Stats,
    /// The classes of the clips.
    pub classes: Classes,
    /// The values that distributions show. A clip without a value has no entry.
    pub columns: BTreeMap<Column, Values>,
}

/// Something that is known of each clip. The order is that of the distributions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Column {
    Frames,
    Seconds,
    Rate,
    BytesPerFrame,
    Aspect,
    Year,
    Size,
    Codec,
    Container,
    PixelFormat,
    /// An attribute that is a number or a word, by its name.
    Attribute(String),
}

/// The values of a column. Of an attribute, some may be numbers and others words.
#[derive(Default)]
pub(super) struct Values {
    pub numbers: Vec<f64>,
    pub words: Categories,
}

/// The most columns. Attributes beyond it are not counted.
const MOST_COLUMNS: usize = 34;

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

impl Survey {
    /// Reads the whole index.
    pub fn of(set: &Dataset) -> Result<Survey> {
        set.prefetch_all(Tables { clips: true, frames: true, strings: true })?;
        let mut survey = Survey::default();
        for clip in set.clips() {
            survey.clip(&clip?)?;
        }
        Ok(survey)
    }

    fn clip(&mut self, clip: &Clip<'_>) -> Result<()> {
        self.classes.add(clip)?;
        let entries = clip.frame_entries()?;
        let numbers = ClipNumbers::of(clip, &entries);
        self.stats.add(clip, &entries, &numbers);
        self.number(Column::Frames, Some(f64::from(clip.frame_count())));
        self.number(Column::Seconds, numbers.seconds);
        self.number(Column::Rate, numbers.rate(clip));
        self.number(Column::BytesPerFrame, numbers.bytes_per_frame(clip));
        self.number(Column::Aspect, (clip.height() > 0).then(|| f64::from(clip.width()) / f64::from(clip.height())));
        match (clip.width(), clip.height()) {
            _ if clip.frame_count() == 0 => {}
            (0, 0) => self.word(Column::Size, "varying"),
            (width, height) => self.word(Column::Size, &format!("{width}×{height}")),
        }
        self.attributes(clip.attributes()?);
        Ok(())
    }

    fn number(&mut self, column: Column, value: Option<f64>) {
        if let Some(value) = value {
            self.columns.entry(column).or_default().numbers.push(value);
        }
    }

    fn word(&mut self, column: Column, value: &str) {
        self.columns.entry(column).or_default().words.add(value);
    }

    fn attributes(&mut self, attributes: JsonObject) {
        let video = attributes.0.get("video");
        for name in NOTES {
            let number = video.and_then(|v| v.get(name)).or_else(|| attributes.0.get(name)).and_then(Value::as_u64);
            self.stats.note(name, number.unwrap_or(0));
        }
        self.stats.repaired_clips += u64::from(attributes.0.contains_key("repair"));
        for (name, value) in attributes.0 {
            if name == "video" {
                self.video(&value);
                continue;
            }
            let column = Column::Attribute(name);
            if self.columns.len() >= MOST_COLUMNS && !self.columns.contains_key(&column) {
                continue;
            }
            match value {
                Value::Number(number) => self.number(column, number.as_f64()),
                Value::String(text) => self.word(column, &text),
                Value::Bool(value) => self.word(column, if value { "true" } else { "false" }),
                Value::Null | Value::Array(_) | Value::Object(_) => {}
            }
        }
    }

    fn video(&mut self, video: &Value) {
        let words = [(Column::Codec, "codec"), (Column::Container, "container"), (Column::PixelFormat, "pixel_format")];
        for (column, key) in words {
            if let Some(text) = video.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()) {
                self.word(column, text);
            }
        }
        let year = video.get("creation_year").and_then(Value::as_u64).and_then(|year| u16::try_from(year).ok());
        self.number(Column::Year, year.map(f64::from));
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
            let mut different: Vec<(i64, u32)> = entries.iter().map(|e| (e.pts, e.jpeg_crc32)).collect();
            different.sort_unstable();
            different.dedup();
            self.short_clips += 1;
            self.repeated_frames += (entries.len() - different.len()) as u64;
        }
    }

    fn note(&mut self, name: &str, number: u64) {
        if number > 0 {
            let (clips, sum) = self.video_notes.entry(name.into()).or_default();
            *clips += 1;
            *sum = sum.saturating_add(number);
        }
    }
}
