//! From inputs to jobs: which videos there are, in which order, with which labels.
//!
//! ```text
//! inputs.rs      folders, files and manifests to a list of jobs
//! folders.rs     videos and folders of pictures below a folder; video_folder.rs: lists in it
//! manifest/      lists, one file for each format
//! lerobot/       data sets of LeRobot: episodes to segments; episode_frames.rs: the frames that these have to have
//! places.rs      where the paths of manifests lead
//! labels.rs      labels and class names to numbers
//! roots.rs       different sources for videos that several inputs call the same
//! notes.rs       what is worth knowing before the work begins
//! ```

mod attributes;
mod endings;
mod episode_frames;
mod folders;
mod found;
mod inputs;
mod job;
mod labels;
mod lerobot;
mod manifest;
mod manifest_columns;
mod near_names;
mod notes;
mod options;
mod passed_over;
mod pictures;
mod places;
mod roots;
mod segment;
mod video_folder;

pub use attributes::Attributes;
pub use inputs::PackPlan;
pub use job::Job;
pub use manifest_columns::ManifestColumns;
pub use options::InputOptions;
pub use passed_over::PassedOver;
pub(super) use pictures::{is_jpeg, pictures};
pub use segment::{Segment, SegmentClock};
