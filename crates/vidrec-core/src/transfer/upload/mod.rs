//! Uploads of data sets to object storage. All of them are written to local disk first.
//!
//! ```text
//! options, report   what is asked for, and the result
//! local             the files of a local data set, and the proof of each while it is read
//! place             the destination: its contents, whether the store keeps publishers apart, the commit
//! transfer          several files at a time
//! push              from the folder to the location
//! scratch, output   the output of a command that goes to object storage
//! ```

mod local;
mod options;
mod output;
mod place;
mod push;
mod report;
mod scratch;
mod transfer;

#[doc(hidden)]
pub use place::Place;
#[doc(hidden)]
pub use scratch::{own_folder_for, remove_published};

pub use options::{PushOptions, RemoteOutput};
pub use output::{write_remote, write_remote_parts};
pub use push::push;
pub use report::PushReport;
