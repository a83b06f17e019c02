//! Names of option values. Each option type defines once how it is written on a command line, in Python and in JSON.

/// Implements `FromStr` and `Display` for an enum of plain variants, and lists the words as `WORDS`. serde's
/// `try_from = "String", into = "String"` then uses the same words in JSON. `"word" | "other" => Variant` also reads
/// the other word, which is not listed.
#[macro_export]
macro_rules! words {
    ($type:ident, $what:literal, { $($word:literal $(| $other:literal)* => $variant:ident),+ $(,)? }) => {
        impl $type {
            /// The words for the values, as `FromStr` takes them and `Display` prints them.
            pub const WORDS: &'static [&'static str] = &[$($word),+];
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(match self { $($type::$variant => $word),+ })
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::error::Error;

            fn from_str(word: &str) -> $crate::error::Result<Self> {
                match word {
                    $($word $(| $other)* => Ok($type::$variant),)+
                    _ => Err($crate::words::unknown($what, word, Self::WORDS)),
                }
            }
        }

        impl TryFrom<String> for $type {
            type Error = $crate::error::Error;

            fn try_from(word: String) -> $crate::error::Result<Self> {
                word.parse()
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> String {
                value.to_string()
            }
        }
    };
}
pub use words;

/// The error about a word that no value of an option has; `what` names the option.
pub fn unknown(what: &str, word: &str, known: &[&str]) -> crate::error::Error {
    crate::error::Error::usage(format!("{what}: unknown value"))
        .expected(format!("one of {}", known.join(", ")))
        .found(word)
}

#[cfg(test)]
mod tests {
    #[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(try_from = "String", into = "String")]
    enum Fruit {
        Apple,
        BlackPlum,
    }

    words!(Fruit, "fruit", { "apple" => Apple, "black-plum" | "prune" => BlackPlum });

    #[test]
    fn every_word_reads_back_as_itself_and_others_are_refused() {
        for word in Fruit::WORDS {
            let fruit: Fruit = word.parse().unwrap();
            assert_eq!(fruit.to_string(), *word);
            let json = serde_json::to_string(&fruit).unwrap();
            assert_eq!(json, format!("{word:?}"));
            assert_eq!(serde_json::from_str::<Fruit>(&json).unwrap(), fruit);
        }
        assert_eq!("prune".parse::<Fruit>().unwrap(), Fruit::BlackPlum);
        let e = "plum".parse::<Fruit>().unwrap_err();
        assert_eq!(e.to_string(), "fruit: unknown value: expected one of apple, black-plum, found plum");
    }
}
