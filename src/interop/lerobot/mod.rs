//! Exporting data sets of LeRobot, version 3: Motion JPEG in MP4, and Parquet beside it.
//!
//! ```text
//! export.rs     a data set to the files of LeRobot
//! options.rs    what can be chosen
//! episodes.rs   clips to episodes with one or several cameras
//! rate.rs       the rate that all frames have to have
//! columns.rs    tracks to columns, with a value for each frame
//! tasks.rs      what each frame is to show, as text
//! videos.rs     the videos of a camera, with several episodes each
//! mp4.rs        JPEGs as a video, without encoding anything
//! table.rs      tables of Parquet
//! stats.rs      statistics of columns; picture_stats.rs: of pictures
//! ```
//!
//! They come in again as inputs of a pack, which decodes them.
//!
//! Source: huggingface/lerobot, `src/lerobot/datasets/{dataset_metadata,dataset_writer,dataset_reader,compute_stats}.py`.

mod columns;
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
