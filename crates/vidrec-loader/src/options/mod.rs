//! The options of a training loop.

mod batching;
mod best_order;
mod cameras;
mod crop;
mod decoded_cache;
mod draws;
mod frames;
mod json;
mod loader_options;
mod normalize;
mod on_bad_frame;
mod pictures;
mod prefetch;
mod settings;
mod smart_resize;
mod track_normalize;
mod tracks;
mod written;

pub use batching::Batching;
pub(crate) use best_order::best_order;
pub use cameras::{Cameras, CamerasCrop};
pub use crop::Crop;
pub use decoded_cache::DecodedCache;
pub use draws::Draws;
pub use frames::{Frames, ShortClips};
pub use loader_options::LoaderOptions;
pub use normalize::Normalize;
pub use on_bad_frame::OnBadFrame;
pub(crate) use pictures::Pictures;
pub use pictures::{Dtype, Layout};
pub use prefetch::Prefetch;
pub(crate) use settings::{Division, Sampling, Settings};
pub(crate) use smart_resize::SmartResize;
pub use track_normalize::{TrackNormalize, TrackScaling};
pub use tracks::{Missing, TrackAnchor, TrackHow, TrackWindow};
