//! Loaders that nobody wants any more while the server says nothing.

use std::time::{Duration, Instant};

use fault_proxy::{Fault, Rule};
use vidrec::order::Order;
use vidrec::{Loader, Storage};

use crate::common::data_set_server::{Served, ends, epoch};
use crate::common::options;
use crate::common::sample_data_sets;
use crate::common::until::until;
use crate::remote_reading::equal::of_order;

/// Far longer than a stop takes, and far shorter than a read may.
const PROMPT: Duration = Duration::from_secs(10);

/// Drops a loader whose batch waits for files of this ending, and reads the same data set with another one.
fn is_dropped_at_once(order: Order, ending: &'static str, has_cache: bool) {
    let what = format!("{order:?}, {ending}, cache: {has_cache}");
    let time = ends(&what, move || {
        let served = Served::new(sample_data_sets::small(&[60]));
        let cache = has_cache.then(|| served.folder.path().join("cache"));
        let set = served.open_with(Storage { cache, timeout: Duration::from_secs(300), ..Storage::default() }).unwrap();
        let options = of_order(order, options(4, (32, 24)));
        let loader = Loader::new(&set, options.clone()).unwrap();
        served.server.rules().add(Rule::new(Fault::NoAnswer).path(ending));
        let batches = loader.iter(0).unwrap();
        until("a request is not answered", || served.server.counts().faults > 0);
        let begin = Instant::now();
        drop((batches, loader));
        let time = begin.elapsed();
        served.server.rules().clear();
        let found = epoch(&set, &options, 0).unwrap();
        assert!(found == epoch(&served.local(), &options, 0).unwrap());
        time
    });
    assert!(time < PROMPT, "{what}: {time:?}");
}

#[test]
fn what_waits_for_records_is_stopped() {
    is_dropped_at_once(Order::Shuffled, ".rec", false);
    is_dropped_at_once(Order::Blocks { block: 5, window: 2 }, ".rec", false);
    is_dropped_at_once(Order::Shuffled, ".rec", true);
}
