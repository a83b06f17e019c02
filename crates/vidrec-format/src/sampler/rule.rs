//! The rules that choose frames from a video that has enough of them.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::words::unknown;

/// The rule that chooses frames from a video that has enough of them.
///
/// As a word (`FromStr`, `Display`, serde): `uniform`, `endpoints`, `random`, `clip` and `random-clip` (stride 1), or
/// with a stride `clip:STRIDE` and `random-clip:STRIDE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Rule {
    /// The centers of equal segments, as in TSN's and mmaction2's `SampleFrames` in test mode. The default.
    #[default]
    Uniform,
    /// The first frame, the last, and frames evenly between, as in DALI's `uniform_sample`.
    Endpoints,
    /// One frame at random in each of the segments of `Uniform`.
    Random,
    /// Consecutive frames, each `stride` (at least 1) after the one before, in the middle of the video.
    Clip {
        /// The distance from one frame to the next.
        stride: u32,
    },
    /// Consecutive frames as in `Clip`, from a random start. All starts for which the frames are within the video
    /// are equally likely.
    RandomClip {
        /// The distance from one frame to the next.
        stride: u32,
    },
}

impl Rule {
    /// The words that `FromStr` accepts. The last two may also have a stride.
    pub const WORDS: &'static [&'static str] = &["uniform", "endpoints", "random", "clip", "random-clip"];

    /// The distance from one frame to the next if frames are evenly apart, otherwise 1.
    pub fn stride(self) -> u32 {
        match self {
            Rule::Clip { stride } | Rule::RandomClip { stride } => stride,
            Rule::Uniform | Rule::Endpoints | Rule::Random => 1,
        }
    }

    /// Returns the same rule with this stride, which is at least 1.
    ///
    /// ```
    /// use vidrec::sampler::Rule;
    ///
    /// assert_eq!(Rule::Clip { stride: 1 }.with_stride(4)?, Rule::Clip { stride: 4 });
    /// assert!(Rule::Uniform.with_stride(4).is_err());
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The rule has no stride, or already has another one.
    pub fn with_stride(self, stride: u32) -> Result<Self> {
        match self {
            rule if rule.stride() == stride => Ok(rule),
            Rule::Clip { stride: 1 } => Ok(Rule::Clip { stride }),
            Rule::RandomClip { stride: 1 } => Ok(Rule::RandomClip { stride }),
            rule => {
                let e = Error::usage(format!("the sampling rule {rule} does not support a stride of {stride}"));
                Err(e.help("choose clip or random-clip"))
            }
        }
    }

    /// Whether the frames depend on the seed.
    pub fn is_random(self) -> bool {
        matches!(self, Rule::Random | Rule::RandomClip { .. })
    }
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
        let rule = match word {
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
        };
        const KNOWN: &[&str] = &["uniform", "endpoints", "random", "clip[:STRIDE]", "random-clip[:STRIDE]"];
        rule.ok_or_else(|| unknown("sampling rule", word, KNOWN))
    }
}

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
        for word in ["clip:8", "random-clip:3"].iter().chain(Rule::WORDS) {
            let rule: Rule = word.parse().unwrap();
            assert_eq!(rule.to_string(), *word);
            assert_eq!(serde_json::to_string(&rule).unwrap(), format!("{word:?}"));
            assert_eq!(serde_json::from_str::<Rule>(&format!("{word:?}")).unwrap(), rule);
        }
    }

    #[test]
    fn other_words_are_refused_with_the_known_ones() {
        for word in ["", "Uniform", "clip:", "clip:0", "clip:-1", "clip:x", "random-clip:0", "uniform:2"] {
            let e = word.parse::<Rule>().unwrap_err();
            assert!(e.to_string().contains("endpoints"), "{e}");
        }
    }
}
