//! Ranges of remote objects on local disk, shared by all processes of a machine.
//!
//! The layout of such a folder:
//!
//! | path | what it is |
//! | --- | --- |
//! | `vidrec-cache` | marks the folder as a cache of one format |
//! | `lock` | its lock orders the changes of `used` by all processes |
//! | `used` | how many bytes the segments take |
//! | `objects/KEY/NUMBER` | a segment: ranges of one version of an object, to which one process appends |
//!
//! Each range in a segment follows a header: the position of its first byte in the object, and its length, two numbers of 64
//! bits in little-endian order. A process writes the bytes of a range first, and then its header, so readers need no lock.
//! Design note 0018 (`docs/design/`) explains why a kill at any moment does no harm.

mod folder;
mod object;
mod segments;

pub(crate) use folder::DiskCache;
pub(crate) use object::CachedObject;
