//! `meta/episodes`, or in version 2 `meta/episodes.jsonl`: the length and tasks of each episode, and its place in the
//! videos.

use std::fs;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::lines;
use crate::track::ParquetRows;
use vidrec_core::dataset::writer::TrackValues;
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;

const EPISODES: &str = "meta/episodes";
const EPISODES_2: &str = "meta/episodes.jsonl";

/// An episode.
pub(super) struct Episode {
    pub number: u64,
    /// Number of frames.
    pub length: u64,
    pub tasks: Vec<String>,
    /// The chunk and file with its rows.
    pub data: (u64, u64),
    /// The place of its frames in a video, for each camera.
    pub places: Vec<PicturePlace>,
}

/// The place of an episode's frames from one camera.
#[derive(Debug, Clone, Copy)]
pub(super) struct PicturePlace {
    pub chunk: u64,
    pub file: u64,
    /// The time at which the first frame is shown, in seconds.
    pub start: f64,
}

/// An episode in version 2.
#[derive(Deserialize)]
struct EpisodeLine {
    episode_index: u64,
    length: u64,
    #[serde(default)]
    tasks: Vec<String>,
}

/// Reads all episodes in their order, with their places in the videos of these cameras. `own_files` is that of
/// [`Info`](super::info::Info).
pub(super) fn read(folder: &Path, cameras: &[&str], own_files: Option<NonZeroU64>) -> Result<Vec<Episode>> {
    let mut episodes = Vec::new();
    let listed = folder.join(if own_files.is_some() { EPISODES_2 } else { EPISODES });
    if let Some(folder_size) = own_files {
        for EpisodeLine { episode_index: number, length, tasks } in lines::read(&listed)? {
            let (chunk, file) = (number / folder_size, number);
            let places = vec![PicturePlace { chunk, file, start: 0.0 }; cameras.len()];
            episodes.push(Episode { number, length, tasks, data: (chunk, file), places });
        }
    } else {
        for file in files(&listed)? {
            let table = Table { rows: ParquetRows::open(&file).map_err(|e| e.file(&file))?, file: &file };
            table.add(cameras, &mut episodes)?;
        }
    }
    for (i, episode) in (0..).zip(&episodes) {
        if episode.number != i {
            let e = Error::usage("episodes are missing or not in order").file(&listed);
            return Err(e.expected(format!("episode {i}")).found(format!("episode {}", episode.number)));
        }
    }
    Ok(episodes)
}

/// Returns the Parquet files directly below the folders in a folder, in order.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for chunk in entries(folder)? {
        if chunk.is_dir() {
            let is_table = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "parquet");
            files.extend(entries(&chunk)?.into_iter().filter(is_table));
        }
    }
    files.sort();
    Ok(files)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let io = |e| Error::io("list the folder", folder, e);
    fs::read_dir(folder).map_err(io)?.map(|entry| entry.map(|e| e.path()).map_err(io)).collect()
}

/// A file of episodes, with one episode in each row.
struct Table<'a> {
    rows: ParquetRows,
    file: &'a Path,
}

impl Table<'_> {
    fn add(&self, cameras: &[&str], episodes: &mut Vec<Episode>) -> Result<()> {
        if self.rows.rows().saturating_add(episodes.len() as u64) > limits::MAX_ORDINALS {
            return Err(Error::limit("there are too many episodes").file(self.file).expected(limits::MAX_ORDINALS));
        }
        let whole = |column: &str| self.whole_numbers(column);
        let (numbers, lengths) = (whole("episode_index")?, whole("length")?);
        let (chunks, files) = (whole("data/chunk_index")?, whole("data/file_index")?);
        let (from, to) = (whole("dataset_from_index")?, whole("dataset_to_index")?);
        let tasks = self.tasks()?;
        let places = cameras.iter().map(|camera| self.places(camera)).collect::<Result<Vec<_>>>()?;
        for (i, tasks) in tasks.into_iter().enumerate() {
            if to[i].checked_sub(from[i]) != Some(lengths[i]) {
                let e = Error::usage(format!("the length of episode {} is not its number of rows", numbers[i]));
                let rows = format!("rows from {} up to {}", from[i], to[i]);
                return Err(e.file(self.file).expected(format!("{} rows", lengths[i])).found(rows));
            }
            episodes.push(Episode {
                number: numbers[i],
                length: lengths[i],
                tasks,
                data: (chunks[i], files[i]),
                places: places.iter().map(|all| all[i]).collect(),
            });
        }
        Ok(())
    }

    fn places(&self, camera: &str) -> Result<Vec<PicturePlace>> {
        let column = |name: &str| format!("videos/{camera}/{name}");
        let chunks = self.whole_numbers(&column("chunk_index"))?;
        let files = self.whole_numbers(&column("file_index"))?;
        let starts = self.seconds(&column("from_timestamp"))?;
        let place = |((chunk, file), start)| PicturePlace { chunk, file, start };
        Ok(chunks.into_iter().zip(files).zip(starts).map(place).collect())
    }

    /// Reads a column that must have a value in each row.
    fn column(&self, name: &str) -> Result<TrackValues> {
        let here = |e: Error| e.file(self.file);
        let found = self.rows.column(name, 0..self.rows.rows()).map_err(here)?;
        match found.counts.iter().position(|&count| count != 1) {
            None => Ok(found.values),
            Some(row) => Err(here(Error::usage(format!("column {name:?} has no value in row {row}")))),
        }
    }

    fn whole_numbers(&self, name: &str) -> Result<Vec<u64>> {
        let numbers: Vec<i64> = match self.column(name)? {
            TrackValues::I64(n) => n,
            TrackValues::I32(n) => n.into_iter().map(i64::from).collect(),
            TrackValues::I16(n) => n.into_iter().map(i64::from).collect(),
            TrackValues::U8(n) => n.into_iter().map(i64::from).collect(),
            TrackValues::U16(n) => n.into_iter().map(i64::from).collect(),
            other => return Err(self.other_type(name, "whole numbers", &other)),
        };
        let whole = |n: i64| {
            u64::try_from(n)
                .map_err(|_| Error::usage(format!("column {name:?} has {n}")).file(self.file).expected("0 or more"))
        };
        numbers.into_iter().map(whole).collect()
    }

    fn seconds(&self, name: &str) -> Result<Vec<f64>> {
        match self.column(name)? {
            TrackValues::F64(n) => Ok(n),
            TrackValues::F32(n) => Ok(n.into_iter().map(f64::from).collect()),
            other => Err(self.other_type(name, "numbers with a decimal point", &other)),
        }
    }

    fn other_type(&self, name: &str, expected: &str, found: &TrackValues) -> Error {
        Error::usage(format!("column {name:?} has the wrong type"))
            .file(self.file)
            .expected(expected)
            .found(found.kind())
    }

    /// Reads the tasks of each episode.
    fn tasks(&self) -> Result<Vec<Vec<String>>> {
        let found = self.rows.column("tasks", 0..self.rows.rows()).map_err(|e| e.file(self.file))?;
        let TrackValues::Texts(texts) = found.values else {
            return Err(self.other_type("tasks", "lists of texts", &found.values));
        };
        let mut texts = texts.into_iter();
        Ok(found.counts.iter().map(|&count| texts.by_ref().take(count).collect()).collect())
    }
}
