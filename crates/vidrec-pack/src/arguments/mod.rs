//! Options as programs and bindings receive them: by name, as text, and only those that were given.
//!
//! The command line and Python use the same names for options, and several options may become one field of
//! [`PackOptions`](super::PackOptions). This module reads them, says which ones exclude each other, and combines
//! them. So every caller refuses the same options with the same words.

mod choices;
mod numbers;
mod together;

pub use choices::{exact_size, frame_size, interrupted, pace, sharding};
pub use numbers::{Seconds, number};
pub use together::check_together;
