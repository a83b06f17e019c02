//! The orders that these tests try.

use std::sync::Arc;

use vidrec::LoaderOptions;
use vidrec::order::{Order, Weights};

use crate::remote_cache::served::options;

pub fn shuffled() -> Order {
    Order::Shuffled
}

pub fn blocks() -> Order {
    Order::Blocks { block: 4, window: 3 }
}

pub fn homes() -> Order {
    Order::Homes { homes: Some(3), exchange: 0.2, block: 4, window: 2 }
}

/// A few clips of `n` have most of the weight.
pub fn weighted(n: u64) -> Order {
    weighted_by(n, 5, 6.0)
}

/// One of so many clips has this weight, the others have 1.
pub fn weighted_by(n: u64, each: u64, heavy: f64) -> Order {
    let weight = |clip: u64| if clip % each == each - 2 { heavy } else { 1.0 };
    Order::Weighted(Arc::new(Weights::new(&(0..n).map(weight).collect::<Vec<_>>()).unwrap()))
}

/// Every third clip of `n`, some of them twice.
pub fn given(n: u64) -> Order {
    let twice = (0..n).rev().filter(|clip| clip % 6 == 0);
    Order::List((0..n).filter(|clip| clip % 3 == 0).chain(twice).collect())
}

/// Orders in which each clip comes once an epoch.
pub fn once() -> Vec<Order> {
    vec![Order::Sequential, shuffled(), blocks(), homes()]
}

pub fn all(n: u64) -> Vec<Order> {
    let mut orders = once();
    orders.extend([weighted(n), given(n)]);
    orders
}

/// Options of a loader of this order, with batches that divide its epochs: no clip comes twice to fill the last one.
pub fn with(order: &Order) -> LoaderOptions {
    let batch_size = if matches!(order, Order::List(_)) { 3 } else { 4 };
    LoaderOptions { batch_size, order: order.clone(), ..options() }
}
