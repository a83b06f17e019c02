//! Frames of real and made-up videos, against what the `ffmpeg` program makes of the same files.
//!
//! `ffmpeg` makes the clips; without it these tests are skipped. `VIDREC_VIDEOS` names a folder of test videos with a
//! `MANIFEST.csv`; without it, and without `../shared/videos`, the tests over them make a small collection of their own.

mod bit_flips;
mod color;
mod damage;
mod frames;
mod geometry;
mod manifest;
mod names;
mod needed;
mod support;
mod times;
