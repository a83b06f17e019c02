//! Collects the facts about a clip on a page.

use serde::Serialize;
use serde_json::Value;

use super::choice::Chosen;
use super::strip::Strip;
use vidrec_core::dataset::{Clip, ClipNumbers};
use vidrec_format::error::{Error, Result};

/// A clip of the page.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ClipFacts {
    #[serde(flatten)]
    pub place: Chosen,
    source: String,
    class: String,
    frames: u32,
    width: u32,
    height: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    short: bool,
    attributes: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strip: Option<StripFacts>,
    /// The larger strip that is shown when somebody opens the clip, if the page has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened: Option<StripFacts>,
    /// The times of all frames in seconds, where a page reads the frames one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<Vec<f64>>,
}

/// The facts that a page needs to show a strip.
#[derive(Debug, Clone, Serialize)]
pub(super) struct StripFacts {
    width: u32,
    pub height: u32,
    pitch: u32,
    /// The frames of the strip. The next field has their times in seconds.
    frames: Vec<u32>,
    times: Vec<f64>,
    damaged: Vec<u32>,
}

/// The most characters of a text among the attributes, the most items of a list, and how deep they nest.
const TEXT: usize = 600;
const ITEMS: usize = 64;
const DEPTH: u32 = 4;
/// The most frames of a clip whose times are sent.
const MOST_FRAMES: u32 = 1 << 20;

impl ClipFacts {
    /// Collects the facts for a page that contains the clip, with short attributes.
    pub fn of(place: Chosen, clip: &Clip<'_>) -> Result<Self> {
        let numbers = ClipNumbers::of(clip, &clip.frame_entries()?);
        let facts = ClipFacts::of_index(place.set, clip)?;
        let (seconds, attributes) = (numbers.seconds.map(rounded), shortened(facts.attributes, DEPTH));
        Ok(ClipFacts { place, seconds, bytes: Some(numbers.bytes), attributes, ..facts })
    }

    /// Collects the facts for a page that asks a server for frames.
    pub fn of_served(set: usize, clip: &Clip<'_>) -> Result<Self> {
        if clip.frame_count() > MOST_FRAMES {
            let e = Error::limit("the clip has more frames than the page shows").in_clip(clip.ordinal());
            return Err(e.expected(format!("at most {MOST_FRAMES}")).found(clip.frame_count()));
        }
        let entries = clip.frame_entries()?;
        let numbers = ClipNumbers::of(clip, &entries);
        let (unit, per_second) = clip.time_base();
        let times = entries.iter().map(|entry| entry.pts as f64 * f64::from(unit) / f64::from(per_second)).collect();
        let facts = ClipFacts::of_index(set, clip)?;
        Ok(ClipFacts { seconds: numbers.seconds, bytes: Some(numbers.bytes), times: Some(times), ..facts })
    }

    /// Collects what the index says without the entries of frames.
    pub fn of_index(set: usize, clip: &Clip<'_>) -> Result<Self> {
        Ok(ClipFacts {
            place: Chosen { set, clip: clip.ordinal() },
            source: clip.source()?,
            class: class_of(clip)?,
            frames: clip.frame_count(),
            width: clip.width(),
            height: clip.height(),
            seconds: None,
            bytes: None,
            short: clip.is_short(),
            attributes: clip.attributes()?.0.into(),
            strip: None,
            opened: None,
            times: None,
        })
    }
}

impl StripFacts {
    pub fn of(strip: &Strip, clip: &Clip<'_>) -> Result<Self> {
        let times = strip.frames.iter().map(|&t| clip.seconds(t).map(rounded)).collect::<Result<_>>()?;
        let ((width, height), pitch) = (strip.frame, strip.pitch);
        Ok(StripFacts { width, height, pitch, frames: strip.frames.clone(), times, damaged: strip.damaged.clone() })
    }
}

/// Returns the class of a clip, or its label as text.
fn class_of(clip: &Clip<'_>) -> Result<String> {
    Ok(match (clip.label(), &*clip.class()?) {
        (None, "") => "no label".into(),
        (Some(label), "") => label.to_string(),
        (_, class) => class.to_owned(),
    })
}

/// Rounds seconds to milliseconds, which is as much as a person reads.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1e3).round() / 1e3
}

/// Returns a value without long texts and lists.
fn shortened(value: Value, depth: u32) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) if depth == 0 => "…".into(),
        Value::String(text) => match text.char_indices().nth(TEXT) {
            Some((at, _)) => format!("{}…", &text[..at]).into(),
            None => Value::String(text),
        },
        Value::Array(items) => {
            let more = (items.len() > ITEMS).then(|| "…".into());
            items.into_iter().take(ITEMS).map(|item| shortened(item, depth - 1)).chain(more).collect()
        }
        Value::Object(items) => {
            items.into_iter().take(ITEMS).map(|(name, item)| (name, shortened(item, depth - 1))).collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_attributes_are_shortened() {
        let long = json!({"text": "é".repeat(601), "list": vec![1; 65], "deep": {"a": {"b": {"c": [1]}}}, "n": 0.5});
        let short = shortened(long, DEPTH);
        assert_eq!(short["text"].as_str().unwrap().chars().count(), 601);
        assert_eq!((&short["list"][63], &short["list"][64]), (&json!(1), &json!("…")));
        assert_eq!((&short["deep"]["a"]["b"]["c"], &short["n"]), (&json!("…"), &json!(0.5)));
    }
}
