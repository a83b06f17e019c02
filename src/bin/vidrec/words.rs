//! Options that are words: the library knows them, `--help` and completions list them.

use std::ffi::OsStr;
use std::marker::PhantomData;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command};

/// Reads one of a type's words: those it lists, and others that its `FromStr` takes.
#[derive(Clone)]
pub struct Word<T> {
    words: &'static [&'static str],
    to: PhantomData<fn() -> T>,
}

/// The parser of a type with these words.
pub fn word<T>(words: &'static [&'static str]) -> Word<T> {
    Word { words, to: PhantomData }
}

impl<T: FromStr + Clone + Send + Sync + 'static> TypedValueParser for Word<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        match value.to_str().and_then(|word| word.parse().ok()) {
            Some(value) => Ok(value),
            // It refuses the value, and says which word is close.
            None => Err(PossibleValuesParser::new(self.words)
                .parse_ref(command, arg, value)
                .err()
                .unwrap_or_else(|| clap::Error::new(clap::error::ErrorKind::InvalidValue).with_cmd(command))),
        }
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
        word(Dtype::WORDS).parse_ref(&Command::new("vidrec"), None, OsStr::new(value))
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
