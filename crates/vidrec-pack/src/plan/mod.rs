//! From inputs to jobs: the videos, their order and their labels.
//!
//! ```text
//! inputs.rs      turns folders, files and manifests into a list of jobs; job.rs: a video to be packed
//! folders.rs     finds videos and folders of pictures below a folder, and manifests in it; extensions.rs: by their names
//! passed_over.rs counts the files in folders that are neither
//! manifest/      reads manifests, one file for each format
//! listed.rs      finds videos below a location in object storage, and keeps more of them than fit in memory
//! episode_frames.rs  the frames that an episode in a video of several must have
//! lerobot.rs     refuses data sets of LeRobot, which Python reads
//! places.rs      resolves the paths in manifests
//! text.rs        reads files that name videos or classes as UTF-8
//! labels.rs      turns labels and class names into numbers
//! roots.rs       makes sources differ where several inputs would give different videos the same one
//! notes.rs       collects notes on the inputs before the work begins
//! ```

mod episode_frames;
mod extensions;
mod folders;
mod inputs;
mod job;
mod labels;
mod lerobot;
mod listed;
mod manifest;
mod manifest_columns;
mod notes;
mod options;
mod places;
mod roots;
mod segment;
mod text;

pub(super) use extensions::{is_jpeg, pictures};
pub use inputs::PackPlan;
pub use job::{Attributes, Job};
pub(super) use manifest::missing;
pub use manifest_columns::ManifestColumns;
pub use notes::PassedOver;
pub use options::{InputOptions, OptionWords};
pub(crate) use segment::nanoseconds;
pub use segment::{Segment, SegmentClock};
