//! Objects in object storage and on web servers, read at ranges.
//!
//! ```text
//! options  url, aws               where, and with which credentials
//! network  client                 the client of one store in this process, and what a server said
//!          http_client            how it connects, which authorities it trusts, and which redirects it follows
//!          hub                    the Hugging Face Hub: commits, lists, where it redirects to
//! request  request, failure       one request: how many at a time, how long, why it failed; a range of one version
//!          pending                results that threads wait for
//! read     file                   an object that is read at ranges
//!          blocks                 the ranges in memory and on their way
//!          fill_once              memory from which strings borrow: tables
//! written  bucket, upload         a writable folder of objects; a file that is written in parts
//! listed   listing                the objects below a location, a page at a time
//! ```

mod aws;
mod blocks;
mod bucket;
mod client;
mod failure;
mod file;
mod fill_once;
#[cfg(any(test, vidrec_internals))]
#[path = "../../../../../fuzz/internals/remote.rs"]
pub mod fuzzing;
mod http_client;
mod hub;
mod listing;
mod pending;
#[expect(clippy::module_inception, reason = "the room is named after its main type")]
mod remote;
mod request;
mod upload;
mod url;

pub use bucket::{Bucket, Tag};
pub use file::{Opening, REQUEST_BYTES, RangeRequest, RemoteFile};
pub use listing::{ListedObject, Listing};
pub use remote::{Remote, memory_for, pinned, read_object};
pub use url::check_location;
