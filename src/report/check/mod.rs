//! Looks for clips that a person should look at: black, frozen, duplicate, leaked, mislabeled ones.

mod clocks;
mod failures;
mod finding;
mod glance;
mod groups;
mod hash;
mod judge;
mod known_faults;
mod looking;
mod measures;
mod naming;
mod nearest;
mod options;
mod pairs;
mod report;
mod run;
mod same;

pub use self::finding::{FailedVideo, Finding, FindingKind, FoundClip};
pub use self::options::CheckOptions;
pub use self::report::{CheckReport, CheckedSet};
pub use self::run::check;
pub(crate) use self::{
    looking::{Eyes, Seen, Wanted},
    run::check_seen,
};
