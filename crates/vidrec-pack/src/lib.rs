//! Packing: from videos on disk to a data set, in parallel, in order, with every failure reported.
//!
//! ```text
//! inputs -> plan/ (jobs) -> work/ (clips, one video on each thread) -> shards/ (shards, receipts, the data set)
//!
//! track/         numbers and texts beside the frames, from files that manifests name
//! options.rs     the options of all three
//! estimate.rs    the same work for a few videos, without writing anything
//! arguments/     options as programs and bindings receive them, by name and as text
//! serve.rs       a process that decodes for a run
//! ```

pub mod video;

pub mod arguments;
mod clip_values;
mod estimate;
#[doc(hidden)]
#[cfg(any(test, vidrec_internals))]
#[path = "../../../fuzz/internals/pack.rs"]
pub mod fuzzing;
mod options;
mod plan;
mod recipe;
mod serve;
mod shards;
mod system_path;
mod track;
mod work;

#[doc(hidden)]
pub use clip_values::{ClipCell, ClipValues};
pub use estimate::{Estimate, estimate};
pub use options::PackOptions;
pub use options::{IfExists, RunOptions};
pub use plan::{Attributes, IgnoredFiles, InputOptions, Job, ManifestColumns, PackPlan, Segment, SegmentClock};
pub use recipe::Recipe;
pub use serve::serve;
pub use shards::{
    PackReport, PartOptions, PartsPlan, PlanStatus, PublishOptions, Warning, WrittenPlan, pack, pack_plan, plan_status,
    write_plan,
};
#[doc(hidden)]
pub use track::ArrayFile;
pub use track::{TimeUnit, TrackClock, TrackSpec, TrackSpecTiming};
pub use work::{Failure, FrameChoice, FrameOptions, LimitOptions, MaxFailures, PictureOptions, Resources};

pub use vidrec_core::dataset::writer::Sharding;

#[cfg(test)]
#[path = "../../../tests/common/fuzz_seeds.rs"]
mod fuzz_seeds;
