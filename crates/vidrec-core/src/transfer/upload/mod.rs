//! Uploads of data sets to object storage. All of them are written to local disk first.
//!
//! ```text
//! options  what is asked for, and the result
//! meta     files beside the data set that LeRobot needs
//! place    the destination: its contents, whether the store keeps publishers apart, the commit
//! push     from the folder to the location, several files at a time
//! output   the output of a command that goes to object storage, by way of a scratch folder
//! ```

mod meta;
mod options;
mod output;
mod place;
mod push;

#[doc(hidden)]
pub use meta::push_meta;
#[doc(hidden)]
pub use output::own_folder_for;
#[doc(hidden)]
pub use place::Place;

pub use options::{PushOptions, PushReport};
pub use output::write_remote;
pub use push::push;
