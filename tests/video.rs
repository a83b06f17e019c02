//! Frames of real and made-up videos, against what the `ffmpeg` program makes of the same files.
//!
//! Clips are generated with `ffmpeg`; without it on the `PATH` these tests say so and pass. `VIDREC_VIDEOS` names a folder
//! of test videos with a `MANIFEST.csv`; without it (and without `../shared/videos`) the tests over it are skipped.
#![cfg(feature = "pack")]

#[path = "video/bit_flips.rs"]
mod bit_flips;
#[path = "video/color.rs"]
mod color;
#[path = "video/damage.rs"]
mod damage;
#[path = "video/frames.rs"]
mod frames;
#[path = "video/geometry.rs"]
mod geometry;
#[path = "video/manifest.rs"]
mod manifest;
#[path = "video/names.rs"]
mod names;
#[path = "video/needed.rs"]
mod needed;
#[path = "video/support.rs"]
mod support;
