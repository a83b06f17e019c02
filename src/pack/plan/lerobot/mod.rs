//! Data sets of LeRobot, version 3: MP4 files that hold several episodes each, and Parquet beside them.
//!
//! ```text
//! info.rs       meta/info.json: the rate, the features, where files are
//! pattern.rs    names of files, from patterns with numbers
//! episodes.rs   meta/episodes: each episode's length, tasks and place in the videos
//! rows.rs       data: which rows are of which episode
//! tasks.rs      meta/tasks.parquet: texts of tasks by their numbers
//! found.rs      an episode of a camera as a segment of a video, with the other features as tracks
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
