//! How much comes from a cache that is too small, compared with the best cache that knows all reads.

use tempfile::TempDir;
use vidrec::order::Order;
use vidrec::{Loader, LoaderOptions, Storage, cache};

use crate::remote_cache::belady;
use crate::remote_cache::disk_use::Watch;
use crate::remote_cache::downloads::kept;
use crate::remote_cache::orders;
use crate::remote_cache::served::{Served, cached, clips};

const SIZES: [u64; 5] = [10, 25, 50, 75, 90];
const EPOCHS: u64 = 6;

/// So many clips that it matters little that they are kept as a whole or not, and so large that it matters little that
/// they end within a page.
fn served() -> Served {
    Served::new(&[160, 40, 200], 8, 22_000)
}

/// Batches of one clip: what is planned ahead is a small part of the smallest cache.
fn rank(order: &Order, rank: u32, world_size: u32) -> LoaderOptions {
    LoaderOptions { rank: (rank, world_size), batch_size: 1, ..orders::with(order) }
}

/// As little as it takes.
fn memory(order: &Order) -> u64 {
    let samples = match *order {
        Order::Blocks { block, window } | Order::Homes { block, window, .. } => block * window,
        _ => 0,
    };
    u64::from(samples + 2) * 190_000
}

/// Bytes that came from the cache, as a share of those that were used: of vidrec, and of the best cache.
struct Rates {
    got: f64,
    best: f64,
}

/// Of loaders with data sets of their own on one cache, which make their batches in turn.
fn rates(served: &Served, loaders: &[LoaderOptions], hundredths: u64) -> Rates {
    let folder = TempDir::new().unwrap();
    let limit = served.all_bytes() * hundredths / 100;
    let watch = Watch::of(folder.path(), limit);
    let storage = || Storage { memory_bytes: memory(&loaders[0].order), ..cached(folder.path(), limit) };
    let open = |o: &LoaderOptions| Loader::new(&served.open(storage()), o.clone()).unwrap();
    let loaders: Vec<_> = loaders.iter().map(open).collect();
    served.downloaded();
    let mut reads = Vec::new();
    for e in 0..EPOCHS {
        let mut all: Vec<_> = loaders.iter().map(|loader| loader.iter(e).unwrap()).collect();
        loop {
            let step: Vec<_> = all.iter_mut().filter_map(Iterator::next).map(|b| b.unwrap().into_batch()).collect();
            if step.is_empty() {
                break;
            }
            reads.extend(clips(&step));
        }
    }
    let (_, came) = served.downloaded();
    let sizes = served.clip_bytes();
    let used: u64 = reads.iter().map(|&clip| sizes[clip as usize]).sum();
    // Indexes are kept, too.
    let capacity = limit - kept(folder.path()).1;
    let best = belady::hits(&sizes, &reads, capacity);
    assert!(cache::show(folder.path()).unwrap().taken.unwrap() <= limit);
    watch.end();
    Rates { got: 1.0 - came as f64 / used as f64, best: best as f64 / used as f64 }
}

/// Compares caches of some hundredths of the data.
fn compare(served: &Served, what: &str, loaders: &[LoaderOptions], sizes: &[u64]) {
    for &hundredths in sizes {
        let Rates { got, best } = rates(served, loaders, hundredths);
        println!("{what}, {hundredths}%: {got:.3}, best {best:.3}");
        assert!(best > 0.05 && got >= best - 0.02, "{what}, {hundredths}%: {got:.3}, best {best:.3}");
    }
}

fn homes(exchange: f64) -> Order {
    Order::Homes { homes: None, exchange, block: 2, window: 1 }
}

#[test]
#[ignore = "full: each takes some hundred epochs"]
fn where_each_clip_comes_once_an_epoch_as_much_is_found_as_the_best_cache_gives() {
    let served = served();
    for order in [orders::shuffled(), orders::blocks(), orders::homes()] {
        compare(&served, &order.to_string(), &[rank(&order, 0, 1)], &[10, 50, 90]);
    }
    let shared: Vec<_> = (0..3).map(|r| rank(&homes(0.3), r, 3)).collect();
    compare(&served, "all ranks of three homes", &shared, &SIZES);
}

#[test]
#[ignore = "full: each takes some hundred epochs"]
fn where_clips_repeat_as_much_is_found_as_the_best_cache_gives() {
    let served = served();
    let n = served.set.len();
    for (what, order) in [("mild", orders::weighted_by(n, 3, 3.0)), ("strong", orders::weighted(n))] {
        compare(&served, &format!("{what} weights"), &[rank(&order, 0, 1)], &SIZES);
    }
    compare(&served, "a list", &[rank(&orders::given(n), 0, 1)], &SIZES);
    // In a smaller cache of this small set, what three ranks have planned and not read is too large a part.
    let shared: Vec<_> = (0..3).map(|r| rank(&orders::weighted(n), r, 3)).collect();
    compare(&served, "all ranks of strong weights", &shared, &[50, 75, 90]);
}

#[test]
#[ignore = "full: each takes some hundred epochs"]
fn where_a_rank_reads_a_part_as_much_is_found_as_the_best_cache_gives() {
    let served = served();
    for exchange in [0.1, 0.3] {
        compare(&served, &format!("one of three homes, exchange {exchange}"), &[rank(&homes(exchange), 1, 3)], &SIZES);
    }
    compare(&served, "one of three ranks, shuffled", &[rank(&orders::shuffled(), 1, 3)], &[25, 50]);
}
