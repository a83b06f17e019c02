//! Faults that a debug build simulates, so that tests can see what happens to the other videos.

#[cfg(target_os = "linux")]
mod escape;
pub(super) mod fault;
