//! Objects in object storage and on web servers, read at ranges.
//!
//! ```text
//! options  url, aws, authorities where, with which credentials, and whom to believe
//! network  store, http, runtime  the client of one store, in this process (per_process)
//!          client, redirect      how it connects, and where it goes if a server sends it elsewhere
//!                                (redirect_policy, addresses)
//! fetch    attempt, refusal      one request, and what a server says that refuses it
//!          gate, fetch           how many at a time; retries, second requests, deadlines
//! bytes    held, recent, memory   what memory holds of objects ahead of its use, and after it
//!          fill_once, file        what it holds of tables; reading one version of an object
//!          kept                   what the cache on disk holds
//!          reader                 an object read as a file is: for videos
//! written  send                  one request that writes, asks or removes, with patience
//!          bucket, pieces        a folder of objects that is written to; an object written in parts
//! whole    coming                 one range after another, for a copy of the object
//!          filling                one after another, for the cache on disk
//! ```

mod addresses;
mod attempt;
mod authorities;
mod aws;
mod bucket;
mod client;
mod coming;
mod counters;
mod fetch;
mod file;
#[cfg(feature = "pack")]
mod file_pieces;
mod fill_once;
mod filling;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod gate;
mod held;
mod http;
mod kept;
mod later;
mod memory;
mod per_process;
mod pieces;
#[cfg(feature = "pack")]
mod reader;
mod recent;
mod redirect;
mod redirect_policy;
mod refusal;
#[expect(clippy::module_inception, reason = "the room is named after its main type")]
mod remote;
mod runtime;
mod send;
mod sink;
mod sizes;
mod store;
mod url;
mod volume;

pub(crate) use bucket::{Bucket, Tag};
pub(crate) use coming::Coming;
pub(crate) use file::{Opening, Part, RemoteFile, RunPlan};
pub(crate) use filling::{Filled, Filling};
pub(crate) use memory::Memory;
pub(crate) use pieces::Pieces;
#[cfg(feature = "pack")]
pub(crate) use reader::{ObjectBytes, ObjectReader};
pub(crate) use remote::Remote;
pub(crate) use sizes::REQUEST_BYTES;
#[cfg(feature = "pack")]
pub(crate) use url::check_location;
