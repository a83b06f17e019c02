//! What a row of a manifest provides for tracks.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The values of a track, or their times, as a row provides them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Given {
    /// A file with the values.
    File(#[serde(with = "system_path")] PathBuf),
    /// A list in the row itself, as JSON.
    List(Box<str>),
}

/// What a row provides for one track.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TrackCell {
    pub values: Given,
    /// The times of the values, if the row has a column for them.
    pub times: Option<Given>,
}

/// What a row provides for all tracks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RowTracks {
    /// The path of the manifest, or of the folder of the episodes.
    pub manifest: Box<str>,
    /// The line of the row, from 1, or the number of an episode, from 0.
    pub line: u64,
    /// The cells, in the order of the specs. `None` where the row has no value.
    pub cells: Vec<Option<TrackCell>>,
    /// The rows with the values of an episode, which has no cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episode: Option<EpisodeRows>,
}

/// The rows with the values of an episode. In each column they begin at `first`, with one row for each frame.
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

    /// Returns the files that the row names.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let given = self.cells.iter().flatten().flat_map(|cell| [Some(&cell.values), cell.times.as_ref()]).flatten();
        let files = given.filter_map(|given| match given {
            Given::File(path) => Some(path.as_path()),
            Given::List(_) => None,
        });
        files.chain(self.episode.iter().map(|rows| rows.file.as_path()))
    }

    /// Returns the same row with other paths.
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

    /// Returns the name of the row for errors.
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

/// Paths as the system has them, including those that are not UTF-8.
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
