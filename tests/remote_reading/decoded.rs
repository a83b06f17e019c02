//! Frames that are kept decoded are not fetched again.

use vidrec::order::Order;
use vidrec::{Crop, DecodedCache, Loader, LoaderOptions};

use crate::common::data_set_server::Served;
use crate::common::options;
use crate::common::sample_data_sets;

#[test]
fn what_is_kept_decoded_is_not_fetched_and_the_batches_are_the_same() {
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else { return };
    for crop in [Crop::center((16, 16)), Crop::random_resized((16, 16))] {
        for order in [Order::Shuffled, Order::Blocks { block: 5, window: 2 }] {
            let served = Served::new(sample_data_sets::small(&[9, 1, 7, 7]));
            let without = LoaderOptions { crop: crop.clone(), order, ..options(3, (16, 16)) };
            let cache = DecodedCache { size: 16 << 20, dir: Some(memory.path().to_owned()) };
            let with = LoaderOptions { decoded_cache: Some(cache), ..without.clone() };
            let local = Loader::new(&served.local(), without).unwrap();
            let remote = Loader::new(&served.open().unwrap(), with).unwrap();
            // The second epoch asks for what was made ready for the first, and is planned while that is made.
            for epochs in [0..1, 1..4] {
                served.log("");
                let (ours, theirs) = (remote.iter(epochs.clone()).unwrap(), local.iter(epochs.clone()).unwrap());
                assert!(ours.zip(theirs).all(|(ours, theirs)| *ours.unwrap() == *theirs.unwrap()));
                let stats = remote.stats().decoded_cache.unwrap();
                assert!(stats.failure.is_none() && stats.refused == 0);
                let fetched = served.log("rec");
                if crop == Crop::center((16, 16)) {
                    assert!(fetched.is_empty() == (epochs.start > 0), "{epochs:?}: {fetched:?}");
                    assert!(epochs.start == 0 || stats.hits == 3 * stats.misses, "{stats:?}");
                }
            }
        }
    }
}
