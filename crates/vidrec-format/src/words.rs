//! Values of options as text: numbers and words.

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
                deserializer.deserialize_any($crate::words::AsText)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}
pub use serde_by_text;

/// Reads a string or a number as its text.
#[doc(hidden)]
pub struct AsText;

impl serde::de::Visitor<'_> for AsText {
    type Value = String;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a string or a number")
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_u64<E>(self, number: u64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_i64<E>(self, number: i64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_f64<E>(self, number: f64) -> Result<String, E> {
        Ok(number.to_string())
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
        assert_eq!(serde_json::from_str::<Half>("0.5").unwrap(), Half(0.5));
        assert!(serde_json::from_str::<Half>("true").is_err());
    }
}
