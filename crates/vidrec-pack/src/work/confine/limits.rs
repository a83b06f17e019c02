//! Lowers the limits that the system enforces for a process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The most files that may be open. One video, its tracks and the run's pipes need fewer than ten.
const FILES: u64 = 64;

/// Lowers the limits of this process.
///
/// Its address space may grow by the memory of the machine. Files that it writes may have 0 bytes, a crash leaves
/// no core dump, and it may have few descriptors.
pub(super) fn lower() {
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
