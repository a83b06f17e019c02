//! Looks for clips that a person should look at: black, frozen, duplicate, leaked, mislabeled ones.

mod clip;
mod duplicates;
mod finding;
mod hash;
mod luma;
mod measures;
mod nearest;
mod rounded_times;
mod rules;
mod run;

pub use self::finding::{CheckOptions, CheckReport, CheckedSet, FailedVideo, Finding, FindingKind, FoundClip};
pub use self::run::check;
