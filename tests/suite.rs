//! vidrec from outside: the library, the program, and files. One program, because each is linked with the whole library;
//! a test that needs a process of its own starts this program again.

#[cfg(feature = "cli")]
mod cli;
mod common;
#[cfg(target_os = "linux")]
mod decoded_cache;
#[cfg(all(feature = "pack", feature = "cli"))]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod faults;
#[cfg(feature = "cli")]
mod interop;
mod library;
mod loader;
#[cfg(all(feature = "pack", feature = "cli"))]
mod pack;
#[cfg(unix)]
mod remote_cache;
mod remote_reading;
#[cfg(all(feature = "pack", feature = "cli"))]
mod remote_writing;
#[cfg(all(feature = "pack", feature = "cli", unix))]
mod shards;
mod vectors;
#[cfg(feature = "pack")]
mod video;
