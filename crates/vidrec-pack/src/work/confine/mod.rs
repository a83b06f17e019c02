//! Takes privileges from a worker process before it sees the first byte of a video.
//!
//! A hostile video may take over the decoder that reads it. The process around that decoder can compute, read the
//! files that the run handed over, and talk to the run. It can do nothing else: signals that are meant for the run do not
//! reach it; system limits bound its memory and files; it has no access to files (Landlock); and it can make only the system
//! calls that a decoder needs (seccomp, in `calls.rs`).
//!
//! The restrictions hold for the rest of the process's life. Linux has all of them. Other systems have only the
//! limits.

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod calls;
#[cfg(target_os = "linux")]
mod linux;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[cfg(target_os = "linux")]
pub(super) use linux::block_signals;

/// System calls have different numbers on each kind of processor.
#[cfg(all(target_os = "linux", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod calls {
    pub(super) fn filter() -> Result<(), String> {
        Err("vidrec has no filter of system calls for this kind of processor".into())
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn block_signals() {}

/// Confines this process, which must have only one thread. If it cannot be confined, the error says why.
#[cfg(target_os = "linux")]
pub(crate) fn confine() -> Result<(), String> {
    linux::leave_signals_to_the_run();
    linux::close_other_files();
    lower_limits();
    // The filter of system calls refuses all that Landlock refuses, and more. Landlock is a second barrier on kernels that
    // have it.
    let _ = linux::refuse_files();
    calls::filter()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn confine() -> Result<(), String> {
    lower_limits();
    Err("vidrec can confine them only on Linux".into())
}

/// The most files that may be open. One video, its tracks and the run's pipes need fewer than ten.
const FILES: u64 = 64;

/// Lowers the limits of this process.
///
/// Its address space may grow by the memory of the machine. Files that it writes may have 0 bytes, a crash leaves
/// no core dump, and it may have few descriptors.
fn lower_limits() {
    set(Resource::Core, 0);
    set(Resource::Fsize, 0);
    set(Resource::Nofile, FILES);
    #[cfg(target_os = "linux")]
    if let (Some(used), Some(most)) = (address_space(), vidrec_core::memory::memory()) {
        set(Resource::As, used.saturating_add(most));
    }
}

fn set(resource: Resource, most: u64) {
    let Rlimit { current, maximum } = getrlimit(resource);
    let lower = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
    // The system never refuses to lower a limit or to keep it, so an error needs no handling.
    let _ = setrlimit(resource, Rlimit { current: lower(current), maximum: lower(maximum) });
}

/// Returns the bytes of address space that this process uses.
///
/// They are more than its memory, because they include programs and libraries.
#[cfg(target_os = "linux")]
fn address_space() -> Option<u64> {
    let pages: u64 = std::fs::read_to_string("/proc/self/statm").ok()?.split(' ').next()?.parse().ok()?;
    pages.checked_mul(rustix::param::page_size() as u64)
}
