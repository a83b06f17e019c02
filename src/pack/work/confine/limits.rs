//! Limits that the system keeps for a process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that are open at a time: those of one video, its tracks and the run's pipes are fewer than ten.
const FILES: u64 = 64;

/// Lowers the limits of this process: its memory to that of the machine beyond what it has already, files of no bytes, no
/// core dump, few descriptors.
pub(super) fn lower() {
    set(Resource::Core, 0);
    set(Resource::Fsize, 0);
    set(Resource::Nofile, FILES);
    #[cfg(target_os = "linux")]
    if let (Some(used), Some(most)) = (address_space(), crate::machine::memory()) {
        set(Resource::As, used.saturating_add(most));
    }
}

fn set(resource: Resource, most: u64) {
    let Rlimit { current, maximum } = getrlimit(resource);
    let lower = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
    // A limit that is not below the one that holds is not refused, so there is nothing to do if it fails.
    let _ = setrlimit(resource, Rlimit { current: lower(current), maximum: lower(maximum) });
}

/// Bytes of address space that this process takes: programs and libraries, which take more than memory.
#[cfg(target_os = "linux")]
fn address_space() -> Option<u64> {
    let pages: u64 = std::fs::read_to_string("/proc/self/statm").ok()?.split(' ').next()?.parse().ok()?;
    pages.checked_mul(rustix::param::page_size() as u64)
}
