//! Packing: from videos on disk to a data set, in parallel, in order, with every failure reported.
//!
//! ```text
//! inputs -> plan/ (jobs) -> work/ (clips, one video on each thread) -> run/ (shards, journal, report)
//!
//! track/         numbers and texts beside the frames, from files that manifests name
//! pack.rs        plan, work and run in turn; options.rs: the options of all three
//! parts/         the same in parts, on many machines
//! estimate.rs    the same for a few videos, and nothing is written
//! given/         the options as programs and bindings get them, by name and as text
//! serve.rs       a process that works for a run
//! ```
//!
//! A journal notes what is done. An interrupted run is resumed from it, if inputs and settings are still the same.

mod channels;
mod estimate;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
pub mod given;
mod options;
#[expect(clippy::module_inception, reason = "the room is named after its main function")]
mod pack;
mod parts;
mod plan;
mod pool;
mod run;
mod serve;
mod track;
mod work;

pub use estimate::{Estimate, estimate};
pub use options::PackOptions;
#[cfg(feature = "remote")]
pub use pack::find_packed;
pub use pack::{pack, pack_plan};
pub use parts::{
    InParts, PartOptions, PartState, PartStatus, PartsPlan, PlanStatus, PublishOptions, WrittenPlan, pack_in_parts,
    write_plan,
};
pub use plan::{Attributes, InputOptions, Job, ManifestColumns, PackPlan, PassedOver, Segment, SegmentClock};
pub use run::{Failure, Interrupted, MaxFailures, OnError, PackReport, RunOptions, Warning};
pub use serve::serve;
pub use track::{TimeUnit, TrackClock, TrackSpec, TrackSpecTiming};
pub use work::{FrameOptions, PackStage, PictureOptions, Resources, VideoLimits};

pub use crate::writer::Sharding;
