//! Files and folders that appear completely or not at all. No other module of the library renames, removes, links or
//! syncs files, and a test enforces that.
//!
//! [`publication`] is the commit point of data sets. [`NewFolder`] is the commit point of exports, whose files need
//! fixed names.

mod atomic_file;
pub mod folder;
mod folder_lock;
pub mod free_space;
pub mod inside;
mod link;
pub mod map;
pub mod memory_file;
mod new_folder;
pub mod open_files;
pub mod positional;
pub(crate) mod private_file;
pub mod private_folder;
pub mod publication;
pub mod regular_file;
pub mod shared_map;
pub mod sigbus;
pub mod system;

pub use atomic_file::write_file;
pub use atomic_file::write_whole;
pub use atomic_file::{AtomicFile, Temporary, remove_temporaries};
pub use folder::{folder_of, refuse_file, remove_file, sync_folder};
pub use folder_lock::{FolderLock, is_being_written};
pub use link::share;
pub use link::{give_name, name_once};
pub use new_folder::{NewFile, NewFolder, Written as WrittenFolder};
