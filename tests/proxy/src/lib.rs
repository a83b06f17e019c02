//! Web servers for tests and benchmarks: one serves a folder, one forwards to another server, and both fail as told.
//!
//! ```no_run
//! use fault_proxy::{Fault, Origin, Rule};
//!
//! let server = Origin::serve("some/folder")?;
//! server.rules().add(Rule::new(Fault::Reset { after: 1000 }).path(".rec").nth(2));
//! // ... read server.url() + "/train/dataset.json" and so on ...
//! let sent: u64 = server.counts().body_bytes;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! The servers speak HTTP/1.1 on the loopback, by hyper. They stop when their [`Server`] is
//! dropped. Signatures are ignored, so a folder is also a store of S3 in path style: its subfolders are the buckets.
//! [`Origin::writable`] lets objects be written there.

mod fault;
mod journal;
mod link;
mod message;
mod range;
mod server;

pub use fault::{Fault, Rule, Rules};
pub use journal::{Counts, Exchange};
pub use link::Link;
pub use server::{Etags, Origin, Proxy, Server};
