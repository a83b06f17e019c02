//! The JSON of values that Rust and Python write in different forms.

pub mod bytes;
pub mod list_of_sizes;
mod null;
mod pair;
pub mod range;
pub mod size;
pub mod size_or_none;

pub use null::null_is_default;
