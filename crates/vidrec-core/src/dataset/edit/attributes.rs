//! Comparing attributes of clips.

use serde_json::Value;

/// Whether an attribute has this value. An array has the value of each of its elements.
pub(super) fn has_value(found: &Value, wanted: &str) -> bool {
    match found {
        Value::Array(values) => values.iter().any(|value| has_value(value, wanted)),
        other => plain(other) == wanted,
    }
}

/// A value as text: strings without quotes, everything else as JSON.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
