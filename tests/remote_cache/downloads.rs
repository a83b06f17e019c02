//! How much is downloaded, as the server counts it.

use vidrec::Loader;

use crate::remote_cache::disk_use::{self, Watch};
use crate::remote_cache::orders;
use crate::remote_cache::served::{PAGE, Served, cached, clips, epoch};

const SHARDS: u64 = 3;

#[test]
fn nothing_is_downloaded_twice_if_all_of_it_fits() {
    let served = Served::large();
    let records = served.record_bytes();
    // A clip may begin and end within pages that came with its neighbors.
    let edges = (SHARDS + 2 * served.set.len()) * PAGE;
    for order in orders::all(served.set.len()) {
        let folder = tempfile::tempdir().unwrap();
        let (mut bytes, mut requests, mut used) = (0, Vec::new(), Vec::new());
        // Opened four times, with two epochs each.
        for run in 0..4 {
            served.downloaded();
            let set = served.open(cached(folder.path(), served.all_bytes() * 11 / 10));
            let loader = Loader::new(&set, orders::with(&order)).unwrap();
            for e in 0..2 {
                used.extend(clips(&epoch(&loader, 2 * run + e)));
                let (more, came) = served.downloaded();
                // The first bytes of each record file come as it is opened.
                assert!(came <= records + edges, "{order}: {came} bytes");
                assert!((run, e) != (0, 0) || more <= 2 * SHARDS + served.set.len(), "{order}: {more} requests");
                bytes += came;
                requests.push(more);
            }
        }
        assert!(bytes <= records + 3 * SHARDS * PAGE + edges, "{order}: {bytes} bytes of {records}");
        used.sort_unstable();
        used.dedup();
        let sizes = served.clip_bytes();
        let of_clips: u64 = used.iter().map(|&clip| sizes[clip as usize]).sum();
        assert!(bytes * 100 <= of_clips * 110 + 4 * SHARDS * PAGE * 100, "{order}: {bytes} bytes of {of_clips}");
        let is_whole = orders::once().contains(&order);
        assert!(!is_whole || requests[1..] == [0, SHARDS, 0, SHARDS, 0, SHARDS, 0], "{order}: {requests:?}");
    }
}

#[test]
#[ignore = "full: each order with four sizes of a cache"]
fn each_epoch_downloads_what_it_uses_and_is_not_kept() {
    let served = Served::large();
    let sizes = served.clip_bytes();
    let heads = SHARDS * PAGE;
    for order in orders::all(served.set.len()) {
        for hundredths in [10, 25, 50, 90] {
            let folder = tempfile::tempdir().unwrap();
            let limit = served.all_bytes() * hundredths / 100;
            let watch = Watch::of(folder.path(), limit);
            served.downloaded();
            let set = served.open(cached(folder.path(), limit));
            let loader = Loader::new(&set, orders::with(&order)).unwrap();
            for e in 0..3 {
                let before = disk_use::bytes(folder.path());
                let batches = epoch(&loader, e);
                let used: u64 = clips(&batches).into_iter().map(|clip| sizes[clip as usize]).sum();
                let (_, came) = served.downloaded();
                let what = format!("{order}, {hundredths}%, epoch {e}: {came} of {used}, {before} kept");
                assert!(came * 100 <= used * 130 + heads * 100, "{what}");
                // In other orders it matters which clips were kept.
                if orders::once().contains(&order) {
                    assert!(came * 100 <= used.saturating_sub(before) * 130 + heads * 100, "{what}");
                }
            }
            watch.end();
        }
    }
}
