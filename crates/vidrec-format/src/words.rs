//! Values of options as text: numbers and words.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use strum::VariantNames;

use crate::error::Error;

/// Implements serde by text (`FromStr`, `Display`): a number where the text is a whole number, a string otherwise. Both,
/// and numbers with decimals, are read.
#[macro_export]
macro_rules! serde_by_text {
    ($($type:ty),+ $(,)?) => {$(
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let text = self.to_string();
                match text.parse::<u64>() {
                    Ok(number) => serializer.serialize_u64(number),
                    Err(_) => serializer.serialize_str(&text),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::words::text(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}
pub use serde_by_text;

/// Reads a string or a number as its text.
pub fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => Ok(text),
        // 8.0 is 8.
        Value::Number(number) if number.is_f64() => Ok(number.as_f64().unwrap_or_default().to_string()),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(D::Error::custom(format!("expected a string or a number, found {other}"))),
    }
}

/// Returns the error about a word that no value of an option has; `what` names the option.
pub fn unknown(what: &str, word: &str, known: &[&str]) -> Error {
    Error::usage(format!("{what}: unknown value")).expected(format!("one of {}", known.join(", "))).found(word)
}

/// Returns the error about a word that is no variant of `T`, for `strum`.
pub fn unknown_variant<T: VariantNames>(word: &str) -> Error {
    let name = std::any::type_name::<T>();
    unknown(name.rsplit("::").next().unwrap_or(name), word, T::VARIANTS)
}

#[cfg(test)]
mod tests {
    #[derive(Debug, PartialEq)]
    struct Half(f64);

    impl std::fmt::Display for Half {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "{}", self.0)
        }
    }

    impl std::str::FromStr for Half {
        type Err = std::num::ParseFloatError;

        fn from_str(text: &str) -> Result<Self, Self::Err> {
            text.parse().map(Half)
        }
    }

    serde_by_text!(Half);

    #[test]
    fn a_value_with_a_text_is_a_number_where_the_text_is_one() {
        for (value, json) in [(Half(8.0), "8"), (Half(0.5), "\"0.5\"")] {
            assert_eq!(serde_json::to_string(&value).unwrap(), json);
            assert_eq!(serde_json::from_str::<Half>(json).unwrap(), value);
        }
        assert_eq!(["0.5", "8.0"].map(|json| serde_json::from_str::<Half>(json).unwrap()), [Half(0.5), Half(8.0)]);
        assert_eq!(super::text(serde_json::json!(8.0)).unwrap(), "8");
        assert!(serde_json::from_str::<Half>("true").is_err());
    }
}
