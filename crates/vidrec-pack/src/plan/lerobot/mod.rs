//! LeRobot data sets, version 3: MP4 files that hold several episodes each, with Parquet files beside them.
//!
//! ```text
//! info.rs       meta/info.json: the rate, the features, the places of files
//! pattern.rs    file names from patterns with numbers
//! episodes.rs   meta/episodes: the length and tasks of each episode, and its place in the videos
//! rows.rs       data: which rows belong to which episode
//! tasks.rs      meta/tasks.parquet: the texts of tasks by their numbers
//! found.rs      episodes as clips: a segment of a video, and the other features as tracks
//! ```
//!
//! Source: huggingface/lerobot, `src/lerobot/datasets/{dataset_metadata,dataset_writer,dataset_reader,utils}.py`.

mod episodes;
mod found;
mod info;
mod pattern;
mod rows;
mod tasks;

pub(super) use found::read;
