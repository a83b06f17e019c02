//! Makes one pass over the index of a data set, and collects the numbers of each clip, without names.

use std::collections::BTreeMap;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::categories::Categories;
use vidrec_dataset::Tables;
use vidrec_dataset::{Clip, Dataset};
use vidrec_format::error::Result;
use vidrec_format::json_object::JsonObject;

/// The numbers, words and attributes of the clips of a data set.
#[derive(Default)]
pub(super) struct Survey {
    /// The label of each clip.
    pub labels: Vec<Option<u32>>,
    /// The values that are drawn as distributions, by the name of the distribution. Clips without a value have no
    /// entry.
    pub numbers: BTreeMap<Number, Vec<f64>>,
    /// The words that clips are counted by.
    pub words: BTreeMap<Word, Categories>,
    /// The mark that identifies each clip and its source, if data sets are compared.
    pub marks: Vec<Mark>,
    /// The attributes of clips that are numbers or words, by name.
    pub attributes: BTreeMap<String, Attribute>,
}

/// A number of each clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Number {
    Frames,
    Seconds,
    Rate,
    BytesPerFrame,
    Aspect,
    Year,
}

/// A word of each clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Word {
    Size,
    Codec,
    Container,
    PixelFormat,
}

/// An attribute of clips: numbers and words may both occur.
#[derive(Default)]
pub(super) struct Attribute {
    pub numbers: Vec<f64>,
    pub words: Categories,
}

/// The identity of a clip, for comparison with clips of other data sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mark {
    /// Half of the digest of its source.
    pub source: u128,
    /// Half of a digest of its label, times and JPEGs.
    pub contents: u128,
    pub clip: u64,
}

/// The most attributes that are counted. Others are only shown with their clips.
const MOST_ATTRIBUTES: usize = 24;

impl Survey {
    /// Reads the whole index. `compared` says whether the clips get marks.
    pub fn of(set: &Dataset, compared: bool) -> Result<Survey> {
        set.prefetch_all(Tables { clips: true, frames: true, strings: true })?;
        let mut survey = Survey::default();
        for clip in set.clips() {
            survey.clip(&clip?, compared)?;
        }
        Ok(survey)
    }

    fn clip(&mut self, clip: &Clip<'_>, compared: bool) -> Result<()> {
        self.labels.push(clip.label());
        let numbers = ClipNumbers::of(clip)?;
        let aspect = (clip.height() > 0).then(|| f64::from(clip.width()) / f64::from(clip.height()));
        let all = [
            (Number::Frames, Some(f64::from(clip.frame_count()))),
            (Number::Seconds, numbers.seconds),
            (Number::Rate, numbers.rate(clip)),
            (Number::BytesPerFrame, numbers.bytes_per_frame(clip)),
            (Number::Aspect, aspect),
        ];
        for (number, value) in all {
            self.numbers.entry(number).or_default().extend(value);
        }
        let size = match (clip.width(), clip.height()) {
            (0, 0) => "varying".to_owned(),
            (width, height) => format!("{width}×{height}"),
        };
        self.word(Word::Size, &size);
        self.attributes(clip.attributes()?);
        if compared {
            self.marks.push(mark(clip)?);
        }
        Ok(())
    }

    fn word(&mut self, word: Word, value: &str) {
        self.words.entry(word).or_default().add(value);
    }

    fn attributes(&mut self, attributes: JsonObject) {
        for (name, value) in attributes.0 {
            if name == "video" {
                for (word, key) in
                    [(Word::Codec, "codec"), (Word::Container, "container"), (Word::PixelFormat, "pixel_format")]
                {
                    if let Some(text) = value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()) {
                        self.word(word, text);
                    }
                }
                let year = value.get("creation_year").and_then(Value::as_u64).and_then(|year| u16::try_from(year).ok());
                self.numbers.entry(Number::Year).or_default().extend(year.map(f64::from));
                continue;
            }
            if self.attributes.len() >= MOST_ATTRIBUTES && !self.attributes.contains_key(&name) {
                continue;
            }
            match value {
                Value::Number(number) => {
                    self.attributes.entry(name).or_default().numbers.extend(number.as_f64());
                }
                Value::String(text) => self.attributes.entry(name).or_default().words.add(&text),
                Value::Bool(value) => {
                    self.attributes.entry(name).or_default().words.add(if value { "true" } else { "false" });
                }
                Value::Null | Value::Array(_) | Value::Object(_) => {}
            }
        }
    }
}

/// The totals over the entries of a clip's frames.
pub(super) struct ClipNumbers {
    /// The seconds from the first to the last frame, if the times advance.
    pub seconds: Option<f64>,
    /// The size of its JPEGs in bytes.
    pub bytes: u64,
}

impl ClipNumbers {
    pub fn of(clip: &Clip<'_>) -> Result<ClipNumbers> {
        let entries = clip.frame_entries()?;
        let bytes = entries.iter().map(|entry| u64::from(entry.jpeg_length)).sum();
        let (first, last) = (entries.iter().map(|e| e.pts).min(), entries.iter().map(|e| e.pts).max());
        let ticks = first.zip(last).map_or(0, |(first, last)| i128::from(last) - i128::from(first));
        let (unit, per_second) = clip.time_base();
        let seconds = (ticks > 0).then(|| ticks as f64 * f64::from(unit) / f64::from(per_second));
        Ok(ClipNumbers { seconds, bytes })
    }

    /// Returns the packed frames per second.
    pub fn rate(&self, clip: &Clip<'_>) -> Option<f64> {
        self.seconds.map(|seconds| f64::from(clip.frame_count().saturating_sub(1)) / seconds)
    }

    pub fn bytes_per_frame(&self, clip: &Clip<'_>) -> Option<f64> {
        (clip.frame_count() > 0).then(|| self.bytes as f64 / f64::from(clip.frame_count()))
    }
}

fn mark(clip: &Clip<'_>) -> Result<Mark> {
    let mut contents = Sha256::new();
    contents.update(clip.label().map_or(-1, i64::from).to_le_bytes());
    contents.update(clip.class()?);
    let (unit, per_second) = clip.time_base();
    for entry in clip.frame_entries()? {
        let ticks = i128::from(entry.pts) * i128::from(unit);
        contents.update(ticks.to_le_bytes());
        contents.update(entry.jpeg_crc32.to_le_bytes());
        contents.update(entry.jpeg_length.to_le_bytes());
    }
    contents.update(per_second.to_le_bytes());
    let source = half(Sha256::digest(clip.source()?).as_slice());
    Ok(Mark { source, contents: half(contents.finalize().as_slice()), clip: clip.ordinal() })
}

/// Returns the first half of a digest.
fn half(digest: &[u8]) -> u128 {
    digest.iter().take(16).fold(0, |sum, &byte| sum << 8 | u128::from(byte))
}
