//! A JSON object whose keys the caller chooses: a clip's attributes, or the settings of a data set.

use std::fmt;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// A JSON object: values by name, in the order of the names.
///
/// It reads and writes every type that serde supports: numbers, text, lists, structures. Its text form is compact
/// JSON.
///
/// ```
/// # fn main() -> vidrec::Result<()> {
/// use vidrec::JsonObject;
///
/// let mut attributes: JsonObject = r#"{"caption": "a cat", "fps": 25}"#.parse()?;
/// attributes.insert("scores", [0.5, 0.25])?;
///
/// assert_eq!(attributes.get::<String>("caption")?.as_deref(), Some("a cat"));
/// assert_eq!(attributes.get::<Vec<f64>>("scores")?, Some(vec![0.5, 0.25]));
/// assert_eq!(attributes.get::<u32>("missing")?, None);
/// assert_eq!(attributes.to_string(), r#"{"caption":"a cat","fps":25,"scores":[0.5,0.25]}"#);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JsonObject(#[doc(hidden)] pub Map<String, Value>);

impl JsonObject {
    /// Converts a map or a structure to a JSON object.
    ///
    /// # Errors
    ///
    /// The value is neither, or cannot be written as JSON, such as a map whose keys are not text.
    pub fn of(value: impl Serialize) -> Result<Self> {
        let object = serde_json::to_value(value).and_then(serde_json::from_value);
        object.map_err(|e| Error::usage(format!("this is not a JSON object: {e}")))
    }

    /// Returns the value of this name; `None` if there is none.
    ///
    /// # Errors
    ///
    /// The value is not a `T`.
    pub fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let Some(value) = self.0.get(name) else { return Ok(None) };
        T::deserialize(value)
            .map(Some)
            .map_err(|e| Error::usage(format!("the value {name:?} has the wrong type: {e}")).found(value))
    }

    /// Sets a value, and replaces an existing value of the same name.
    ///
    /// # Errors
    ///
    /// The value cannot be written as JSON.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Serialize) -> Result<()> {
        let name = name.into();
        let value = serde_json::to_value(value)
            .map_err(|e| Error::usage(format!("the value {name:?} cannot be written as JSON: {e}")))?;
        self.0.insert(name, value);
        Ok(())
    }

    /// Removes a value. Returns whether it existed.
    pub fn remove(&mut self, name: &str) -> bool {
        self.0.remove(name).is_some()
    }

    /// Sets the values of another object. A null removes a value.
    #[doc(hidden)]
    pub fn merge(&mut self, other: JsonObject) {
        for (name, value) in other.0 {
            self.0.remove(&name);
            self.0.extend(Some((name, value)).filter(|(_, value)| !value.is_null()));
        }
    }

    /// Returns the value of this name, or at this path with dots into nested objects.
    pub fn find(&self, path: &str) -> Option<&Value> {
        let nested = || {
            let (first, rest) = path.split_once('.')?;
            rest.split('.').try_fold(self.0.get(first)?, |value, key| value.get(key))
        };
        self.0.get(path).or_else(nested)
    }

    /// Whether there is a value of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The names of the values in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromStr for JsonObject {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|e| Error::usage(format!("this is not a JSON object: {e}")))
    }
}

/// Writes compact JSON.
impl fmt::Display for JsonObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(&self.0).map_err(|_| fmt::Error)?)
    }
}

/// Structures that are read from objects alone. serde would also accept an array of the fields in order. A tree of values would show
/// the difference, but it takes many times the memory of its text.
pub(super) mod objects {
    use std::fmt;
    use std::marker::PhantomData;

    use serde::de::value::MapAccessDeserializer;
    use serde::de::{MapAccess, Visitor};
    use serde::{Deserialize, Deserializer};

    /// A `T` that was read from an object.
    struct Object<T>(T);

    impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_map(OfObject(PhantomData)).map(Object)
        }
    }

    struct OfObject<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for OfObject<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }

    /// Reads an object.
    pub(crate) fn object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        Object::deserialize(deserializer).map(|Object(value)| value)
    }

    /// Reads an object or `null`.
    pub(crate) fn optional<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<T>, D::Error> {
        Option::<Object<T>>::deserialize(deserializer).map(|value| value.map(|Object(value)| value))
    }

    /// Reads an array of objects.
    pub(crate) fn array<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
        let objects = Vec::<Object<T>>::deserialize(deserializer)?;
        // The objects stay in the same memory.
        Ok(objects.into_iter().map(|Object(object)| object).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_objects_are_read() {
        for bad in ["", "[]", "null", "1", "{", "{} {}", r#"{"a": NaN}"#] {
            assert!(bad.parse::<JsonObject>().is_err(), "{bad}");
        }
        assert!(JsonObject::of(1).is_err());
        assert!("{}".parse::<JsonObject>().unwrap().is_empty());
    }

    #[test]
    fn a_value_of_another_type_is_refused_and_kept() {
        let object: JsonObject = r#"{"a": 1}"#.parse().unwrap();
        let error = object.get::<String>("a").unwrap_err();
        assert!(format!("{error:#}").contains("\"a\" has the wrong type"), "{error:#}");
        assert_eq!(object.get::<u8>("a").unwrap(), Some(1));
        let by_number = std::collections::BTreeMap::from([((1, 2), 3)]);
        assert!(JsonObject::default().insert("map", by_number).is_err());
    }
}
