//! Options of the command line that are chosen by a word.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use strum::VariantNames;

use vidrec_format::error::Error;

/// Takes the words of an option. `--help` and completions list them.
pub(crate) fn words<T>() -> impl TypedValueParser<Value = T>
where
    T: VariantNames + FromStr<Err = Error> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(T::VARIANTS).try_map(|word| word.parse())
}
