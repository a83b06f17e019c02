//! Options that are chosen by a word: the library says which words there are, and what each stands for.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use strum::VariantNames;

/// Takes the words of an option; `--help` and completions list them.
pub fn words<T>() -> impl TypedValueParser<Value = T>
where
    T: VariantNames + FromStr<Err = crate::Error> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(T::VARIANTS).try_map(|word| word.parse())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use crate::Dtype;
    use clap::Command;

    use super::*;

    fn parse(value: &str) -> Result<Dtype, clap::Error> {
        words::<Dtype>().parse_ref(&Command::new("vidrec"), None, OsStr::new(value))
    }

    #[test]
    fn words_are_read_and_others_are_refused_with_the_list() {
        assert_eq!(parse("float16").unwrap(), Dtype::F16);
        let e = parse("float15").unwrap_err();
        assert_eq!(e.kind(), clap::error::ErrorKind::InvalidValue);
        assert!(e.to_string().contains("bfloat16"), "{e}");
    }
}
