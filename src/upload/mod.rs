//! Data sets on their way to object storage. All of them are written on this machine first.
//!
//! ```text
//! options, report   what is asked for and what came of it
//! local             the files of a data set on this machine, and what proves each on its way
//! place             where it goes: what is there, whether the store keeps publishers apart, the commit
//! transfer          several files at a time
//! push              from the folder to the location
//! scratch, output   the output of a command that is to be in object storage
//! ```

mod local;
mod options;
mod output;
mod place;
mod push;
mod report;
mod scratch;
mod transfer;

#[cfg(feature = "pack")]
pub(crate) use place::Place;
#[cfg(feature = "pack")]
pub(crate) use scratch::own_folder_for;

pub use options::{PushOptions, RemoteOutput};
pub use output::{write_remote, write_remote_parts};
pub use push::push;
pub use report::PushReport;
