//! Arguments that several commands take: clips by number (`5`, `3-7`, `all`) and by class, words, pairs, numbers of threads.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use strum::VariantNames;

use crate::Dataset;
use crate::cli::Failure;
use crate::edit::{ClipList, Selection};

/// Which clips: all of them, unless something is given.
#[derive(clap::Args)]
pub struct ClipArgs {
    /// Clips by number, counted from 0: 5, 3-7 or all, with commas between.
    #[arg(long, value_name = "RANGES", value_delimiter = ',')]
    clips: Vec<ClipRange>,
    /// Clips of this class, by name, or by number where classes have no names. May be given several times: any of them.
    #[arg(long, value_name = "CLASS")]
    class: Vec<String>,
}

impl ClipArgs {
    /// Returns the selection for the library; `None` for all clips. Opens the data set if it has to know how many clips there are.
    pub fn selection(&self, open: impl FnOnce() -> Result<Dataset, Failure>) -> Result<Option<Selection>, Failure> {
        if self.clips.is_empty() && self.class.is_empty() {
            return Ok(None);
        }
        let list = match self.clips.is_empty() {
            true => None,
            false => Some(ClipList { clips: ordinals(&self.clips, open()?.len())?, ..ClipList::default() }),
        };
        Ok(Some(Selection { classes: self.class.clone(), list, ..Selection::default() }))
    }
}

/// Some clips, by their ordinals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClipRange {
    /// Every clip.
    All,
    /// From the first to the last, both inclusive.
    Between(u64, u64),
}

impl FromStr for ClipRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |t: &str| {
            t.parse::<u64>().map_err(|_| format!("\"{text}\" is neither a number, a range such as 3-7, nor \"all\""))
        };
        if text == "all" {
            return Ok(ClipRange::All);
        }
        let (first, last) = match text.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(text)?, number(text)?),
        };
        if first > last {
            return Err(format!("\"{text}\" ends before it begins"));
        }
        Ok(ClipRange::Between(first, last))
    }
}

/// The ordinals of some ranges, in the order given, in a data set of `len` clips.
pub fn ordinals(ranges: &[ClipRange], len: u64) -> Result<Vec<u64>, String> {
    let mut all = Vec::new();
    for range in ranges {
        let (first, last) = match range {
            ClipRange::All if len == 0 => continue,
            ClipRange::All => (0, len - 1),
            ClipRange::Between(first, last) => (*first, *last),
        };
        if last >= len {
            return Err(format!("there is no clip {last}: the data set has {len} clips, counted from 0"));
        }
        all.extend(first..=last);
    }
    Ok(all)
}

/// Takes the words of an option; `--help` and completions list them.
pub fn words<T>() -> impl TypedValueParser<Value = T>
where
    T: VariantNames + FromStr<Err = crate::Error> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(T::VARIANTS).try_map(|word| word.parse())
}

/// A number of threads, 1 to 1024.
pub fn parse_threads(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| (1..=1024).contains(n)).ok_or_else(|| "expected 1 to 1024".into())
}

/// `NAME=VALUE`.
pub fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        let parse = |t: &str| t.parse::<ClipRange>();
        assert_eq!(parse("5"), Ok(ClipRange::Between(5, 5)));
        assert_eq!(parse("3-7"), Ok(ClipRange::Between(3, 7)));
        assert_eq!(parse("all"), Ok(ClipRange::All));
        for bad in ["", "x", "7-3", "-1", "1-", "1-2-3"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert_eq!(ordinals(&[ClipRange::Between(4, 4), ClipRange::Between(0, 1)], 5), Ok(vec![4, 0, 1]));
        assert_eq!(ordinals(&[ClipRange::All], 2), Ok(vec![0, 1]));
        assert_eq!(ordinals(&[ClipRange::All], 0), Ok(vec![]));
        assert!(ordinals(&[ClipRange::Between(5, 5)], 5).is_err());
    }

    #[test]
    fn values_are_read_and_others_refused() {
        assert_eq!(parse_threads("4"), Ok(4));
        assert!(["", "0", "-1", "1025", "two"].iter().all(|bad| parse_threads(bad).is_err()));
        assert_eq!(parse_pair("a=b=c"), Ok(("a".into(), "b=c".into())));
        assert_eq!(parse_pair("a="), Ok(("a".into(), String::new())));
        assert!(parse_pair("=b").is_err() && parse_pair("ab").is_err());
    }
}
