//! What a run does with an output that exists, and how often it commits.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::words::words;

/// What a run does with an output that exists, and how often it commits.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOptions {
    /// What to do if the output exists. Default [`IfExists::Fail`].
    pub if_exists: IfExists,
    /// How often finished work is flushed to disk, which limits what a crash can cost. It is also flushed after
    /// each 1 GiB. Default: 10 seconds.
    pub commit_every: Duration,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions { if_exists: IfExists::Fail, commit_every: Duration::from_secs(10) }
    }
}

/// What to do if there is a data set in the output, or an interrupted pack.
///
/// The text form (`FromStr`, `Display`, serde) is `fail`, `resume`, `retry-failed` or `replace`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum IfExists {
    /// Do nothing and return an error, because either may be hours of work.
    #[default]
    Fail,
    /// Resume an interrupted pack of the same inputs and options. If they are packed already, return the report. Begin
    /// if there is nothing.
    Resume,
    /// Pack only the videos that failed when the data set was packed from the same inputs, with the same options.
    ///
    /// Existing clips are copied and checked but not decoded. New clips get their places in the order of the inputs, so
    /// the result is that of a pack in which these videos had not failed. It replaces the data set when it is complete.
    RetryFailed,
    /// Replace a data set when the new one is complete. An interrupted pack goes on if it is the same, and is discarded
    /// if it is not.
    Replace,
}

words!(IfExists, "what to do if the output exists", {
    "fail" => Fail,
    "resume" => Resume,
    "retry-failed" => RetryFailed,
    "replace" => Replace,
});

impl IfExists {
    /// Whether an interrupted pack is resumed, if it is the same.
    ///
    /// # Errors
    ///
    /// It is to stay as it is. `found` describes it.
    pub(crate) fn resumes(self, found: impl FnOnce() -> Error) -> Result<()> {
        match self {
            IfExists::Fail => Err(found().hint(Hint::Resume).hint(Hint::Restart)),
            _ => Ok(()),
        }
    }

    /// The same where the output is in object storage: what an earlier call left on this machine is resumed.
    #[must_use]
    pub fn with_scratch(self) -> Self {
        match self {
            IfExists::Replace => IfExists::Replace,
            _ => IfExists::Resume,
        }
    }

    /// Whether the data set that is there may be replaced.
    pub(crate) fn replaces(self) -> bool {
        matches!(self, IfExists::RetryFailed | IfExists::Replace)
    }
}
