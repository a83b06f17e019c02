//! How much is downloaded, as the server counts it.

use vidrec::cache;
use vidrec::order::Order;
use vidrec::{Loader, LoaderOptions, Sampling, Storage};

use crate::belady;
use crate::disk_use::Watch;
use crate::orders;
use crate::served::{PAGE, Served, cached, clips, epoch};

const SHARDS: u64 = 3;

/// Little memory, so that what is read again is in the cache or nowhere.
fn storage(dir: &std::path::Path, bytes: u64) -> Storage {
    Storage { memory_bytes: 4 << 20, ..cached(dir, bytes) }
}

/// Bytes of records and of indexes in a cache.
fn kept(dir: &std::path::Path) -> (u64, u64) {
    let objects = cache::show(dir).unwrap().objects;
    let of = |ending| objects.iter().filter(|o| o.location.ends_with(ending)).map(|o| o.bytes).sum();
    (of(".rec"), of(".vidx"))
}

#[test]
fn nothing_is_downloaded_twice_if_all_of_it_fits() {
    let served = Served::large();
    let records = served.record_bytes();
    for order in orders::all(served.set.len()) {
        let folder = tempfile::tempdir().unwrap();
        let (mut bytes, mut requests, mut used) = (0, Vec::new(), Vec::new());
        // Opened four times, with two epochs each.
        for run in 0..4 {
            served.downloaded();
            let set = served.open(storage(folder.path(), served.all_bytes() * 11 / 10));
            let loader = Loader::new(&set, orders::with(&order)).unwrap();
            for e in 0..2 {
                used.extend(clips(&epoch(&loader, 2 * run + e)));
                let (more, came) = served.downloaded();
                // The first bytes of each record file come as it is opened.
                assert!(came <= records + SHARDS * PAGE, "{order}: {came} bytes");
                assert!((run, e) != (0, 0) || more <= 2 * SHARDS + served.set.len(), "{order}: {more} requests");
                bytes += came;
                requests.push(more);
            }
        }
        assert!(bytes <= records + 4 * SHARDS * PAGE, "{order}: {bytes} bytes of {records}");
        used.sort_unstable();
        used.dedup();
        let sizes = served.clip_bytes();
        let of_clips: u64 = used.iter().map(|&clip| sizes[clip as usize]).sum();
        assert!(bytes * 100 <= of_clips * 105 + 4 * SHARDS * PAGE * 100, "{order}: {bytes} bytes of {of_clips}");
        let is_whole = orders::once().contains(&order);
        assert!(!is_whole || requests[1..] == [0, SHARDS, 0, SHARDS, 0, SHARDS, 0], "{order}: {requests:?}");
    }
}

#[test]
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
            let set = served.open(storage(folder.path(), limit));
            let loader = Loader::new(&set, orders::with(&order)).unwrap();
            for e in 0..3 {
                let before = kept(folder.path()).0;
                let batches = epoch(&loader, e);
                let used: u64 = clips(&batches).into_iter().map(|clip| sizes[clip as usize]).sum();
                let (_, came) = served.downloaded();
                let what = format!("{order}, {hundredths}%, epoch {e}: {came} of {used}, {before} kept");
                assert!(came * 100 <= used * 105 + heads * 100, "{what}");
                // In other orders it matters which clips were kept.
                if orders::once().contains(&order) {
                    assert!(came * 100 <= (used - before) * 105 + heads * 100, "{what}");
                }
            }
            watch.end();
        }
    }
}

/// Bytes that came from the cache in six epochs, as a share of those that were used: of vidrec, and of the best cache.
fn hit_rates(served: &Served, o: &LoaderOptions, hundredths: u64) -> (f64, f64) {
    let folder = tempfile::tempdir().unwrap();
    let limit = served.all_bytes() * hundredths / 100;
    let set = served.open(storage(folder.path(), limit));
    served.downloaded();
    let loader = Loader::new(&set, o.clone()).unwrap();
    let read: Vec<u64> = (0..6).flat_map(|e| clips(&epoch(&loader, e))).collect();
    let (_, came) = served.downloaded();
    let sizes = served.clip_bytes();
    let used: u64 = read.iter().map(|&clip| sizes[clip as usize]).sum();
    // Indexes are kept, too.
    let capacity = limit - kept(folder.path()).1;
    let best = belady::hits(&sizes, &read, capacity);
    (1.0 - came as f64 / used as f64, best as f64 / used as f64)
}

#[test]
fn as_much_is_found_as_the_best_cache_would_give() {
    // So many that it matters little that clips are kept as a whole or not.
    let served = Served::new(&[60, 15, 75], 16, 6_500);
    let rank = |order: &Order, rank, world_size| {
        let sampling = Sampling { rank, world_size, ..orders::with(order).sampling };
        LoaderOptions { sampling, ..orders::with(order) }
    };
    for order in [orders::shuffled(), orders::blocks(), orders::homes()] {
        for hundredths in [10, 50, 90] {
            let (got, best) = hit_rates(&served, &rank(&order, 0, 1), hundredths);
            println!("{order}, {hundredths}%: {got:.3}, best {best:.3}");
            assert!(best > 0.05 && got >= best - 0.02, "{order}, {hundredths}%: {got:.3}, best {best:.3}");
        }
    }
    let order = Order::Homes { homes: None, exchange: 0.1, block: 4, window: 2 };
    for hundredths in [10, 30] {
        let (got, best) = hit_rates(&served, &rank(&order, 1, 3), hundredths);
        println!("a rank of {order}, {hundredths}%: {got:.3}, best {best:.3}");
        assert!(best > 0.05 && got >= best - 0.06, "a rank of {order}, {hundredths}%: {got:.3}, best {best:.3}");
    }
}

/// The best cache knows which clips come soon again. vidrec keeps what came first.
#[test]
fn with_repeats_at_least_the_share_that_is_kept_is_found() {
    let served = Served::large();
    for order in [orders::weighted(served.set.len()), orders::given(served.set.len())] {
        for hundredths in [10, 25, 50, 90] {
            let (got, best) = hit_rates(&served, &orders::with(&order), hundredths);
            println!("{order}, {hundredths}%: {got:.3}, best {best:.3}");
            // Nothing of it is found in the first epoch.
            let share = hundredths as f64 / 100.0 * 5.0 / 6.0;
            assert!(got >= share - 0.05, "{order}, {hundredths}%: {got:.3} of {share:.3}, best {best:.3}");
        }
    }
}
