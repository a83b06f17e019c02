//! What is held in memory does not grow from epoch to epoch. With `VIDREC_SOAK=1`, over 2000 epochs.
#![cfg(target_os = "linux")]

use vidrec::{Loader, Storage};

use crate::common::own_process;
use crate::remote_cache::orders;
use crate::remote_cache::served::{Served, cached, epoch};

/// What the allocator and the server's threads may add.
const MOST: u64 = 8 << 20;

/// Memory of this process that is in the machine and belongs to no file, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
}

fn flat() {
    let served = Served::small();
    served.server.keep_log(false);
    let is_soak = std::env::var_os("VIDREC_SOAK").is_some_and(|value| value == "1");
    let epochs = if is_soak { 2000 } else { 50 };
    let bytes = served.all_bytes();
    for tenths in [None, Some(5), Some(11)] {
        let folder = tempfile::tempdir().unwrap();
        let storage = tenths.map_or_else(Storage::default, |tenths| cached(folder.path(), bytes * tenths / 10));
        // Less than the data set, so that nothing of it stays in memory.
        let storage = Storage { memory_bytes: 1, ..storage };
        let set = served.open(storage);
        let loader = Loader::new(&set, orders::with(&orders::shuffled())).unwrap();
        // Until then, threads and connections get the memory that they keep.
        const SETTLED: u64 = 20;
        let mut settled = 0;
        for e in 0..epochs {
            epoch(&loader, e);
            let now = resident();
            if e == SETTLED {
                settled = now;
            }
            assert!(e <= SETTLED || now <= settled + MOST, "cache {tenths:?}, epoch {e}: {now}, {settled} before");
        }
        // Less than the data set, of which nothing may stay: else the bound would say nothing.
        let used = set.remote_stats().unwrap();
        assert!(used.fetched_bytes + used.cached_bytes > 20 * bytes && 20 * bytes > MOST);
    }
}

#[test]
#[ignore = "full: 50 epochs with each size of a cache"]
fn memory_is_flat_over_many_epochs() {
    own_process::run(module_path!(), "memory_is_flat_over_many_epochs", flat);
}
