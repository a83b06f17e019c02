//! Several processes with loaders on one cache at the same time.

use crate::remote_cache::disk_use::{Watch, bytes};
use crate::remote_cache::served::{PAGE, Served};
use crate::remote_cache::worker::Job;

/// Runs processes that begin together. Returns the bytes of record files that they downloaded.
fn together<const N: usize>(served: &Served, jobs: [Job; N]) -> u64 {
    let epochs = jobs[0].epochs;
    let mut workers = jobs.map(|job| Job { waits: true, ..job }.start());
    workers.iter_mut().for_each(|worker| assert_eq!(worker.says(), "open"));
    served.downloaded();
    workers.iter_mut().for_each(|worker| worker.go());
    for worker in &mut workers {
        (0..epochs).for_each(|epoch| assert_eq!(worker.says(), epoch.to_string()));
        let stats = worker.says();
        assert!(stats.contains("\"cache_failures\":0"), "{stats}");
    }
    workers.into_iter().for_each(|worker| worker.end());
    served.downloaded().1
}

#[test]
fn each_clip_is_downloaded_once_for_all_ranks() {
    let served = Served::new(&[12, 9, 11], 16, 7_000);
    let (folder, limit) = (tempfile::tempdir().unwrap(), served.all_bytes() * 2);
    let job = |seed, rank| Job { seed, rank, world_size: 2, ..Job::new(&served, folder.path(), limit) };
    let came = together(&served, [job(1, 0), job(1, 1)]);
    // A clip may end within a page that came with its neighbor.
    let most = served.record_bytes() + (2 * 3 + 2 * served.set.len()) * PAGE;
    assert!(came <= most && came * 10 > served.record_bytes() * 9, "{came} of {}", served.record_bytes());
    // Each rank has clips that the other one had. The first page of a record file comes when it is opened: two are later.
    assert_eq!(together(&served, [job(2, 0), job(2, 1)]), 2 * 2 * PAGE);
    assert!(bytes(folder.path()) <= limit);
}

#[test]
fn what_does_not_fit_is_downloaded_by_each() {
    let served = Served::new(&[12, 9, 11], 16, 7_000);
    let (folder, limit) = (tempfile::tempdir().unwrap(), served.all_bytes() / 2);
    let watch = Watch::of(folder.path(), limit);
    let job = |seed| Job { seed, epochs: 2, ..Job::new(&served, folder.path(), limit) };
    let came = together(&served, [0, 1, 2, 3].map(job));
    let (all, kept) = (served.all_bytes(), bytes(folder.path()));
    assert!(bytes(folder.path()) <= limit);
    watch.end();
    assert!(kept * 100 > all * 40 && kept <= all / 2, "{kept} of {all}");
    // Four times two epochs, and what is kept comes once.
    let expected = kept + 8 * (all - kept);
    assert!((expected * 85 / 100..=expected * 125 / 100).contains(&came), "{came} of {all}, {expected} expected");
}
