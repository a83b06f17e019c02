//! Lists of individual clips.

use std::collections::HashSet;

use crate::dataset::Dataset;
use vidrec_format::error::{Error, Result};

/// Some clips of a data set: those with the given ordinals, and those from the given sources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClipList {
    /// Ordinals in the data set.
    pub clips: Vec<u64>,
    /// Sources; a source stands for all its clips.
    pub sources: Vec<String>,
}

impl From<Vec<String>> for ClipList {
    fn from(sources: Vec<String>) -> Self {
        ClipList { sources, ..ClipList::default() }
    }
}

impl From<Vec<u64>> for ClipList {
    fn from(clips: Vec<u64>) -> Self {
        ClipList { clips, ..ClipList::default() }
    }
}

impl ClipList {
    /// Proves that the data set has these ordinals.
    pub(super) fn check_ordinals(&self, set: &Dataset) -> Result<()> {
        match self.clips.iter().find(|&&clip| clip >= set.len()) {
            Some(clip) => {
                Err(Error::usage(format!("there is no clip {clip}")).expected(format!("less than {}", set.len())))
            }
            None => Ok(()),
        }
    }
}

/// Refuses lists that name what the data set does not have.
pub(super) fn require_found(not_found: &[String]) -> Result<()> {
    match not_found {
        [] => Ok(()),
        [one] => Err(Error::usage(format!("no clip of the data set comes from {one:?}"))),
        [first, more @ ..] => {
            Err(Error::usage(format!("no clip of the data set comes from {first:?}, nor from {} more", more.len())))
        }
    }
}

/// The wanted texts that were not found, once each, in order.
pub(super) fn not_in<'a>(found: &HashSet<String>, wanted: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut seen = HashSet::new();
    wanted.into_iter().filter(|s| !found.contains(s.as_str()) && seen.insert(*s)).cloned().collect()
}
