//! How much memory the loader takes. A batch costs a few allocations for each clip, and none for each frame; its own
//! memory serves all epochs, and no batch leaves anything behind.
//!
//! A program of its own, with an allocator that counts.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use common::until::until;
use common::{options, set};
use vidrec::order::Order;
use vidrec::{Dataset, Dtype, Frames, Io, Loader, LoaderOptions, Prefetch};

/// Held by each test, for all allocations are counted.
static ALONE: Mutex<()> = Mutex::new(());

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

/// Bytes in use.
static IN_USE: AtomicU64 = AtomicU64::new(0);

/// What nothing takes but the batches of one test. Beside them, the loader asks for 16 MiB, to see whether there is room left
/// for small allocations, and gives them back.
const LARGE: std::ops::Range<usize> = 8 << 20..16 << 20;

/// Allocations of so many bytes, and how many of them are in use.
static LARGE_ONES: AtomicU64 = AtomicU64::new(0);
static LARGE_IN_USE: AtomicU64 = AtomicU64::new(0);

struct Counting;

// SAFETY: hands everything to the system's allocator and only counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        IN_USE.fetch_add(layout.size() as u64, Relaxed);
        if LARGE.contains(&layout.size()) {
            LARGE_ONES.fetch_add(1, Relaxed);
            LARGE_IN_USE.fetch_add(1, Relaxed);
        }
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size() as u64, Relaxed);
        if LARGE.contains(&layout.size()) {
            LARGE_IN_USE.fetch_sub(1, Relaxed);
        }
        // SAFETY: `pointer` came from `alloc`, which is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

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
    let before = ALLOCATIONS.load(Relaxed);
    batches.by_ref().take(100).for_each(|batch| drop(batch.unwrap()));
    (ALLOCATIONS.load(Relaxed) - before) / 100
}

#[test]
fn allocations_do_not_grow_with_frames() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for io in [Io::Map, Io::Read] {
        let (few, many) = (per_batch(2, io), per_batch(16, io));
        println!("{io:?}: {few} allocations a batch of 4 clips of 2 frames, {many} of 16 frames");
        assert!(many <= few + 8, "{io:?}: {few} for 2 frames a clip, {many} for 16");
    }
}

#[test]
fn the_memory_of_batches_serves_all_epochs_and_goes_with_the_loader() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
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
        assert!(LARGE_ONES.load(Relaxed) <= most, "epoch {epoch}: {LARGE_ONES:?}");
    }
    assert!(LARGE_IN_USE.load(Relaxed) >= 3);
    drop(loader);
    assert_eq!(LARGE_IN_USE.load(Relaxed), 1, "only the batch that is held");
    assert_eq!(held.map(|batch| batch.shape()), Some([2, 1, 3, 640, 640]));
}

/// Memory of this process that is in the machine, in bytes.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// From when every thread has made a few batches, each of which brings what it keeps; to 10 000 batches with `VIDREC_SOAK=1`.
#[test]
fn memory_is_flat() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
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
        IN_USE.load(Relaxed)
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
