//! LeRobot data sets: MP4 files with Parquet files beside them. In version 3, each holds several episodes, in version 2
//! one.
//!
//! ```text
//! info.rs       meta/info.json: the rate, the features, the places of files
//! pattern.rs    file names from patterns with numbers
//! episodes.rs   meta/episodes(.jsonl): the length and tasks of each episode, and its place in the videos
//! rows.rs       data: which rows belong to which episode
//! lines.rs      files of version 2 with a JSON object on each line
//! tasks.rs      meta/tasks.(parquet, jsonl): the texts of tasks by their numbers
//! found.rs      episodes as clips: a segment of a video, and the other features as tracks
//! ```
//!
//! Source: huggingface/lerobot, `src/lerobot/datasets/{dataset_metadata,dataset_writer,dataset_reader,utils}.py`.

mod episodes;
mod found;
mod info;
mod lines;
mod pattern;
mod rows;
mod tasks;

pub(super) use found::read;
