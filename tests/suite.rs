//! vidrec from outside: the library, the program, and files. One program, because each is linked with the whole library;
//! a test that needs a process of its own starts this program again.

#[cfg(all(feature = "cli", feature = "interop", feature = "remote"))]
mod cli;
mod common;
#[cfg(target_os = "linux")]
mod decoded_cache;
#[cfg(all(feature = "pack", feature = "cli", feature = "interop", feature = "remote"))]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod faults;
#[cfg(feature = "interop")]
mod interop;
mod library;
mod loader;
#[cfg(all(feature = "pack", feature = "cli", feature = "interop", feature = "remote"))]
mod pack;
#[cfg(all(feature = "remote", unix))]
mod remote_cache;
#[cfg(feature = "remote")]
mod remote_reading;
#[cfg(all(feature = "pack", feature = "cli", feature = "remote"))]
mod remote_writing;
#[cfg(all(feature = "pack", feature = "cli", feature = "remote", unix))]
mod shards;
mod vectors;
#[cfg(feature = "pack")]
mod video;
