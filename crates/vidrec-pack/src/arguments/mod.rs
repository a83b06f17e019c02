//! Options as text: which numbers and words each takes.

mod numbers;
#[cfg(feature = "clap")]
mod words;

#[cfg(feature = "clap")]
pub use numbers::number_of;
pub(crate) use numbers::{MAX_DRAWS, whole, whole_or_none};
pub use numbers::{Seconds, number};
#[cfg(feature = "clap")]
pub(crate) use words::words;
