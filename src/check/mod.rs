//! Looking for clips that a person should look at: black, frozen, duplicate, leaked, mislabelled ones.

mod finding;

pub use self::finding::{Finding, FindingKind, FoundClip};
