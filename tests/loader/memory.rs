//! How much memory the loader takes. A batch costs a few allocations for each clip, and none for each frame; its own
//! memory serves all epochs, and no batch leaves anything behind. Each test has a process of its own, for all allocations are
//! counted.

use vidrec::order::Order;
use vidrec::{Dataset, Dtype, Frames, Io, Loader, LoaderOptions, Prefetch};

use crate::common::until::until;
use crate::common::{allocations, options, own_process, set};

/// Allocations of each batch once buffers have their size.
fn per_batch(frames: u32, io: Io) -> u64 {
    let (_folder, dir) = set(8, 16, (64, 48));
    let set = Dataset::open_with(&dir, io).unwrap();
    let o =
        LoaderOptions { frames: Frames::uniform(frames), threads: Some(1), dtype: Dtype::F32, ..options(4, (32, 32)) };
    let loader = Loader::new(&set, o).unwrap();
    let mut batches = loader.iter(0..1000).unwrap();
    batches.by_ref().take(20).for_each(|batch| drop(batch.unwrap()));
    // Some of another batch may fall in; over 100 of them that is little.
    let before = allocations::count();
    batches.by_ref().take(100).for_each(|batch| drop(batch.unwrap()));
    (allocations::count() - before) / 100
}

#[test]
fn allocations_do_not_grow_with_frames() {
    own_process::run(module_path!(), "allocations_do_not_grow_with_frames", as_many_for_any_frames);
}

fn as_many_for_any_frames() {
    for io in [Io::Map, Io::Read] {
        let (few, many) = (per_batch(2, io), per_batch(16, io));
        println!("{io:?}: {few} allocations a batch of 4 clips of 2 frames, {many} of 16 frames");
        assert!(many <= few + 12, "{io:?}: {few} for 2 frames a clip, {many} for 16");
    }
}

#[test]
fn the_memory_of_batches_serves_all_epochs_and_goes_with_the_loader() {
    own_process::run(
        module_path!(),
        "the_memory_of_batches_serves_all_epochs_and_goes_with_the_loader",
        serves_all_epochs,
    );
}

fn serves_all_epochs() {
    let (_folder, dir) = set(12, 1, (128, 96));
    let set = Dataset::open(&dir).unwrap();
    let o = LoaderOptions {
        dtype: Dtype::F32,
        prefetch: Prefetch { batches: 2, ..Prefetch::default() },
        ..options(2, (640, 640))
    };
    let loader = Loader::new(&set, o).unwrap();
    let mut held = None;
    // Two ahead, one in use, and the one held until the next is there, also from one epoch to the next.
    let most = 4;
    for epoch in 0..9 {
        for batch in loader.iter(epoch).unwrap().take(if epoch % 3 == 2 { 3 } else { 6 }) {
            held = Some(batch.unwrap());
        }
        let (ones, _) = allocations::large();
        assert!(ones <= most, "epoch {epoch}: {ones}");
    }
    // The loader keeps memory, beside that of the batch that is held.
    assert!(allocations::large().1 >= 2);
    drop(loader);
    assert_eq!(allocations::large().1, 1, "only the batch that is held");
    assert_eq!(held.map(|batch| batch.shape()), Some([2, 1, 3, 640, 640]));
}

/// Memory of this process that is in the machine, in bytes.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[test]
fn memory_is_flat() {
    own_process::run(module_path!(), "memory_is_flat", flat);
}

/// From when every thread has made a few batches, each of which brings what it keeps; to 10 000 batches with `VIDREC_SOAK=1`.
fn flat() {
    let (_folder, dir) = set(16, 4, (64, 48));
    let batches = if std::env::var_os("VIDREC_SOAK").is_some() { 10_000 } else { 1_500 };
    let set = Dataset::open(&dir).unwrap();
    let mut o = options(2, (16, 16));
    o.dtype = Dtype::F32;
    o.prefetch.batches = 3;
    o.order = Order::Shuffled;
    let loader = Loader::new(&set, o).unwrap();
    let mut iter = loader.iter(0..u64::MAX).unwrap();
    let mut take = |count: usize| {
        iter.by_ref().take(count).for_each(|batch| drop(batch.unwrap()));
        // All are made that can be, so nothing is in the middle of its work.
        until("three batches are ready", || loader.stats().ready == 3);
        allocations::in_use()
    };
    let early = take(500);
    #[cfg(target_os = "linux")]
    let resident_early = resident();
    let at_the_end = take(batches - 500);
    // A batch has 24 KiB, and one more or less may wait for its next use.
    assert!(at_the_end.abs_diff(early) < 64 << 10, "{early} bytes in use at batch 500, then {at_the_end}");
    #[cfg(target_os = "linux")]
    {
        let grown = resident().saturating_sub(resident_early);
        assert!(grown < 4 << 20, "{grown} bytes more than at batch 500 in the machine");
    }
}
