//! Files and folders that appear completely or not at all. No other module of the library renames, removes, links or
//! syncs files, and a test enforces that.
//!
//! [`publication`] is the commit point of data sets. [`NewFolder`] is the commit point of exports, whose files need
//! fixed names.

pub(crate) mod advice;
mod atomic_file;
#[cfg(feature = "remote")]
pub(crate) mod claim_file;
mod folder;
mod folder_lock;
#[cfg(feature = "pack")]
pub(crate) mod free_space;
#[cfg(feature = "remote")]
mod hole;
#[cfg(any(feature = "interop", feature = "pack"))]
pub(crate) mod inside;
#[cfg(target_os = "linux")]
mod large_map;
mod link;
#[cfg(feature = "pack")]
mod log_file;
pub(crate) mod map;
#[cfg(target_os = "linux")]
pub(crate) mod memory_file;
#[cfg(not(target_os = "linux"))]
#[path = "no_memory_file.rs"]
pub(crate) mod memory_file;
#[cfg(target_os = "linux")]
mod memory_folder;
#[cfg(feature = "interop")]
mod new_folder;
pub(crate) mod open_files;
mod own_file;
pub(crate) mod own_folder;
pub(crate) mod positional;
pub(crate) mod publication;
pub(crate) mod regular_file;
#[cfg(feature = "remote")]
pub(crate) mod shared_file;
#[cfg_attr(not(feature = "remote"), allow(dead_code, reason = "the cache of pages uses the rest"))]
pub(crate) mod shared_map;
pub(crate) mod sigbus;
#[cfg(any(feature = "pack", feature = "remote"))]
pub(crate) mod space;
#[cfg(feature = "remote")]
pub(crate) mod sparse_file;
#[cfg(feature = "interop")]
mod swap;
mod system;
#[cfg(any(feature = "pack", feature = "remote"))]
pub(crate) mod whole_folder;

#[cfg(feature = "pack")]
pub(crate) use atomic_file::write_file;
pub(crate) use atomic_file::{AtomicFile, Temporary, remove_temporaries};
pub(crate) use folder::folder_of;
#[cfg(feature = "pack")]
pub(crate) use folder::{remove as remove_file, sync_folder};
#[cfg(feature = "pack")]
pub(crate) use folder_lock::LockName;
pub(crate) use folder_lock::{FolderLock, is_being_written};
#[cfg(feature = "pack")]
pub(crate) use link::{give_name, name_instead, name_once};
pub(crate) use link::{keep_as, share};
#[cfg(feature = "pack")]
pub(crate) use log_file::LogFile;
#[cfg(feature = "interop")]
pub(crate) use new_folder::{NewFile, NewFolder, Written as WrittenFolder};
