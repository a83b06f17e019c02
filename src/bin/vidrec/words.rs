//! Options that are chosen by a word: the library says which words there are, and what each stands for.

use std::ffi::OsStr;
use std::marker::PhantomData;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command};

/// Takes the words of an option; `--help` and completions list them. Other words that the library takes for the same
/// values are taken too.
pub fn words<T>(words: &'static [&'static str]) -> Words<T> {
    Words { words, to: PhantomData }
}

/// See [`words`].
#[derive(Clone)]
pub struct Words<T> {
    words: &'static [&'static str],
    to: PhantomData<fn() -> T>,
}

impl<T: FromStr<Err = vidrec::Error> + Clone + Send + Sync + 'static> TypedValueParser for Words<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        if let Some(value) = value.to_str().and_then(|word| word.parse().ok()) {
            return Ok(value);
        }
        // It refuses the word, lists the others and says which is close.
        let listed = PossibleValuesParser::new(self.words).try_map(|word| word.parse::<T>());
        listed.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.words.iter().map(PossibleValue::new)))
    }
}

#[cfg(test)]
mod tests {
    use vidrec::Dtype;

    use super::*;

    fn parse(value: &str) -> Result<Dtype, clap::Error> {
        words(Dtype::WORDS).parse_ref(&Command::new("vidrec"), None, OsStr::new(value))
    }

    #[test]
    fn words_are_read_and_others_are_refused_with_the_list() {
        assert_eq!(parse("float16").unwrap(), Dtype::F16);
        assert_eq!(parse("f16").unwrap(), Dtype::F16);
        let e = parse("float15").unwrap_err();
        assert_eq!(e.kind(), clap::error::ErrorKind::InvalidValue);
        assert!(e.to_string().contains("bfloat16"), "{e}");
    }
}
