//! Limits on the maps and open files that data sets hold.
//!
//! A data set may have more shards than a process may have maps (65,530 on Linux by default) or open files (often
//! 1024), and the rest of the process needs some too. Files beyond the share of data sets are opened for each read.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use vidrec_format::machine;

/// The number of maps or files that all data sets of this process may hold together.
#[derive(Debug)]
pub struct Share {
    held: AtomicU64,
    most: OnceLock<u64>,
    find_most: fn() -> u64,
}

/// One map or file of a [`Share`]. It is returned on drop.
#[derive(Debug)]
pub struct Held(&'static Share);

/// Maps: three quarters of what the system allows.
pub static MAPS: Share = Share::new(|| max_map_count() / 4 * 3);
/// Files that stay open: half of what the process may have.
pub static FILES: Share = Share::new(|| machine::open_files().map_or(u64::MAX, |most| most / 2));

impl Share {
    pub(crate) const fn new(find_most: fn() -> u64) -> Self {
        Share { held: AtomicU64::new(0), most: OnceLock::new(), find_most }
    }

    /// Takes one; `None` if none is left.
    pub fn take(&'static self) -> Option<Held> {
        let most = *self.most.get_or_init(self.find_most);
        let taken = self.held.fetch_update(Relaxed, Relaxed, |held| (held < most).then_some(held + 1));
        taken.ok().map(|_| Held(self))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.held.fetch_sub(1, Relaxed);
    }
}

#[cfg(target_os = "linux")]
fn max_map_count() -> u64 {
    let said = std::fs::read_to_string("/proc/sys/vm/max_map_count");
    said.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(65_530)
}

#[cfg(not(target_os = "linux"))]
fn max_map_count() -> u64 {
    u64::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_taken_than_there_is() {
        static THREE: Share = Share::new(|| 3);
        let mut held: Vec<_> = (0..3).map(|_| THREE.take().unwrap()).collect();
        assert!(THREE.take().is_none());
        held.pop();
        let again = THREE.take();
        assert!(again.is_some() && THREE.take().is_none());
        drop((held, again));
        assert_eq!(THREE.held.load(Relaxed), 0);
    }
}
