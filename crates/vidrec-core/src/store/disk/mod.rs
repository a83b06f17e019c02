//! Files and folders that appear completely or not at all. No other module of the library renames, removes, links or
//! syncs files, and a test enforces that.
//!
//! [`publication`] is the commit point of data sets. [`NewFolder`] is the commit point of exports, whose files need
//! fixed names.

mod atomic_file;
pub mod folder;
mod folder_lock;
pub mod inside;
pub mod map;
pub(crate) mod memory_file;
mod new_folder;
pub(crate) mod open_files;
pub(crate) mod private;
pub mod publication;
pub mod regular_file;
pub mod sigbus;

pub use atomic_file::{AtomicFile, Temporary, name_once, remove_temporaries, write_file, write_whole};
pub use folder::{folder_of, refuse_file, remove_file, sync_folder};
pub use folder_lock::{FolderLock, is_being_written};
pub use new_folder::{NewFile, NewFolder, Written as WrittenFolder};
