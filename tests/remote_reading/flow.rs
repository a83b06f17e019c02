//! How many requests are in flight follows what the server takes.

use std::time::Duration;

use fault_proxy::{Fault, Rule};
use vidrec::Storage;
use vidrec::order::Order;

use crate::common::options;
use crate::remote_reading::equal::of_order;
use crate::remote_reading::served::{Served, epoch, storage};
use crate::remote_reading::sets;

#[test]
fn more_requests_are_in_flight_where_answers_take_long_and_fewer_where_they_are_refused() {
    let served = Served::new(sets::small(&[400]));
    let o = of_order(Order::Shuffled, options(20, (16, 16)));
    let expected = epoch(&served.local(), &o, 0).unwrap();
    let set = served.open().unwrap();
    let start = set.remote_stats().unwrap().in_flight_limit;
    served.server.link().set_latency(Duration::from_millis(20));
    served.server.reset_counts();
    assert!(epoch(&set, &o, 0).unwrap() == expected);
    let (grown, most) = (set.remote_stats().unwrap().in_flight_limit, served.server.counts().most_in_flight);
    assert!(grown > 2 * start, "{start} to {grown}");
    assert!(most > start && most <= 2 * grown, "{most} of {grown}");

    // Every second request is refused, so one in a thousand is refused ten times in a row.
    let set = served.open_with(Storage { timeout: Duration::from_secs(60), ..storage() }).unwrap();
    served.server.rules().add(Rule::new(Fault::SlowDown).path(".rec").every(2));
    served.server.reset_counts();
    assert!(epoch(&set, &o, 0).unwrap() == expected);
    let (reduced, most) = (set.remote_stats().unwrap().in_flight_limit, served.server.counts().most_in_flight);
    assert!(reduced < start, "{start} to {reduced}");
    assert!(most <= start + 4, "{most}");
}
