//! Pages of remote objects, kept on local disk and shared by all processes of a machine.
//!
//! [`show`], [`trim`] and [`clear`] tend such a folder. It looks like this:
//!
//! | path | what it is |
//! | --- | --- |
//! | `vidrec-cache` | says that the folder is a cache and of which format; every user shares its lock |
//! | `budget` | how many bytes are taken, in memory that all users share |
//! | `slots/K` | locked by the process that has number K |
//! | `removal` | locked by the process that removes objects |
//! | `objects/KEY/object.json` | location, version and length of an object |
//! | `objects/KEY/pages` | its bytes, as far as they are here; every user of the object shares its lock |
//! | `objects/KEY/map` | a byte for each page: absent, present, or being fetched by process K |
//! | `objects/KEY/clean` | there if all of it is safely on the disk |
//! | `new-…`, `trash-…` | an object that is being made or removed |
//!
//! Design note 0018 (`docs/design/`) says why a kill at any moment does no harm.

mod boot;
mod budget;
mod claims;
mod common;
mod eviction;
mod home;
mod layout;
mod object;
mod page_cache;
mod page_map;
mod recovery;
mod removal;
mod report;
mod slots;
mod tend;
#[cfg(all(test, unix))]
mod tests;

pub(crate) use claims::PAGE_BYTES;
pub(crate) use object::CachedObject;
pub(crate) use page_cache::PageCache;
pub use report::{CacheReport, CachedReport};
pub use tend::{RemovalReport, clear, show, trim};
