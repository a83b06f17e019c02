//! Objects in object storage and on web servers, read at ranges.
//!
//! ```text
//! options  url, aws_files        where, and with which credentials
//! network  store, http, runtime  the client of one store, in this process
//! fetch    attempt, gate, fetch  one request; how many at a time; retries, second requests, deadlines
//! bytes    held, fill_once, file what memory holds of an object; reading one version of it
//! whole    coming                one range after another, for a copy of the object
//! ```

mod attempt;
mod aws_files;
mod coming;
mod counters;
mod fetch;
mod file;
mod fill_once;
mod gate;
mod held;
mod http;
mod later;
mod memory;
mod recent;
mod remote;
mod runtime;
mod sink;
mod store;
mod url;

pub(crate) use coming::Coming;
pub(crate) use file::{Opening, RemoteFile};
pub(crate) use remote::Remote;
