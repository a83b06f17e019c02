//! Objects in object storage and on web servers, read at ranges.
//!
//! ```text
//! options  url, aws, authorities  where, with which credentials, and which authorities to trust
//! network  store, http, runtime   the client of one store, in this process (per_process)
//!          client, redirect       how it connects, and which redirects it follows (redirect_policy, addresses)
//!          hub                    the Hugging Face Hub: commits, lists, where it redirects to
//! fetch    attempt, refusal       one request, and the reasons for which a server refuses it
//!          requests_in_flight
//!                                 how many at a time
//!          fetch                  retries, second requests, deadlines
//! bytes    prefetched, recent, memory
//!                                 what memory holds of records: ahead of their use, and after it
//!          fill_once, file        what memory holds of tables; reading one version of an object
//!          cached_pages           what the cache on disk holds
//!          wanted                 how ranges reach those who want them
//!          reader                 an object that is read as a file is: for videos
//! written  send                   one request that writes, asks or removes, with retries
//!          bucket, pieces         a writable folder of objects; an object written in parts
//! listed   listing                the objects below a location, a page at a time
//! whole    pending_range          one range after another, for a copy of the object
//!          filling                one range after another, for the cache on disk
//! ```

mod addresses;
mod attempt;
mod authorities;
mod aws;
mod bucket;
mod cached_pages;
mod client;
mod counters;
mod fetch;
mod file;
mod file_pieces;
mod fill_once;
mod filling;
#[cfg(any(test, vidrec_internals))]
#[path = "../../../../fuzz/internals/remote.rs"]
pub mod fuzzing;
mod http;
mod hub;
mod listing;
mod memory;
mod pending_range;
mod per_process;
mod pieces;
mod prefetched;
mod promise;
mod reader;
mod recent;
mod redirect;
mod redirect_policy;
mod refusal;
#[expect(clippy::module_inception, reason = "the room is named after its main type")]
mod remote;
mod requests_in_flight;
mod runtime;
mod send;
mod sink;
mod sizes;
mod store;
mod url;
mod wanted;

pub use bucket::{Bucket, Tag};
pub use file::{Opening, RemoteFile};
pub use filling::Filling;
pub use listing::{ListedObject, Listing};
pub use memory::Memory;
pub use pending_range::PendingRange;
pub use pieces::Pieces;
pub use reader::{ObjectBytes, ObjectReader};
pub use remote::{Remote, pinned};
pub use sizes::REQUEST_BYTES;
pub use url::check_location;
pub use wanted::{Filled, RunFrom, Wanted};
