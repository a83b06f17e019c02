//! The values of tracks as a row of a manifest gives them.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::system_path;

/// The values of a track, or their times, as a row provides them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum TrackInput {
    /// A file with the values.
    File(#[serde(with = "system_path")] PathBuf),
    /// A list in the row itself, as JSON.
    List(Box<str>),
    /// A folder of PNG files.
    Folder(#[serde(with = "system_path")] PathBuf),
    /// PNG files, which a list in the row names.
    Pictures(#[serde(with = "system_path::several")] Vec<PathBuf>),
    /// The frames of an episode in a video.
    Video(#[serde(with = "system_path")] PathBuf, EpisodeFrames),
}

/// The frames of an episode: their number, and a constant rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct EpisodeFrames {
    pub count: u32,
    /// The time at which the first frame is shown, in seconds.
    pub start: f64,
    /// Frames per second.
    pub fps: f64,
}

/// The values that a row gives for one track.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TrackCell {
    pub values: TrackInput,
    /// The times of the values, if the row has a column for them.
    pub times: Option<TrackInput>,
}

/// The values that a row gives for all tracks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RowTracks {
    /// The path of the manifest.
    pub manifest: Box<str>,
    /// The line of the row, from 1.
    pub line: u64,
    /// The cells, in the order of the specs. `None` where the row has no value.
    pub cells: Vec<Option<TrackCell>>,
}

impl RowTracks {
    /// Returns the files that the row names.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let given = self.cells.iter().flatten().flat_map(|cell| [Some(&cell.values), cell.times.as_ref()]).flatten();
        let files = given.flat_map(|given| match given {
            TrackInput::File(path) | TrackInput::Folder(path) | TrackInput::Video(path, _) => {
                std::slice::from_ref(path)
            }
            TrackInput::Pictures(paths) => paths,
            TrackInput::List(_) => &[],
        });
        files.map(PathBuf::as_path)
    }

    /// Returns the same row with other paths.
    pub fn with_paths<E>(mut self, change: impl Fn(&Path) -> Result<PathBuf, E>) -> Result<Self, E> {
        let cells = self.cells.iter_mut().flatten();
        let given = cells.flat_map(|cell| [Some(&mut cell.values), cell.times.as_mut()]).flatten();
        let files = given.flat_map(|given| match given {
            TrackInput::File(path) | TrackInput::Folder(path) | TrackInput::Video(path, _) => {
                std::slice::from_mut(path)
            }
            TrackInput::Pictures(paths) => paths,
            TrackInput::List(_) => &mut [],
        });
        for path in files {
            *path = change(path)?;
        }
        Ok(self)
    }

    /// Returns the name of the row for errors.
    pub fn place(&self) -> String {
        format!("line {} of {}", self.line, self.manifest)
    }
}

impl fmt::Display for TrackInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrackInput::File(path) | TrackInput::Folder(path) | TrackInput::Video(path, _) => {
                write!(f, "{}", path.display())
            }
            TrackInput::Pictures(paths) => write!(f, "a list of {} pictures", paths.len()),
            TrackInput::List(_) => f.write_str("a list"),
        }
    }
}
