//! Objects in object storage and on web servers, read at ranges.
//!
//! ```text
//! options  url, aws               where, and with which credentials
//! network  store, http, runtime   the client of one store, in this process (per_process)
//!          client, redirect       how it connects, which authorities it trusts, and which redirects it follows
//!                                 (redirect_policy, addresses)
//!          hub                    the Hugging Face Hub: commits, lists, where it redirects to
//! request  request, failure       one request: how many at a time, how long (times), why it failed
//!          fetch, http            a range of one version of an object; what the server said
//!          refusal                why a server refuses a request
//! read     file                   an object that is read at ranges
//!          blocks, promise        the ranges in memory and on their way
//!          fill_once              memory from which strings borrow: tables
//!          reader, pending_range  an object read as a stream, and copied
//! written  bucket, pieces         a writable folder of objects; an object written in parts
//! listed   listing                the objects below a location, a page at a time
//! ```

mod addresses;
mod aws;
mod blocks;
mod bucket;
mod client;
mod failure;
mod fetch;
mod file;
mod fill_once;
#[cfg(any(test, vidrec_internals))]
#[path = "../../../../../fuzz/internals/remote.rs"]
pub mod fuzzing;
mod http;
mod hub;
mod listing;
mod pending;
mod reader;
mod redirect;
mod redirect_policy;
mod refusal;
#[expect(clippy::module_inception, reason = "the room is named after its main type")]
mod remote;
mod request;
mod store;
mod times;
mod upload;
mod url;

pub use bucket::{Bucket, Tag};
pub use file::{Opening, REQUEST_BYTES, RangeRequest, RemoteFile};
pub use listing::{ListedObject, Listing};
pub use reader::{KEPT_BYTES, ObjectReader};
pub use remote::{Remote, memory_for, pinned};
pub use url::check_location;
