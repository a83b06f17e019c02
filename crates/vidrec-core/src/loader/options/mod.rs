//! The options of a training loop.

mod batching;
mod cameras;
mod crop;
mod frames;
mod geometry;
mod loader_options;
mod pictures;
mod prefetch;
mod smart_resize;
mod tracks;
mod values;

pub use batching::Batching;
pub use cameras::{Cameras, CamerasCrop, OwnOptions};
pub use crop::Crop;
pub use frames::{Frames, Offsets, ShortClips, Start, WindowPad};
pub use geometry::{CoordinateSize, Geometry};
pub use loader_options::LoaderOptions;
pub(crate) use loader_options::{MAX_BUCKETS, ResolvedOptions, best_order};
pub use pictures::{ColorJitter, Dtype, Layout, Normalize, OnBadFrame};
pub use prefetch::{DecodedCache, Prefetch};
pub use smart_resize::SmartResize;
pub use tracks::{Missing, TrackAnchor, TrackHow, TrackNormalize, TrackScaling, TrackWindow};
