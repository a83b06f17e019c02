//! Exports LeRobot data sets, version 3: Motion JPEG in MP4, with Parquet beside it.
//!
//! ```text
//! export.rs     exports a data set as the files of LeRobot
//! options.rs    the options
//! episodes.rs   groups clips into episodes with one or several cameras
//! rate.rs       finds the rate of all frames
//! columns.rs    turns tracks into columns, with a value for each frame
//! depth.rs      what numbers of depth mean, and depth in millimeters
//! tasks.rs      the task of each frame, as text
//! videos.rs     writes the videos of a camera, with several episodes each
//! mp4.rs        stores JPEGs as a video, without encoding anything
//! table.rs      writes Parquet tables
//! stats.rs      computes statistics of columns; picture_stats.rs: of frames
//! ```
//!
//! A pack can take these files as inputs again. It decodes them.
//!
//! Source: huggingface/lerobot, `src/lerobot/datasets/{dataset_metadata,dataset_writer,dataset_reader,compute_stats}.py`.

mod columns;
mod depth;
mod episodes;
mod export;
mod mp4;
mod options;
mod picture_stats;
mod rate;
mod stats;
mod table;
mod tasks;
mod videos;

pub use export::export;
pub use options::LeRobotOptions;
