//! The prefixes of the names of a track's files.
//!
//! A track may have any name. Archives and file systems allow fewer names.

use std::collections::{HashMap, HashSet};

use vidrec_core::dataset::Dataset;
use vidrec_format::error::{Error, Result};

/// The prefix of all stems.
const PREFIX: &str = "track.";

/// The most characters of a track's name in a stem.
const MAX_CHARACTERS: usize = 64;

/// The stems of all tracks of a data set, by name. They do not depend on the clip.
pub(crate) struct TrackStems(HashMap<String, String>);

impl TrackStems {
    pub fn of(dataset: &Dataset) -> Result<Self> {
        Ok(Self::of_names(dataset.tracks()?.into_iter().map(|track| track.name)))
    }

    fn of_names(names: impl Iterator<Item = String>) -> Self {
        let mut taken = HashSet::new();
        let mut stem = |name: &str| {
            let plain = plain(name);
            let numbered = (2u64..).map(|n| format!("{plain}-{n}"));
            // A free number exists, because there are more numbers than tracks.
            let free = std::iter::once(plain.clone()).chain(numbered).find(|stem| taken.insert(stem.clone()));
            PREFIX.to_owned() + &free.unwrap_or(plain)
        };
        TrackStems(names.map(|name| (stem(&name), name)).map(|(stem, name)| (name, stem)).collect())
    }

    pub fn get(&self, name: &str) -> Result<&str> {
        let stem = self.0.get(name).map(String::as_str);
        stem.ok_or_else(|| Error::internal("a track that is in no schema").in_track(name))
    }
}

/// Reduces a name to lowercase letters, digits, `-` and `_`.
fn plain(name: &str) -> String {
    let plain = |c: char| {
        let small = c.to_ascii_lowercase();
        if is_plain(small) { small } else { '_' }
    };
    name.chars().take(MAX_CHARACTERS).map(plain).collect()
}

fn is_plain(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_')
}

/// Whether the text can be a stem. A stem never leads to another folder.
pub(crate) fn is_stem(text: &str) -> bool {
    text.strip_prefix(PREFIX).is_some_and(|name| !name.is_empty() && name.chars().all(is_plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_stem_of_its_own() {
        let names = ["action", "Action", "gaze.left/x", "gaze_left_x", "動", "作", "action-2", "..", &"n".repeat(255)];
        let stems = TrackStems::of_names(names.iter().map(|&name| name.to_owned()));
        let of = |name: &str| stems.get(name).unwrap().to_owned();
        assert_eq!(
            names[..4].iter().map(|n| of(n)).collect::<Vec<_>>(),
            ["track.action", "track.action-2", "track.gaze_left_x", "track.gaze_left_x-2"]
        );
        assert_eq!((of("action-2"), of("..")), ("track.action-2-2".into(), "track.__".into()));
        let all: HashSet<String> = names.iter().map(|name| of(name)).collect();
        assert_eq!(all.len(), names.len());
        assert!(all.iter().all(|stem| is_stem(stem) && stem.len() < 80), "{all:?}");
        assert!(stems.get("other").is_err());
    }
}
