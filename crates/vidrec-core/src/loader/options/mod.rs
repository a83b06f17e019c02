//! The options of a training loop.

mod batching;
mod cameras;
mod colors;
mod crop;
mod frames;
mod json;
mod loader_options;
mod memory;
mod pictures;
mod smart_resize;
mod tracks;

pub use batching::Batching;
pub use cameras::{Cameras, CamerasCrop, OwnOptions};
pub use colors::{ColorJitter, Normalize};
pub use crop::Crop;
pub use frames::{Draws, Frames, ShortClips, Start, WindowPad};
pub use loader_options::LoaderOptions;
pub(crate) use loader_options::{ResolvedOptions, SampleOptions, best_order};
pub use memory::{DecodedCache, Prefetch};
pub use pictures::{Dtype, Layout, OnBadFrame};
use std::fmt::Display;
pub use tracks::{Missing, TrackAnchor, TrackHow, TrackNormalize, TrackScaling, TrackWindow};
use vidrec_format::error::{Error, Result};

/// Returns an error that names the option, unless `holds`.
fn require(holds: bool, option: &str, found: impl Display, expected: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::usage(format!("loader option {option}")).expected(expected).found(found)) }
}

/// Methods that return an option with another value of a field, for the variants that have it.
macro_rules! setters {
    ($enum:ident: $($(#[$doc:meta])* $name:ident, $field:ident: $type:ty, $($variant:ident)|+;)+) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(mut self, new: $type) -> Self {
            #[allow(irrefutable_let_patterns, reason = "all variants may have the field")]
            if let $($enum::$variant { $field, .. })|+ = &mut self {
                *$field = new;
            }
            self
        }
    )+};
}

/// Methods that return the value of a field, or another one for the variants that do not have it.
macro_rules! getters {
    ($enum:ident: $(
        $(#[$doc:meta])* $field:ident: $type:ty, $value:expr, of $($variant:ident)|+, or $default:expr;
    )+) => {$(
        $(#[$doc])*
        pub(crate) fn $field(&self) -> $type {
            #[allow(unreachable_patterns, reason = "all variants may have the field")]
            match *self {
                $($enum::$variant { $field, .. })|+ => $value,
                _ => $default,
            }
        }
    )+};
}

use {getters, setters};
