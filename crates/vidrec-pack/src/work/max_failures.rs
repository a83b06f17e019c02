//! How many videos may fail.

use std::fmt;
use std::str::FromStr;

use vidrec_format::error::{Error, Result};
use vidrec_format::words::serde_by_text;

/// How many videos may fail before a run stops. Videos skipped as asked (`ShortVideo::Skip`) do not count.
///
/// The text form (`FromStr`, `Display`, serde) is a number such as `20`, or a percentage such as `1.5%`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum MaxFailures {
    /// This many videos.
    Count(u64),
    /// This percentage of all videos in the inputs.
    Percent(f64),
}

impl MaxFailures {
    /// Returns the number of videos, out of `total`.
    pub(crate) fn count(self, total: u64) -> u64 {
        match self {
            MaxFailures::Count(n) => n,
            MaxFailures::Percent(p) => (total as f64 * p / 100.0) as u64,
        }
    }
}

impl fmt::Display for MaxFailures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MaxFailures::Count(n) => write!(f, "{n}"),
            MaxFailures::Percent(p) => write!(f, "{p}%"),
        }
    }
}

impl FromStr for MaxFailures {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parsed = match text.strip_suffix('%') {
            Some(p) => p.parse().ok().filter(|p| (0.0..=100.0).contains(p)).map(MaxFailures::Percent),
            None => text.parse().ok().map(MaxFailures::Count),
        };
        parsed.ok_or_else(|| Error::usage("expected a number of videos, or a share such as 1.5%"))
    }
}

serde_by_text!(MaxFailures);
