//! `data`: which rows of a file belong to which episode.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::track::ParquetRows;
use vidrec_core::dataset::writer::TrackValues;
use vidrec_format::error::{Error, Result};

/// The rows of all episodes in a file: by the number of the episode, its first row and the number of its rows.
type FileRows = HashMap<i64, (u64, u64)>;

/// The files that have been read so far.
#[derive(Default)]
pub(super) struct DataRows(HashMap<PathBuf, std::result::Result<FileRows, String>>);

impl DataRows {
    /// Returns the first row of an episode in a file. An error means that rows are missing, and such an episode
    /// fails.
    pub fn of(&mut self, file: &Path, episode: u64, length: u64) -> std::result::Result<u64, String> {
        let known = self.0.entry(file.to_owned()).or_insert_with(|| rows(file).map_err(|e| format!("{e:#}")));
        let known = known.as_ref().map_err(|e| format!("{}: {e}", file.display()))?;
        let (first, count) = known.get(&i64::try_from(episode).unwrap_or(-1)).copied().unwrap_or_default();
        if count == length {
            return Ok(first);
        }
        Err(format!(
            "{} does not have one row for each frame of the episode: expected {length}, found {count}",
            file.display()
        ))
    }
}

fn rows(file: &Path) -> Result<FileRows> {
    let rows = ParquetRows::open(file)?;
    let column = |name: &str| match rows.column(name, 0..rows.rows())?.values {
        TrackValues::I64(numbers) if numbers.len() as u64 == rows.rows() => Ok(numbers),
        other => {
            let e = Error::usage(format!("column {name:?} must have a 64-bit whole number in each row"));
            Err(e.found(format!("{} of type {}", other.count(), other.kind())))
        }
    };
    let mut found = FileRows::new();
    for (row, (episode, frame)) in (0u64..).zip(column("episode_index")?.into_iter().zip(column("frame_index")?)) {
        let (first, count) = found.entry(episode).or_insert((row, 0));
        if *first + *count != row || u64::try_from(frame) != Ok(*count) {
            let e = Error::usage(format!("rows of episode {episode} are not in order"));
            let expected = format!("frame {count} in row {}", *first + *count);
            return Err(e.expected(expected).found(format!("frame {frame} in row {row}")));
        }
        *count += 1;
    }
    Ok(found)
}
