//! A local copy of a remote data set, proven by its checksums.
//!
//! ```text
//! options, report   what is asked for, and the result
//! item              a file of the data set, and the proof of a copy of it
//! incoming          a copy that is being fetched; it resumes from the bytes on the disk after an interruption
//! transfer          many requests at a time, for one file after another
//! fetch             from the location to the data set in the folder
//! ```

#[expect(clippy::module_inception, reason = "the room is named after what it does")]
mod fetch;
mod incoming;
mod item;
mod options;
mod report;
mod transfer;

pub use fetch::fetch;
pub(crate) use item::{Item, items};
pub use options::FetchOptions;
pub use report::FetchReport;
