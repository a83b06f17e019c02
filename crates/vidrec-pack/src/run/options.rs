//! What a run writes, and what it does when something goes wrong.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use vidrec_dataset::writer::Sharding;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::words::words;

/// What a run writes, and what it does when something goes wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOptions {
    /// How clips are spread over shards, in the order of the inputs. Default: one shard.
    pub sharding: Sharding,
    /// Replace a data set that is already there. Off by default.
    pub overwrite: bool,
    /// What to do with an interrupted run in the same folder. Default: refuse to begin.
    pub interrupted: Interrupted,
    /// Pack only the videos that failed when the data set in the folder was packed from the same inputs. Off by
    /// default.
    ///
    /// Existing clips are copied and checked but not decoded. New clips get their places in the order of the
    /// inputs, so the result is that of a run in which these videos had not failed. It replaces the data set when
    /// it is complete.
    pub retry_failed: bool,
    /// What to do with a video that cannot be packed. Default: skip it.
    pub on_error: OnError,
    /// How many videos may fail before the run stops. Default: any number.
    pub max_failures: Option<MaxFailures>,
    /// How often finished work is flushed to disk, which limits what a crash can cost. It is also flushed after
    /// each 1 GiB. Default: 10 seconds.
    pub commit_every: Duration,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            sharding: Sharding::One,
            overwrite: false,
            interrupted: Interrupted::Refuse,
            retry_failed: false,
            on_error: OnError::Skip,
            max_failures: None,
            commit_every: Duration::from_secs(10),
        }
    }
}

/// What to do with a video that cannot be packed.
///
/// The text form (`FromStr`, `Display`) is `skip` or `stop`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnError {
    /// Skip the whole video, and list it in the report and in `failures.jsonl`.
    #[default]
    Skip,
    /// Stop. Nothing is published, and finished work can be resumed.
    Stop,
}

words!(OnError, "what to do with a video that cannot be packed", { "skip" => Skip, "stop" => Stop });

/// What to do with a run that was interrupted in the same folder.
///
/// The text form (`FromStr`, `Display`) is `refuse`, `resume` or `restart`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Interrupted {
    /// Do nothing and return an error, because the run may be hours of work.
    #[default]
    Refuse,
    /// Resume the run. If there is none, begin.
    Resume,
    /// Discard it and start over.
    Restart,
}

impl Interrupted {
    /// Whether to resume the run that was found. If not, it is to be discarded.
    ///
    /// # Errors
    ///
    /// The run is to stay as it is. `found` describes it.
    pub(crate) fn resumes(self, found: impl FnOnce() -> Error) -> Result<bool> {
        match self {
            Interrupted::Resume => Ok(true),
            Interrupted::Restart => Ok(false),
            Interrupted::Refuse => Err(found().hint(Hint::Resume).hint(Hint::Restart)),
        }
    }
}

words!(Interrupted, "what to do with an interrupted run", {
    "refuse" => Refuse,
    "resume" => Resume,
    "restart" => Restart,
});

/// How many videos may fail before a run stops. Videos skipped as asked (`Short::Skip`) do not count.
///
/// The text form (`FromStr`, `Display`) is a number such as `20`, or a percentage such as `1.5%`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_failures_are_read() {
        for (text, most) in [("20", MaxFailures::Count(20)), ("1.5%", MaxFailures::Percent(1.5))] {
            assert_eq!(text.parse::<MaxFailures>().unwrap(), most);
            assert_eq!(most.to_string(), text);
        }
        for bad in ["", "%", "-1", "101%", "x"] {
            assert!(bad.parse::<MaxFailures>().is_err(), "{bad}");
        }
        assert_eq!(MaxFailures::Percent(1.5).count(1000), 15);
        assert_eq!(MaxFailures::Count(3).count(1000), 3);
    }
}
