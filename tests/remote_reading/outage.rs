//! A server that is down for a while: how long a read is tried, and what comes when it is back.

use std::time::{Duration, Instant};

use fault_proxy::{Fault, Rule};
use vidrec::{Loader, Storage};

use crate::common::data_set_server::Served;
use crate::common::options;
use crate::common::sample_data_sets;

const TIMEOUT: Duration = Duration::from_millis(300);

/// The batches of an epoch while the files of one ending cannot be fetched for some seconds, from the begin on.
fn lost_in_an_outage(ending: &str, has_cache: bool) {
    let what = format!("{ending}, cache: {has_cache}");
    let served = Served::new(sample_data_sets::small(&[30; 8]));
    let cache = has_cache.then(|| served.folder.path().join("cache"));
    let set = served
        .open_with(Storage { cache, cache_bytes: Some(1 << 30), timeout: TIMEOUT, ..Storage::default() })
        .unwrap();
    let loader = Loader::new(&set, options(1, (32, 24))).unwrap();
    served.server.rules().add(Rule::new(Fault::Status(500)).path(ending));
    let begin = Instant::now();
    let (mut lost, mut made, mut first) = (0, 0, None);
    for batch in loader.iter(0).unwrap() {
        match batch {
            Ok(_) => made += 1,
            Err(e) => {
                assert!(e.kind() == vidrec::ErrorKind::Io && format!("{e:#}").contains("HTTP 500"), "{what}: {e:#}");
                first.get_or_insert_with(|| begin.elapsed());
                lost += 1;
            }
        }
        if begin.elapsed() > 4 * TIMEOUT {
            served.server.rules().clear();
        }
    }
    // Without an error of the server, an epoch takes far less.
    let first = first.unwrap_or_else(|| panic!("{what}: nothing failed"));
    assert!(first >= TIMEOUT * 9 / 10, "{what}: the first error came after {first:?}");
    assert!(lost < 20 && made > 200, "{what}: {lost} batches were lost, {made} made");
}

#[test]
#[ignore = "full: waits for retries"]
fn an_outage_costs_the_batches_of_its_time_and_not_the_epoch() {
    lost_in_an_outage(".vidx", false);
    lost_in_an_outage(".rec", true);
}

/// Waits between tries grow: the last of them must not end the patience before its time.
#[test]
fn an_error_comes_when_the_time_is_up_and_not_before() {
    let served = Served::new(sample_data_sets::small(&[3]));
    for milliseconds in [300, 900] {
        let timeout = Duration::from_millis(milliseconds);
        served.server.rules().add(Rule::new(Fault::Status(500)).path(".vidx"));
        let begin = Instant::now();
        let e = served.open_with(Storage { timeout, ..Storage::default() }).unwrap_err();
        assert!(begin.elapsed() >= timeout * 9 / 10, "{timeout:?}: {:?}: {e:#}", begin.elapsed());
        served.server.rules().clear();
    }
}
