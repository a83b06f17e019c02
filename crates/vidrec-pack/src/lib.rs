//! Packing: from videos on disk to a data set, in parallel, in order, with every failure reported.
//!
//! ```text
//! inputs -> plan/ (jobs) -> work/ (clips, one video on each thread) -> run/ (shards, journal, report)
//!
//! track/         numbers and texts beside the frames, from files that manifests name
//! pack.rs        plan, work and run in turn; options.rs: the options of all three
//! parts/         the same work in parts, on many machines
//! estimate.rs    the same work for a few videos, without writing anything
//! arguments/     options as programs and bindings receive them, by name and as text
//! serve.rs       a process that decodes for a run
//! ```
//!
//! A journal records finished work. An interrupted run can be resumed from it if the inputs and settings are still
//! the same.

pub mod video;

pub mod arguments;
mod channels;
mod estimate;
mod flat;
#[doc(hidden)]
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod options;
mod pack;
mod parts;
mod plan;
mod pool;
mod recipe;
mod run;
mod schema;
mod serve;
mod system_path;
mod track;
mod work;

pub use estimate::{Estimate, estimate};
pub use options::PackOptions;
pub use pack::{find_packed, pack, pack_in_scratch, pack_plan, restart};
pub use parts::{
    InParts, PartOptions, PartState, PartStatus, PartsPlan, PlanStatus, PublishOptions, WrittenPlan, pack_in_parts,
    write_plan,
};
pub use plan::{
    Attributes, InputOptions, Job, ManifestColumns, OptionWords, PackPlan, PassedOver, Segment, SegmentClock,
};
pub use recipe::Recipe;
pub use run::{Failure, IfExists, PackReport, RunOptions, Warning};
pub use serve::serve;
pub use track::{TimeUnit, TrackClock, TrackSpec, TrackSpecTiming};
pub use work::{FrameChoice, FrameOptions, LimitOptions, MaxFailures, PackStage, PictureOptions, Quality, Resources};

pub use vidrec_dataset::writer::Sharding;

#[cfg(test)]
#[path = "../../../tests/common/fuzz_seeds.rs"]
mod fuzz_seeds;
