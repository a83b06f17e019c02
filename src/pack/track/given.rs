//! What a row of a manifest gives for tracks.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The values of a track, or their times, as a row gives them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Given {
    /// In a file.
    File(#[serde(with = "system_path")] PathBuf),
    /// In the row itself: a list as JSON.
    List(Box<str>),
}

/// What a row gives for one track.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TrackCell {
    pub values: Given,
    /// Their times, where the row has a column for them.
    pub times: Option<Given>,
}

/// What a row gives for all tracks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RowTracks {
    /// The manifest, or the folder of the episodes.
    pub manifest: Box<str>,
    /// The row's line, from 1; the number of an episode, from 0.
    pub line: u64,
    /// In the order of the specs; `None` where the row has nothing.
    pub cells: Vec<Option<TrackCell>>,
    /// The values of an episode, which have no cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episode: Option<EpisodeRows>,
}

/// Where the values of an episode are: in each column the rows from `first` on, one for each frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct EpisodeRows {
    #[serde(with = "system_path")]
    pub file: PathBuf,
    pub first: u64,
    pub count: u64,
}

impl RowTracks {
    fn given(&mut self) -> impl Iterator<Item = &mut Given> {
        self.cells.iter_mut().flatten().flat_map(|cell| [Some(&mut cell.values), cell.times.as_mut()]).flatten()
    }

    /// The files that it names.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let given = self.cells.iter().flatten().flat_map(|cell| [Some(&cell.values), cell.times.as_ref()]).flatten();
        let files = given.filter_map(|given| match given {
            Given::File(path) => Some(path.as_path()),
            Given::List(_) => None,
        });
        files.chain(self.episode.iter().map(|rows| rows.file.as_path()))
    }

    /// The same with other paths.
    pub fn with_paths<E>(mut self, change: impl Fn(&Path) -> Result<PathBuf, E>) -> Result<Self, E> {
        for given in self.given() {
            if let Given::File(path) = given {
                *path = change(path)?;
            }
        }
        if let Some(rows) = &mut self.episode {
            rows.file = change(&rows.file)?;
        }
        Ok(self)
    }

    /// The row, for errors.
    pub fn place(&self) -> String {
        let what = if self.episode.is_some() { "episode" } else { "line" };
        format!("{what} {} of {}", self.line, self.manifest)
    }
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Given::File(path) => write!(f, "{}", path.display()),
            Given::List(_) => f.write_str("a list"),
        }
    }
}

/// Paths as the system has them, also those that are not UTF-8.
mod system_path {
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        OsString::deserialize(from).map(PathBuf::from)
    }
}
