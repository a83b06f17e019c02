//! Storage for vidrec: files that appear whole or not at all, objects in object storage and on web servers, and a
//! cache of their ranges on local disk.
//!
//! The layers above read at positions and commit. Only [`disk`] touches files, and only `remote` speaks HTTP.

#![allow(clippy::len_without_is_empty, reason = "callers need the lengths of files, and not whether they are empty")]

pub mod cache;
#[doc(hidden)]
pub mod disk;
pub mod location;
mod per_process;
mod ranges;
#[doc(hidden)]
pub mod read_at;
#[doc(hidden)]
pub mod remote;
pub mod storage;
