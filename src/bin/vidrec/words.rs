//! Options that are chosen by a word: the library says which words there are, and what each stands for.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Takes the words of an option; `--help` and completions list them.
pub fn words<T>(words: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = vidrec::Error> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(words).try_map(|word| word.parse())
}
