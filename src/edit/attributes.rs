//! Finding and comparing attributes of clips.

use serde_json::Value;

/// An attribute by its name: the name itself, or a path with dots into nested objects.
pub(super) fn attribute<'a>(attributes: &'a Value, name: &str) -> Option<&'a Value> {
    attributes.get(name).or_else(|| name.split('.').try_fold(attributes, |value, key| value.get(key)))
}

/// Whether an attribute has this value; an array has each of the values in it.
pub(super) fn has_value(found: &Value, wanted: &str) -> bool {
    match found {
        Value::Array(values) => values.iter().any(|value| has_value(value, wanted)),
        other => plain(other) == wanted,
    }
}

/// A value as text: strings without quotes, all else as JSON.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
