//! Looking for clips that a person should look at: black, frozen, duplicate, leaked, mislabelled ones.

mod finding;
mod options;
mod report;

pub use self::finding::{FailedVideo, Finding, FindingKind, FoundClip};
pub use self::options::CheckOptions;
pub use self::report::{CheckReport, CheckedSet};
use crate::{Dataset, Error, ProgressFn, Result};

/// Looks for clips that a person should look at, in one or several data sets.
pub fn check(sets: &[Dataset], options: &CheckOptions, progress: &mut ProgressFn<'_>) -> Result<CheckReport> {
    let _ = (sets, options, progress);
    Err(Error::usage("to come"))
}
