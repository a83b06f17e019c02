//! Names of option values. Each option type defines once how it is written on a command line, in Python and in JSON.

/// Implements `FromStr` and `Display` for an enum of plain variants, and lists the words as `WORDS`. serde's
/// `try_from = "String", into = "String"` then uses the same words in JSON.
#[macro_export]
macro_rules! words {
    ($type:ident, $what:literal, { $($word:literal => $variant:ident),+ $(,)? }) => {
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
                    $($word => Ok($type::$variant),)+
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

/// The error about a word that no value of an option has; `what` names the option.
pub fn unknown(what: &str, word: &str, known: &[&str]) -> crate::error::Error {
    crate::error::Error::usage(format!("{what}: unknown value"))
        .expected(format!("one of {}", known.join(", ")))
        .found(word)
}

/// Sorts names by how few letters must be added, removed, replaced or swapped with a neighbor to make `word` of
/// them, then by name.
pub fn nearest_first(word: &str, names: &mut [String]) {
    names.sort_by_cached_key(|name| (letters_to_change(word, name), name.clone()));
}

/// The number of changes that make one word of another: the optimal string alignment distance.
fn letters_to_change(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // The last two rows of the table of distances between the beginnings of both words.
    let (mut before, mut row) = (Vec::new(), (0..=b.len()).collect::<Vec<usize>>());
    for i in 0..a.len() {
        let mut next = vec![i + 1];
        for j in 0..b.len() {
            let swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
            let least = (row[j] + usize::from(a[i] != b[j])).min(row[j + 1] + 1).min(next[j] + 1);
            next.push(if swapped { least.min(before[j - 1] + 1) } else { least });
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_come_in_order_of_likeness() {
        let mut names = ["score", "caption", "captions", "id"].map(String::from);
        super::nearest_first("captoin", &mut names);
        assert_eq!(names, ["caption", "captions", "id", "score"]);
        let of = |a, b| [super::letters_to_change(a, b), super::letters_to_change(b, a)];
        assert_eq!(
            [of("", "abc"), of("kitten", "sitting"), of("ab", "ba"), of("gr\u{fc}n", "grun")],
            [[3, 3], [3, 3], [1, 1], [1, 1]]
        );
    }

    #[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(try_from = "String", into = "String")]
    enum Fruit {
        Apple,
        BlackPlum,
    }

    words!(Fruit, "fruit", { "apple" => Apple, "black-plum" => BlackPlum });

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

    #[test]
    fn every_word_reads_back_as_itself_and_others_are_refused() {
        for word in Fruit::WORDS {
            let fruit: Fruit = word.parse().unwrap();
            assert_eq!(fruit.to_string(), *word);
            let json = serde_json::to_string(&fruit).unwrap();
            assert_eq!(json, format!("{word:?}"));
            assert_eq!(serde_json::from_str::<Fruit>(&json).unwrap(), fruit);
        }
        let e = "plum".parse::<Fruit>().unwrap_err();
        assert_eq!(e.to_string(), "fruit: unknown value: expected one of apple, black-plum, found plum");
    }
}
