//! Class names, settings and provenance: the `META` section, a JSON object. `format-spec/vidrec-v1.md#meta-meta`.

use serde::de::Error as _;
use serde::{Deserialize, Serialize};

use super::json_object::JsonObject;

/// The value of [`Meta::records`] if another program wrote the record file.
pub const FOREIGN_RECORDS: &str = "foreign";

/// A shard's description of itself. Readers ignore keys that they do not know.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Meta {
    /// Class names by label; empty if labels are plain integers or absent.
    #[serde(default)]
    pub classes: Vec<String>,
    /// The program that wrote the file and its version, such as `vidrec 1.0.0`.
    #[serde(default)]
    pub tool: String,
    /// Versions of FFmpeg's libraries; absent if no video was decoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ffmpeg: Option<String>,
    /// The options that determine the bytes: sampling rule, size, quality, seed.
    #[serde(default)]
    pub settings: JsonObject,
    /// The inputs of the pack, which [`DatasetJson::packed_from`](super::dataset_json::DatasetJson::packed_from)
    /// describes. It is not in the section, because the bytes of a shard do not depend on where its videos were.
    #[serde(skip)]
    pub packed_from: Option<JsonObject>,
    /// The number of consecutive clips that are draws of one video; 1 if absent. Each clip of such a group has its
    /// number, counted from 0, in the attribute `draw`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draws: Option<u32>,
    /// `foreign` if another program wrote the ids and labels in the record file; empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub records: String,
}

impl Meta {
    /// Whether another program wrote the ids and labels in the record file, so that they say nothing about clips and
    /// frames.
    #[doc(hidden)]
    pub fn has_foreign_records(&self) -> bool {
        self.records == FOREIGN_RECORDS
    }

    /// Reads the section's bytes.
    ///
    /// # Errors
    ///
    /// The bytes are not a JSON object, or a value has the wrong type.
    #[doc(hidden)]
    pub fn from_json(bytes: &[u8]) -> serde_json::Result<Self> {
        // The text is parsed straight into the fields. A `Value` in between would take several times the memory for
        // millions of class names. The text is a copy, because text in a mapped file may stop being UTF-8 at any
        // time.
        let text = String::from_utf8(bytes.to_vec()).map_err(serde_json::Error::custom)?;
        // Serde would also accept an array of the fields in order.
        if !text.trim_ascii_start().starts_with('{') {
            return Err(serde_json::Error::custom("expected a JSON object"));
        }
        serde_json::from_str(&text)
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
            settings: JsonObject::of(json!({"frames": 8, "deep": [{"x": null}]})).unwrap(),
            draws: Some(3),
            packed_from: None,
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
