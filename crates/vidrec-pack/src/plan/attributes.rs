//! Attributes of clips that are not packed yet. They are kept as text, because millions of small maps would fill
//! the memory.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A JSON object, kept as its text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Attributes(Box<str>);

impl Attributes {
    /// Returns the object.
    pub(crate) fn to_map(&self) -> Map<String, Value> {
        // The text was made from a map, so it parses as one.
        if self.0.is_empty() { Map::new() } else { serde_json::from_str(&self.0).unwrap_or_default() }
    }

    /// Returns the text of the object, which is empty for an empty object.
    pub fn as_json(&self) -> &str {
        &self.0
    }

    pub(super) fn from_map(map: Map<String, Value>) -> Self {
        // A map with text as keys can always be written.
        let text = if map.is_empty() { String::new() } else { serde_json::to_string(&map).unwrap_or_default() };
        Attributes(text.into())
    }

    pub(super) fn insert(&mut self, key: &str, value: impl Into<Value>) {
        let mut map = self.to_map();
        map.insert(key.to_owned(), value.into());
        *self = Attributes::from_map(map);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_goes_in_and_comes_out() {
        let mut attributes = Attributes::default();
        assert_eq!((attributes.as_json(), attributes.to_map().len()), ("", 0));
        attributes.insert("a", "x\"y");
        attributes.insert("b", vec![1, 2]);
        attributes.insert("a", 3);
        assert_eq!(attributes.as_json(), r#"{"a":3,"b":[1,2]}"#);
        assert_eq!(Value::Object(attributes.to_map()), json!({"a": 3, "b": [1, 2]}));
        assert_eq!(Attributes::from_map(attributes.to_map()), attributes);
    }
}
