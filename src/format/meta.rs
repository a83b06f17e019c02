//! Class names, settings and provenance: the `META` section, a JSON object. `format-spec/vidrec-v1.md#meta-meta`.

use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// [`Meta::records`] of an index beside a record file that another program wrote.
pub const FOREIGN_RECORDS: &str = "foreign";

/// What a shard says of itself. Keys that a reader does not know are ignored.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Meta {
    /// Class names by label; empty when labels are plain integers or absent.
    #[serde(default)]
    pub classes: Vec<String>,
    /// The program that wrote the file and its version, for instance `vidrec 0.1.0`.
    #[serde(default)]
    pub tool: String,
    /// Versions of FFmpeg's libraries; absent when no video was decoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ffmpeg: Option<String>,
    /// The options that determine the bytes: sampling rule, size, quality, seed.
    #[serde(default)]
    pub settings: Map<String, Value>,
    /// How many clips in a row are draws of one video; absent: 1. Each clip of such a group has its number, from 0, in
    /// the attribute `draw`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draws: Option<u32>,
    /// [`FOREIGN_RECORDS`] where ids and labels in the record file are another program's; empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub records: String,
}

impl Meta {
    /// Whether ids and labels in the record file are another program's, and say nothing of clips and frames.
    pub fn has_foreign_records(&self) -> bool {
        self.records == FOREIGN_RECORDS
    }

    /// Reads the section's bytes.
    ///
    /// # Errors
    ///
    /// Not a JSON object, or a key of the wrong type.
    pub fn from_json(bytes: &[u8]) -> serde_json::Result<Self> {
        // Straight to the fields: as a `Value` in between, millions of class names would take several times their memory.
        let text = std::str::from_utf8(bytes).map_err(serde_json::Error::custom)?;
        // Serde would also take an array of the fields in their order.
        if !text.trim_ascii_start().starts_with('{') {
            return Err(serde_json::Error::custom("expected a JSON object"));
        }
        serde_json::from_str(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_is_read_and_unknown_keys_are_passed_over() {
        let meta = Meta {
            classes: vec!["a".into(), "b \"c\"".into()],
            tool: "t".into(),
            ffmpeg: Some("f".into()),
            settings: json!({"frames": 8, "deep": [{"x": null}]}).as_object().unwrap().clone(),
            draws: Some(3),
            records: FOREIGN_RECORDS.into(),
        };
        let mut value = serde_json::to_value(&meta).unwrap();
        value["unknown"] = json!({"a": [1, {"b": 2}]});
        assert_eq!(Meta::from_json(value.to_string().as_bytes()).unwrap(), meta);
        assert_eq!(Meta::from_json(b" {} ").unwrap(), Meta::default());
    }

    #[test]
    fn other_json_is_refused() {
        let more: &[&[u8]] = &[b"{\"unknown\": \"\xff\"}", b"{} {}", br#"{"unknown": NaN}"#, b""];
        let bad = [
            "[]",
            r#"[[], "t"]"#,
            "null",
            r#""x""#,
            r#"{"classes": {}}"#,
            r#"{"classes": [1]}"#,
            r#"{"classes": null}"#,
            r#"{"tool": null}"#,
            r#"{"settings": []}"#,
            r#"{"draws": -1}"#,
            r#"{"draws": "2"}"#,
        ];
        for bad in bad.iter().map(|bad| bad.as_bytes()).chain(more.iter().copied()) {
            assert!(Meta::from_json(bad).is_err(), "{}", bad.escape_ascii());
        }
    }
}
