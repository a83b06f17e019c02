//! Processes that are killed while they read through a cache that others use. With `VIDREC_SOAK=1`, a hundred of them.

use std::sync::atomic::Ordering::SeqCst;

use vidrec::Loader;

use crate::common::until::until;
use crate::remote_cache::disk_use::{Watch, bytes};
use crate::remote_cache::orders;
use crate::remote_cache::served::{Served, cached, epoch};
use crate::remote_cache::worker::{Job, Worker};

#[test]
fn kills_harm_nobody() {
    let is_soak = std::env::var_os("VIDREC_SOAK").is_some_and(|value| value == "1");
    let kills = if is_soak { 100 } else { 9 };
    let served = Served::small();
    let folder = tempfile::tempdir().unwrap();
    let limit = served.all_bytes() * 6 / 10;
    let watch = Watch::of(folder.path(), limit);
    let job = Job { epochs: u64::MAX, ..Job::new(&served, folder.path(), limit) };
    let mut stays = Job { seed: 1_000, ..job.clone() }.start();
    assert_eq!((stays.says(), stays.says()), ("open".into(), "0".into()));
    let epochs = stays.follow();
    let goes_on = |stays: &mut Worker| {
        let before = epochs.load(SeqCst);
        until("the one that stays goes on", || epochs.load(SeqCst) > before + 1 || !stays.is_well());
        assert!(stays.is_well());
    };
    let started = |k: u64| Job { seed: k, ..job.clone() }.start();
    let mut random = 12345u32;
    let mut next: [Option<Worker>; 2] = [None, None];
    for k in 0..kills + 2 {
        // Two at a time; one of each three is killed while it opens the data set.
        let worker = next[(k % 2) as usize].replace(started(k));
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let Some(mut worker) = worker else { continue };
        if k % 3 > 0 {
            assert_eq!(worker.says(), "open");
        }
        // Some epochs later, or none: wherever the process is.
        for _ in 0..if k % 3 > 0 { random >> 8 } else { 0 } % 3 {
            worker.says();
        }
        assert!(worker.is_well(), "a worker failed");
        worker.kill();
        if k % 8 == 7 {
            goes_on(&mut stays);
            let taken = bytes(folder.path());
            assert!(taken <= limit, "{taken} of {limit}");
        }
    }
    drop(next);
    let mut last = Job { epochs: 2, ..job.clone() }.start();
    assert_eq!([last.says(), last.says(), last.says()], ["open", "0", "1"]);
    last.end();
    goes_on(&mut stays);
    stays.kill();

    let set = served.open(cached(folder.path(), limit));
    let o = orders::with(&orders::shuffled());
    let (local, loader) = (Loader::new(&served.set, o.clone()).unwrap(), Loader::new(&set, o).unwrap());
    assert!((0..3).all(|e| epoch(&loader, e) == epoch(&local, e)));
    assert!(set.remote_stats().unwrap().cached_bytes > 0);
    drop((set, loader));
    let kept = bytes(folder.path());
    assert!(kept <= limit && kept > limit / 2, "{kept} bytes, limit {limit}");
    watch.end();
}
