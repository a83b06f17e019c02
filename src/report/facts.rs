//! The facts about a clip that a page has.

use serde_json::{Value, json};

use super::strip::Strip;
use crate::stats::ClipNumbers;
use crate::{Clip, Error, Result};

/// The most characters of a text among the attributes, the most items of a list, and how deep they nest.
const TEXT: usize = 600;
const ITEMS: usize = 64;
const DEPTH: u32 = 4;
/// The most frames of a clip whose times are sent.
const MOST_FRAMES: u32 = 1 << 20;

/// Describes a clip for an exported page, with its strip and short attributes.
pub(super) fn exported(set: usize, clip: &Clip<'_>, strip: Option<Strip>) -> Result<Value> {
    let numbers = ClipNumbers::of(clip, &clip.frame_entries()?);
    let mut facts = of_index(set, clip)?;
    facts["attributes"] = shortened(facts["attributes"].take(), DEPTH);
    // Milliseconds are as much as a person reads.
    facts["seconds"] = json!(numbers.seconds.map(|seconds| (seconds * 1e3).round() / 1e3));
    facts["bytes"] = numbers.bytes.into();
    if let Some(strip) = strip {
        facts["strip"] = json!(strip);
    }
    Ok(facts)
}

/// Describes a clip for a page that asks a server for frames, with the times of all frames in seconds.
pub(super) fn served(set: usize, clip: &Clip<'_>) -> Result<Value> {
    if clip.frame_count() > MOST_FRAMES {
        let e = Error::limit("the clip has more frames than the page shows").in_clip(clip.ordinal());
        return Err(e.expected(format!("at most {MOST_FRAMES}")).found(clip.frame_count()));
    }
    let entries = clip.frame_entries()?;
    let numbers = ClipNumbers::of(clip, &entries);
    let (unit, per_second) = clip.time_base();
    let time = |pts: i64| pts as f64 * f64::from(unit) / f64::from(per_second);
    let mut facts = of_index(set, clip)?;
    facts["seconds"] = json!(numbers.seconds);
    facts["bytes"] = numbers.bytes.into();
    facts["times"] = entries.iter().map(|entry| time(entry.pts)).collect();
    Ok(facts)
}

/// Describes a clip without the entries of its frames.
pub(super) fn of_index(set: usize, clip: &Clip<'_>) -> Result<Value> {
    Ok(json!({
        "set": set,
        "clip": clip.ordinal(),
        "source": clip.source()?,
        "class": class_of(clip)?,
        "frames": clip.frame_count(),
        "width": clip.width(),
        "height": clip.height(),
        "short": clip.is_short(),
        "attributes": clip.attributes()?,
    }))
}

/// Returns the class of a clip, or its label as text.
fn class_of(clip: &Clip<'_>) -> Result<String> {
    Ok(match (clip.label(), &*clip.class()?) {
        (None, "") => "no label".into(),
        (Some(label), "") => label.to_string(),
        (_, class) => class.to_owned(),
    })
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
