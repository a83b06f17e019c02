//! [`Rule`] and [`Short`] as words, the same on a command line, in Python and in JSON.

use std::fmt;
use std::str::FromStr;

use super::{Rule, Short};
use crate::words::{self, words};
use crate::{Error, Result};

impl Rule {
    /// The words for the values, without a stride.
    pub const WORDS: &'static [&'static str] = &["uniform", "endpoints", "random", "clip", "random-clip"];
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Uniform => f.write_str("uniform"),
            Rule::Endpoints => f.write_str("endpoints"),
            Rule::Random => f.write_str("random"),
            Rule::Clip { stride: 1 } => f.write_str("clip"),
            Rule::Clip { stride } => write!(f, "clip:{stride}"),
            Rule::RandomClip { stride: 1 } => f.write_str("random-clip"),
            Rule::RandomClip { stride } => write!(f, "random-clip:{stride}"),
        }
    }
}

impl FromStr for Rule {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        let stride = |digits: &str| digits.parse().ok().filter(|&stride| stride > 0);
        match word {
            "uniform" => Some(Rule::Uniform),
            "endpoints" => Some(Rule::Endpoints),
            "random" => Some(Rule::Random),
            "clip" => Some(Rule::Clip { stride: 1 }),
            "random-clip" => Some(Rule::RandomClip { stride: 1 }),
            _ => match word.split_once(':') {
                Some(("clip", digits)) => stride(digits).map(|stride| Rule::Clip { stride }),
                Some(("random-clip", digits)) => stride(digits).map(|stride| Rule::RandomClip { stride }),
                _ => None,
            },
        }
        .ok_or_else(|| words::unknown("sampling rule", word, Self::WORDS).help("a stride is written as in clip:4"))
    }
}

words!(Short, "what to do with short videos", {
    "repeat-last" => RepeatLast,
    "loop" => Loop,
    "skip" => Skip,
    "error" => Error,
});

// serde's `try_from` and `into`, so that JSON has the same words.
impl TryFrom<String> for Rule {
    type Error = Error;

    fn try_from(word: String) -> Result<Self> {
        word.parse()
    }
}

impl From<Rule> for String {
    fn from(rule: Rule) -> String {
        rule.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back_as_itself() {
        for word in ["uniform", "endpoints", "random", "clip", "clip:8", "random-clip", "random-clip:3"] {
            let rule: Rule = word.parse().unwrap();
            assert_eq!(rule.to_string(), word);
            assert_eq!(serde_json::to_string(&rule).unwrap(), format!("{word:?}"));
            assert_eq!(serde_json::from_str::<Rule>(&format!("{word:?}")).unwrap(), rule);
        }
        for word in ["repeat-last", "loop", "skip", "error"] {
            let short: Short = word.parse().unwrap();
            assert_eq!(short.to_string(), word);
            assert_eq!(serde_json::to_string(&short).unwrap(), format!("{word:?}"));
            assert_eq!(serde_json::from_str::<Short>(&format!("{word:?}")).unwrap(), short);
        }
    }

    #[test]
    fn other_words_are_refused_with_the_known_ones() {
        for word in ["", "Uniform", "clip:", "clip:0", "clip:-1", "clip:x", "random-clip:0", "uniform:2"] {
            let e = word.parse::<Rule>().unwrap_err();
            assert!(e.to_string().contains("endpoints"), "{e}");
        }
        assert!("repeat_last".parse::<Short>().is_err());
        assert!(serde_json::from_str::<Short>("\"maybe\"").is_err());
    }
}
