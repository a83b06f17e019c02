//! Faults that pass: batches are as they should be, or there is one error.

use fault_proxy::{Etags, Fault, Rule};
use vidrec::order::Order;
use vidrec::{Batch, LoaderOptions};

use crate::common::data_set_server::{Served, ends, epoch};
use crate::common::options;
use crate::common::sample_data_sets;
use crate::remote_reading::equal::of_order;

fn all(order: Order) -> LoaderOptions {
    of_order(order, options(6, (32, 24)))
}

/// The batches of an epoch of local data, and of remote data where each rule in turn applies from the start.
fn with_each(rules: Vec<Rule>) {
    let expected = |served: &Served, order: &Order| epoch(&served.local(), &all(order.clone()), 0).unwrap();
    std::thread::scope(|scope| {
        for rule in rules {
            scope.spawn(move || {
                let what = format!("{rule:?}");
                let (found, expected, faults) = ends(&what, move || {
                    let served = Served::new(sample_data_sets::small(&[20, 10]));
                    served.server.rules().add(rule);
                    let orders = [Order::Shuffled, Order::Blocks { block: 5, window: 2 }];
                    let of = |order: &Order| epoch(&served.open()?, &all(order.clone()), 0);
                    let found: vidrec::Result<Vec<Vec<Batch>>> = orders.iter().map(of).collect();
                    (found, orders.map(|order| expected(&served, &order)), served.server.counts().faults)
                });
                assert!(found.unwrap_or_else(|e| panic!("{what}: {e:#}")) == expected, "{what}");
                assert!(faults > 0, "{what}: never applied");
            });
        }
    });
}

#[test]
fn faults_that_pass_change_nothing() {
    with_each(vec![
        Rule::new(Fault::Latency { ms: 5 }),
        Rule::new(Fault::Slow { bits_per_second: 4_000_000 }).every(2),
        Rule::new(Fault::Unavailable { retry_after_seconds: 0 }).every(3),
        Rule::new(Fault::Unavailable { retry_after_seconds: 1 }).first(1),
        Rule::new(Fault::SlowDown).every(3),
        Rule::new(Fault::Status(500)).every(3),
        Rule::new(Fault::Status(408)).every(4),
        Rule::new(Fault::Stall { after: 500 }).path(".rec").nth(7),
        Rule::new(Fault::NoAnswer).path(".rec").nth(8),
        Rule::new(Fault::WrongBytes { shift: 500 }).path(".rec").nth(7),
    ]);
}

#[test]
#[ignore = "full: waits for retries"]
fn answers_that_break_off_are_asked_for_again() {
    with_each(vec![
        Rule::new(Fault::Reset { after: 1000 }).every(3),
        Rule::new(Fault::Short { after: 1000 }).every(3),
        Rule::new(Fault::Reset { after: 0 }).every(2),
        Rule::new(Fault::Lost).every(3),
        Rule::new(Fault::NotHttp).every(3),
    ]);
}

#[test]
fn versions_that_are_unknown_or_weak_are_enough() {
    for etags in [Etags::Weak, Etags::None] {
        let served = Served::by(sample_data_sets::small(&[20, 10]), |origin| origin.etags(etags).without_head());
        served.server.rules().add(Rule::new(Fault::Reset { after: 1000 }).every(3));
        let options = all(Order::Shuffled);
        let found = epoch(&served.open().unwrap(), &options, 0).unwrap();
        assert!(found == epoch(&served.local(), &options, 0).unwrap(), "{etags:?}");
    }
}
