//! Several processes with loaders on one cache at the same time.

use vidrec::cache;

use crate::remote_cache::disk_use::Watch;
use crate::remote_cache::served::{PAGE, Served};
use crate::remote_cache::worker::Job;

/// Starts processes that begin together. Returns the bytes of record files that they downloaded, and those that are kept.
fn together(served: &Served, processes: u32, are_ranks: bool, cache_bytes: u64) -> (u64, u64) {
    let folder = tempfile::tempdir().unwrap();
    let watch = Watch::of(folder.path(), cache_bytes);
    let job = Job { waits: true, epochs: 2, ..Job::new(served, folder.path(), cache_bytes) };
    let job = |i| match are_ranks {
        true => Job { rank: i, world_size: processes, ..job.clone() },
        false => Job { seed: u64::from(i), ..job.clone() },
    };
    let mut workers: Vec<_> = (0..processes).map(|i| job(i).start()).collect();
    workers.iter_mut().for_each(|worker| assert_eq!(worker.says(), "open"));
    // Each reads the first page and the last bytes of each record file as it opens it.
    served.downloaded();
    workers.iter_mut().for_each(|worker| worker.go());
    for worker in &mut workers {
        assert_eq!([worker.says(), worker.says()], ["0", "1"]);
        let stats = worker.says();
        assert!(stats.contains("\"cache_failures\":0"), "{stats}");
    }
    workers.into_iter().for_each(|worker| worker.end());
    let report = cache::show(folder.path()).unwrap();
    assert!(report.bytes <= cache_bytes);
    watch.end();
    let kept = report.objects.iter().filter(|object| object.location.ends_with(".rec")).map(|object| object.bytes);
    (served.downloaded().1, kept.sum())
}

#[test]
fn each_clip_is_downloaded_once_for_all_ranks() {
    let served = Served::new(&[12, 9, 11], 16, 7_000);
    let (came, _) = together(&served, 2, true, served.all_bytes() * 11 / 10);
    // A clip may end within a page that came with its neighbor.
    let most = served.record_bytes() + (2 * 3 + 2 * served.set.len()) * PAGE;
    assert!(came <= most && came * 10 > served.record_bytes() * 9, "{came} of {}", served.record_bytes());
}

#[test]
fn what_does_not_fit_is_downloaded_by_each() {
    let served = Served::new(&[12, 9, 11], 16, 7_000);
    let (came, kept) = together(&served, 4, false, served.all_bytes() / 2);
    let all = served.record_bytes();
    assert!(kept * 100 > all * 40 && kept <= all / 2, "{kept} of {all}");
    // Four times two epochs, and what is kept comes once.
    let expected = kept + 8 * (all - kept);
    assert!((expected * 85 / 100..=expected * 125 / 100).contains(&came), "{came} of {all}, {expected} expected");
}
