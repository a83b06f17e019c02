//! From inputs to jobs: the videos, their order and their labels.
//!
//! ```text
//! inputs.rs      turns folders, files and manifests into a list of jobs; job.rs: a video to be packed
//! folders.rs     finds videos and folders of pictures below a folder, and manifests in it; extensions.rs: by their names
//! manifest/      reads manifests, one file for each format
//! listed.rs      finds videos below a location in object storage, and keeps more of them than fit in memory
//! segment.rs     the part of a video that a clip is, and the frames that an episode must have
//! text.rs        reads files that name videos or classes as UTF-8
//! labels.rs      turns labels and class names into numbers
//! roots.rs       resolves the paths in manifests, and makes sources differ where videos would have the same one
//! notes.rs       collects notes on the inputs before the work begins
//! ```

mod extensions;
mod folders;
mod inputs;
mod job;
mod labels;
mod listed;
mod manifest;
mod notes;
mod options;
mod roots;
mod segment;
mod text;

pub(super) use extensions::pictures;
pub use inputs::PackPlan;
pub(super) use job::missing;
pub use job::{Attributes, Job};
pub use manifest::ManifestColumns;
pub(crate) use manifest::row_tracks;
pub use notes::IgnoredFiles;
pub use options::InputOptions;
pub(crate) use segment::nanoseconds;
pub use segment::{Segment, SegmentClock};
