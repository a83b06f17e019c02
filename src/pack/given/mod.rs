//! Options as programs and bindings get them: by name and as text, and only those that somebody gave.
//!
//! A command line and Python name the same options, of which some become one field of
//! [`PackOptions`](super::PackOptions). This module reads them, says which exclude each other, and puts them together,
//! so that every caller refuses the same with the same words.

mod choices;
mod numbers;
mod together;

pub use choices::{exact_size, frame_size, interrupted, pace, sharding};
pub use numbers::{Seconds, number};
pub use together::check_together;
