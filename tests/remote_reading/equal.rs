//! Batches of a remote data set are those of the same one on disk, bit for bit.

use std::sync::Arc;

use vidrec::order::{Order, Weights};
use vidrec::{Batching, Dataset, Frames, Loader, LoaderOptions};

use crate::common::data_set_server::{Served, epoch, storage, with_memory};
use crate::common::options;
use crate::common::rich::Rich;
use crate::common::sample_data_sets;

pub fn orders(set: &Dataset) -> Vec<Order> {
    let n = set.len();
    let list: Arc<[u64]> = (0..n).rev().chain([n / 2, 0, 0]).collect();
    let weights = Weights::balanced(&set.labels().unwrap()).unwrap();
    vec![
        Order::Sequential,
        Order::Shuffled,
        Order::Blocks { block: 5, window: 2 },
        Order::List(list),
        Order::Weighted(Arc::new(weights)),
    ]
}

pub fn of_order(order: Order, options: LoaderOptions) -> LoaderOptions {
    LoaderOptions { seed: 3, order, ..options }
}

/// Two epochs that are made ahead, batches in any order, those of JPEGs, and runs that go on after each batch.
#[track_caller]
pub fn same(what: &str, local: &Dataset, remote: &Dataset, options: &LoaderOptions) {
    let loader = |set| Loader::new(set, options.clone()).unwrap();
    let (local_loader, remote_loader) = (loader(local), loader(remote));
    let (ours, theirs) = (remote_loader.iter(0..2).unwrap(), local_loader.iter(0..2).unwrap());
    let mut count = 0;
    for (ours, theirs) in ours.zip(theirs) {
        let (ours, theirs) = (ours.unwrap_or_else(|e| panic!("{what}: {e:#}")), theirs.unwrap());
        assert!(*ours == *theirs, "{what}: epoch {}, batch {}", ours.epoch(), ours.number());
        assert_eq!(ours.state(), theirs.state(), "{what}");
        count += 1;
    }
    assert_eq!(count, local_loader.batches_in(0) + local_loader.batches_in(1), "{what}");
    let k = local_loader.batches_in(1) - 1;
    assert!(remote_loader.batch(1, k).unwrap() == local_loader.batch(1, k).unwrap(), "{what}: the last, by itself");
    let jpegs = |loader: &Loader| loader.iter_jpegs(1).unwrap().map(|b| b.unwrap().into_batch()).collect::<Vec<_>>();
    assert!(jpegs(&remote_loader) == jpegs(&local_loader), "{what}: JPEGs");
    assert!(remote_loader.batch_jpegs(1, k).unwrap() == local_loader.batch_jpegs(1, k).unwrap(), "{what}: their last");
    let state = local_loader.state(0, 1);
    let resumed = |set| Loader::resume(set, options.clone(), &state).unwrap();
    let rest = |loader: Loader| loader.iter(0).unwrap().map(|b| b.unwrap().into_batch()).collect::<Vec<_>>();
    assert!(rest(resumed(remote)) == rest(resumed(local)), "{what}: resumed");
}

/// The clips of a run up to its third epoch.
pub fn clips_to_epoch_3(loader: &Loader) -> Vec<u64> {
    let epochs = loader.first_epoch()..3;
    loader.iter(epochs).unwrap().flat_map(|batch| batch.unwrap().into_batch().clips).collect()
}

/// With `shuffle`, a remote data set comes in another order than a local one. A run keeps its order when the data
/// set moves, in both directions.
#[test]
fn a_state_of_a_remote_data_set_belongs_to_its_local_copy_and_the_other_way() {
    let served = Served::new(sample_data_sets::small(&[9, 1, 7, 7]));
    let (local, remote) = (served.local(), served.open_with(with_memory(2 << 30)).unwrap());
    let options = |batch_size| LoaderOptions { seed: 3, shuffle: true, ..options(batch_size, (32, 24)) };
    for (from, to) in [(&local, &remote), (&remote, &local)] {
        let before = Loader::new(from, options(5)).unwrap();
        assert_ne!(clips_to_epoch_3(&before), clips_to_epoch_3(&Loader::new(to, options(5)).unwrap()));
        let after = Loader::resume(to, options(4), &before.state(1, 2)).unwrap();
        assert_eq!(clips_to_epoch_3(&after), clips_to_epoch_3(&before)[24 + 10..]);
    }
}

