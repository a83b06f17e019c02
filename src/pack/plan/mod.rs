//! From inputs to jobs: which videos there are, in which order, with which labels.
//!
//! ```text
//! inputs.rs      folders, files and manifests to a list of jobs
//! folders.rs     videos and folders of pictures below a folder; video_folder.rs: lists in it
//! manifest/      lists, one file for each format
//! labels.rs      labels and class names to numbers
//! ```

mod attributes;
mod endings;
mod folders;
mod found;
mod inputs;
mod job;
mod labels;
mod manifest;
mod options;
mod passed_over;
mod pictures;
mod segment;
mod video_folder;

pub use attributes::Attributes;
pub use inputs::PackPlan;
pub use job::Job;
pub use options::InputOptions;
pub use passed_over::PassedOver;
pub(super) use pictures::{is_jpeg, pictures};
pub use segment::{Segment, SegmentClock};
