//! What to do when something goes wrong, and where shards end.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value, json};

use super::PackOptions;
use crate::limits;

/// What to do with a video that cannot be packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// Leave the video out, whole, and list it in the report and in `failures.jsonl`.
    #[default]
    Skip,
    /// Stop; nothing is published, and what was done before can be resumed.
    Stop,
}

/// What to do with a run that was interrupted in the same folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interrupted {
    /// Do nothing and say so: it may be hours of work.
    #[default]
    Refuse,
    /// Go on with it; begin where there is none.
    Resume,
    /// Throw it away and begin anew.
    Restart,
}

/// How many videos may fail before a run stops. Those left out as asked for (`Short::Skip`) do not count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MaxFailures {
    /// So many.
    Count(u64),
    /// So many of a hundred, of all videos in the inputs.
    Percent(f64),
}

impl MaxFailures {
    /// The number of videos, of `total`.
    pub(super) fn count(self, total: u64) -> u64 {
        match self {
            MaxFailures::Count(n) => n,
            MaxFailures::Percent(p) => (total as f64 * p / 100.0) as u64,
        }
    }
}

impl FromStr for MaxFailures {
    type Err = String;

    /// Reads `20` or `1.5%`.
    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = match text.strip_suffix('%') {
            Some(p) => p.parse().ok().filter(|p| (0.0..=100.0).contains(p)).map(MaxFailures::Percent),
            None => text.parse().ok().map(MaxFailures::Count),
        };
        parsed.ok_or_else(|| "expected a number of videos, or a share such as 1.5%".into())
    }
}

/// How clips are spread over shards, in the order of the inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shards {
    /// All in one.
    #[default]
    One,
    /// So many, each with as many of the videos in the inputs, one more or less. Fewer shards come out if all videos of one fail.
    Count(u32),
    /// A new one where a clip would make the record file longer than so many bytes. A longer clip has one of its own.
    Bytes(u64),
}

impl fmt::Display for Shards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shards::One => f.write_str("one"),
            Shards::Count(n) => write!(f, "{n}"),
            Shards::Bytes(n) => write!(f, "{n} bytes"),
        }
    }
}

/// Adds what determines the bytes and is not as by default.
pub(super) fn add_to_settings(options: &PackOptions, settings: &mut Map<String, Value>) {
    let mut add = |key: &str, value: Value| drop(settings.insert(key.to_owned(), value));
    match options.shards {
        Shards::One => {}
        Shards::Count(n) => add("shards", n.into()),
        Shards::Bytes(n) => add("shard_bytes", n.into()),
    }
    if options.max_pixels != limits::MAX_PIXELS {
        add("max_pixels", options.max_pixels.into());
    }
    if let Some(duration) = options.max_duration {
        add("max_duration", json!(duration.as_secs_f64()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_failures_are_read() {
        assert_eq!("20".parse(), Ok(MaxFailures::Count(20)));
        assert_eq!("1.5%".parse(), Ok(MaxFailures::Percent(1.5)));
        for bad in ["", "%", "-1", "101%", "x"] {
            assert!(bad.parse::<MaxFailures>().is_err(), "{bad}");
        }
        assert_eq!(MaxFailures::Percent(1.5).count(1000), 15);
        assert_eq!(MaxFailures::Count(3).count(1000), 3);
    }
}
