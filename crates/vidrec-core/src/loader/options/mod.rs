//! The options of a training loop.

mod batching;
mod cameras;
mod colors;
mod crop;
mod fields;
mod frames;
mod json;
mod loader_options;
mod pictures;
mod prefetch;
mod smart_resize;
mod tracks;

pub use batching::Batching;
pub use cameras::{Cameras, CamerasCrop, OwnOptions};
pub use colors::{ColorJitter, Normalize};
pub use crop::Crop;
pub use frames::{Draws, Frames, ShortClips, Start, WindowPad};
pub use loader_options::LoaderOptions;
pub(crate) use loader_options::{ResolvedOptions, SampleOptions, best_order};
pub use pictures::{Dtype, Layout, OnBadFrame};
pub use prefetch::{DecodedCache, Prefetch};
pub use tracks::{Missing, TrackAnchor, TrackHow, TrackNormalize, TrackScaling, TrackWindow};
