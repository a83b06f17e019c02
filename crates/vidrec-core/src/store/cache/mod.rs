//! Blocks of remote objects on local disk, shared by all processes of a machine.
//!
//! [`show`], [`trim`] and [`clear`] manage such a folder. Its layout:
//!
//! | path | what it is |
//! | --- | --- |
//! | `vidrec-cache` | marks the folder as a cache of one format |
//! | `lock` | its lock orders the writes of all processes |
//! | `used` | how many bytes the blocks take, and the limit |
//! | `objects/KEY/object.json` | location, version and length of an object |
//! | `objects/KEY/NUMBER` | a block of the object: which of its pages are here, and their bytes |
//! | `new-…` | a block that is being written |
//!
//! A block appears by a rename and is never changed, so readers need no lock. Design note 0018 (`docs/design/`) explains why
//! a kill at any moment does no harm.

mod block;
mod folder;
mod layout;
mod maintenance;
mod object;

pub(crate) use folder::{DiskCache, default_limit};
pub(crate) use layout::PAGE_BYTES;
pub use maintenance::{CacheReport, CachedReport, RemovalReport, clear, show, trim};
pub(crate) use object::CachedObject;
