//! Batches that come through a cache are those of the local data set, bit for bit, and the limit holds.

use vidrec::{Loader, LoaderOptions};

use crate::remote_cache::disk_use::{self, Watch, segments};
use crate::remote_cache::orders;
use crate::remote_cache::served::{Served, cached, epoch};

/// Cold, then warm, then half of what was there is gone.
#[test]
fn batches_are_equal_whatever_the_cache_holds() {
    let served = Served::small();
    let all = served.all_bytes();
    for order in orders::all(served.set.len()) {
        // The last batch of an epoch is filled up.
        let o = LoaderOptions { batch_size: 5, ..orders::with(&order) };
        let local = Loader::new(&served.set, o.clone()).unwrap();
        let expected = [0, 1].map(|e| epoch(&local, e));
        assert!(order == vidrec::order::Order::Sequential || expected[0].len() > 1);
        for tenths in [2, 9] {
            let bytes = all * tenths / 10;
            let folder = tempfile::tempdir().unwrap();
            let dir = folder.path().join("cache");
            let watch = Watch::of(&dir, bytes);
            let check = |when: &str| {
                let set = served.open(cached(&dir, bytes));
                let loader = Loader::new(&set, o.clone()).unwrap();
                for (e, expected) in (0..).zip(&expected) {
                    assert!(epoch(&loader, e) == *expected, "{order}, cache of {tenths} tenths, {when}, epoch {e}");
                }
                set.remote_stats().unwrap()
            };
            let cold = check("cold");
            assert!(cold.fetched_bytes > 0 && cold.cache_failures == 0, "{cold:?}");
            let warm = check("warm");
            assert!(warm.cached_bytes > 0, "{warm:?}");
            // What is read again may be in memory, and how much is asked for ahead depends on the time.
            let is_small = tenths < 5 || !orders::once().contains(&order);
            let is_less = is_small || warm.fetched_bytes < cold.fetched_bytes;
            assert!(is_less, "{order} {tenths}: {warm:?}, cold {cold:?}");
            let kept = disk_use::bytes(&dir);
            assert!(kept <= bytes, "{order}: {kept} bytes");
            std::fs::remove_file(&segments(&dir)[0]).unwrap();
            assert!(disk_use::bytes(&dir) < kept);
            check("half warm");
            let most = watch.end();
            assert!(most > bytes / 4, "{order}: {most} of {bytes} were kept");
        }
    }
}
