//! A process that is forked from one that reads through a cache.

use std::panic::AssertUnwindSafe;

use vidrec::{Dataset, Loader};

use crate::common::own_process;
use crate::common::until::until;
use crate::remote_cache::orders;
use crate::remote_cache::served::{PAGE, Served, cached, epoch};

fn fork() {
    let served = Served::small();
    let folder = tempfile::tempdir().unwrap();
    let o = orders::with(&orders::shuffled());
    let local = Loader::new(&served.set, o.clone()).unwrap();
    let expected = [0, 1].map(|e| epoch(&local, e));
    let set = served.open(cached(folder.path(), served.all_bytes() * 2));
    let loader = Loader::new(&set, o.clone()).unwrap();
    // Its record files are opened after the fork.
    let late = served.open(cached(folder.path(), served.all_bytes() * 2));
    let mut batches = loader.iter(0).unwrap();
    assert!(*batches.next().unwrap().unwrap() == expected[0][0]);
    // SAFETY: the child uses memory of its own, which glibc keeps usable, and ends with `_exit`.
    let children = [0, 1].map(|e| match unsafe { libc::fork() } {
        0 => {
            let read =
                |set: &Dataset| Loader::new(set, o.clone()).map(|loader| epoch(&loader, e) == expected[e as usize]);
            // What it inherited, and what it opens for itself, with a cache of its own.
            let is_cached = |set: &Dataset| {
                let stats = set.remote_stats().unwrap();
                stats.cached_bytes > 0 && stats.cache_failures == 0
            };
            let is_right = std::panic::catch_unwind(AssertUnwindSafe(|| {
                let own = served.open(cached(folder.path(), served.all_bytes() * 2));
                [&own, &late, &set].into_iter().all(|set| read(set).unwrap() && is_cached(set))
            }));
            // SAFETY: always.
            unsafe { libc::_exit(i32::from(!is_right.unwrap_or(false))) }
        }
        child => child,
    });
    assert!(batches.map(|batch| batch.unwrap().into_batch()).eq(expected[0][1..].iter().cloned()));
    for child in children {
        let mut status = -1;
        // SAFETY: `status` is an int.
        until("the child ends", || unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } == child);
        assert_eq!(status, 0, "the child could not read");
    }
    // What the parent kept is not disturbed.
    served.downloaded();
    assert!(epoch(&loader, 1) == expected[1]);
    assert!(served.downloaded().1 <= 3 * PAGE);
}

#[test]
fn forked_processes_read_and_the_parent_goes_on() {
    own_process::run(module_path!(), "forked_processes_read_and_the_parent_goes_on", fork);
}
