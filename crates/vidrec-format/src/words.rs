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
