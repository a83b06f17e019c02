//! [`Rule`] and [`Short`] as the words that a command line and `dataset.json` have for them.

use std::fmt;
use std::str::FromStr;

use super::{Rule, Short};
use crate::{Error, Result};

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
        .ok_or_else(|| {
            unknown("sampling rule", word, "uniform, endpoints, random, clip[:STRIDE], random-clip[:STRIDE]")
        })
    }
}

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Short::RepeatLast => "repeat-last",
            Short::Loop => "loop",
            Short::Skip => "skip",
            Short::Error => "error",
        })
    }
}

impl FromStr for Short {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        match word {
            "repeat-last" => Ok(Short::RepeatLast),
            "loop" => Ok(Short::Loop),
            "skip" => Ok(Short::Skip),
            "error" => Ok(Short::Error),
            _ => Err(unknown("way with short videos", word, "repeat-last, loop, skip or error")),
        }
    }
}

fn unknown(what: &str, word: &str, known: &str) -> Error {
    Error::usage(format!("no {what} is called {word:?}")).help(format!("use {known}"))
}

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

impl TryFrom<String> for Short {
    type Error = Error;

    fn try_from(word: String) -> Result<Self> {
        word.parse()
    }
}

impl From<Short> for String {
    fn from(short: Short) -> String {
        short.to_string()
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
