//! What is held in memory ahead of its use.

use vidrec::order::Order;

use crate::common::data_set_server::{Served, epoch, with_memory};
use crate::common::options;
use crate::common::sample_data_sets;
use crate::remote_reading::equal::of_order;

/// Some bytes of headers come on top of the JPEGs.
const BATCH: u64 = 8 * 4 * 30_000;

#[test]
fn no_more_is_held_than_the_limit_and_a_batch() {
    let served = Served::new(sample_data_sets::large(&[50, 50]));
    let local = served.local();
    for order in [Order::Sequential, Order::Shuffled, Order::Blocks { block: 25, window: 2 }] {
        let o = of_order(order.clone(), options(8, (16, 16)));
        let expected = epoch(&local, &o, 0).unwrap();
        for limit in [1, BATCH / 2, 3 * BATCH, 1 << 30] {
            if limit < 1 << 30 && matches!(order, Order::Blocks { .. }) {
                continue;
            }
            let set = served.open_with(with_memory(limit)).unwrap();
            assert!(epoch(&set, &o, 0).unwrap() == expected, "{order} {limit}");
            let stats = set.remote_stats().unwrap();
            assert!(
                stats.most_held_bytes > 0 && stats.most_held_bytes <= limit.max(2 * BATCH) + BATCH,
                "{order} {limit} {stats:?}"
            );
        }
    }
}