#[test]
fn each_order_with_each_number_of_threads_and_any_memory() {
    for shards in [&[24][..], &[9, 1, 7, 7]] {
        let served = Served::new(sample_data_sets::small(shards));
        let local = served.local();
        for order in orders(&local) {
            // Less than a record, less than a batch, and some batches.
            for (threads, memory) in [(1, 2 << 30), (2, 100), (4, 2 << 30), (4, 15_000), (2, 180_000)] {
                let remote = served.open_with(with_memory(memory)).unwrap();
                // A window of blocks needs its memory.
                if memory < 160_000 && matches!(order, Order::Blocks { .. }) {
                    let e =
                        Loader::new(&remote, of_order(order.clone(), options(5, (32, 24)))).unwrap_err().to_string();
                    assert!(e.contains("at least") && e.contains("memory_bytes"), "{e}");
                    continue;
                }
                let o = LoaderOptions { threads: Some(threads), ..of_order(order.clone(), options(5, (32, 24))) };
                same(&format!("{shards:?} {order} {threads} {memory}"), &local, &remote, &o);
            }
        }
    }
}

#[test]
fn clips_of_different_lengths_with_fields() {
    let served = Served::new(sample_data_sets::uneven(&[13, 10]));
    let local = served.local();
    let remote = served.open().unwrap();
    let base = LoaderOptions { fields: vec!["score".into()], ..options(4, (32, 24)) };
    let any = LoaderOptions { frames: Frames::all(), ..base.clone() };
    let batching = Some(Batching::FrameBudget { frames: 12, buckets: vec![2, 4, 6] });
    for order in [Order::Sequential, Order::Shuffled] {
        for (what, o) in [
            ("fixed", LoaderOptions { frames: Frames::uniform(3), ..base.clone() }),
            ("random", LoaderOptions { frames: Frames::random(2), ..base.clone() }),
            ("dense", LoaderOptions { frames: Frames::windows(2).with_hop(2), ..base.clone() }),
            ("any", any.clone()),
            ("buckets", LoaderOptions { batching: batching.clone(), ..any.clone() }),
        ] {
            same(&format!("{what} {order}"), &local, &remote, &of_order(order.clone(), o));
        }
    }
}

#[test]
fn ranks_and_draws() {
    let rich = Rich { shards: &[6, 4], draws: Some(2), ..Rich::default() };
    let served = Served::new(|dir| rich.write(dir));
    let (local, remote) = (served.local(), served.open().unwrap());
    assert_eq!((remote.draws(), remote.len()), (2, 10));
    for rank in 0..2 {
        let o = LoaderOptions { rank: (rank, 2), frames: Frames::all(), ..options(2, (24, 16)) };
        same(&format!("{rank}"), &local, &remote, &of_order(Order::Shuffled, o));
    }
}

#[test]
fn selections_and_several_sets_together() {
    let served = Served::new(sample_data_sets::small(&[7, 8]));
    let other = Served::new(sample_data_sets::small(&[6]));
    let pick = |set: &Dataset| set.select([14, 3, 3, 9, 0, 8, 7, 12]).unwrap();
    let (local, remote) = (served.local(), served.open().unwrap());
    let o = of_order(Order::Shuffled, options(3, (32, 24)));
    same("selection", &pick(&local), &pick(&remote), &o);
    // Each with a memory of its own, which holds three clips.
    let memory = with_memory(3 * record_bytes(&local) / 15);
    let far = |served: &Served| served.open_with(memory.clone()).unwrap();
    let local_both = Dataset::concat(&[pick(&local), other.local()]).unwrap();
    let both = Dataset::concat(&[pick(&far(&served)), far(&other)]).unwrap();
    for order in [Order::Sequential, Order::Shuffled] {
        same("two servers", &local_both, &both, &of_order(order, options(3, (32, 24))));
    }
    let mixed = Dataset::concat(&[local.clone(), other.open().unwrap()]).unwrap();
    let local_mixed = Dataset::concat(&[local, other.local()]).unwrap();
    same("half of it local", &local_mixed, &mixed, &o);
}

fn record_bytes(set: &Dataset) -> u64 {
    set.record_files().map(|path| std::fs::metadata(path).unwrap().len()).sum()
}

#[test]
fn loaders_side_by_side_share_what_they_read() {
    let served = Served::new(sample_data_sets::small(&[10, 10]));
    let (local, remote) = (served.local(), served.open_with(with_memory(40_000)).unwrap());
    let o = of_order(Order::Shuffled, options(4, (32, 24)));
    let expected = epoch(&local, &o, 0).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert!(epoch(&remote, &o, 0).unwrap() == expected));
        }
        scope.spawn(|| {
            let loader = Loader::new(&remote, o.clone()).unwrap();
            (0..5).rev().for_each(|k| assert!(loader.batch(0, k).unwrap() == expected[k as usize]));
        });
    });
    assert_eq!(epoch(&served.open_with(storage()).unwrap(), &o, 0).unwrap(), expected);
}
