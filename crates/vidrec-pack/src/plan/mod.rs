//! From inputs to jobs: the videos, their order and their labels.
//!
//! ```text
//! inputs.rs      turns folders, files and manifests into a list of jobs
//! folders.rs     finds videos and folders of pictures below a folder; video_folder.rs: manifests in it
//! manifest/      reads manifests, one file for each format
//! listed.rs      finds videos below a location in object storage, and keeps more of them than fit in memory
//! episode_frames.rs  the frames that an episode in a video of several must have
//! lerobot.rs     refuses data sets of LeRobot, which Python reads
//! text.rs        reads them as UTF-8; times.rs: columns of times that segments may have
//! places.rs      resolves the paths in manifests
//! labels.rs      turns labels and class names into numbers
//! roots.rs       makes sources differ where several inputs would give different videos the same one
//! missing.rs     says what may be wrong with the name of a file that is missing
//! notes.rs       collects notes on the inputs before the work begins
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
mod listed;
mod manifest;
mod manifest_columns;
mod missing;
mod near_names;
mod notes;
mod options;
mod passed_over;
mod pictures;
mod places;
mod roots;
mod segment;
mod text;
mod times;
mod video_folder;

pub use attributes::Attributes;
pub use inputs::PackPlan;
pub use job::Job;
pub use manifest_columns::ManifestColumns;
pub(super) use missing::missing;
pub use options::{InputOptions, OptionWords};
pub use passed_over::PassedOver;
pub(super) use pictures::{is_jpeg, pictures};
pub(crate) use segment::nanoseconds;
pub use segment::{Segment, SegmentClock};
