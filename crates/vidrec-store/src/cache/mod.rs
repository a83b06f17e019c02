//! Pages of remote objects, kept on local disk and shared by all processes of a machine.
//!
//! [`show`], [`trim`] and [`clear`] manage such a folder. Its layout:
//!
//! | path | what it is |
//! | --- | --- |
//! | `vidrec-cache` | marks the folder as a cache of one format; every process that uses it shares its lock |
//! | `budget` | how many bytes are taken, in memory that all these processes share |
//! | `slots/K` | locked by the process that has number K |
//! | `removal` | locked by the process that removes objects |
//! | `objects/KEY/object.json` | location, version and length of an object |
//! | `objects/KEY/pages` | the bytes of the present pages; every process that uses the object shares its lock |
//! | `objects/KEY/map` | a byte for each page: absent, present, or being fetched by process K |
//! | `objects/KEY/clean` | exists if all of the object is safely on the disk |
//! | `new-…`, `trash-…` | an object that is being created or removed |
//!
//! Design note 0018 (`docs/design/`) explains why a kill at any moment does no harm.

mod boot;
mod budget;
mod claims;
mod eviction;
mod home;
mod layout;
mod maintenance;
mod object;
mod page_cache;
mod page_map;
mod recovery;
mod removal;
mod report;
mod shared_state;
mod slots;
#[cfg(all(test, unix))]
mod tests;

pub(crate) use claims::PAGE_BYTES;
pub use maintenance::{RemovalReport, clear, show, trim};
pub(crate) use object::CachedObject;
pub(crate) use page_cache::{PageCache, default_limit};
pub use report::{CacheReport, CachedReport};
