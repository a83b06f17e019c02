//! A batch costs a few allocations for each clip, and none for each frame.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use common::{options, set};
use vidrec::{Dataset, Dtype, Io, Loader, LoaderOptions};

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

struct Counting;

// SAFETY: hands everything to the system's allocator and only counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
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
    let o = LoaderOptions { frames: Some(frames), dtype: Dtype::F32, threads: Some(1), ..options(4, (32, 32)) };
    let loader = Loader::new(&set, o).unwrap();
    let mut batches = loader.iter_epochs(0..1000).unwrap();
    batches.by_ref().take(20).for_each(|batch| drop(batch.unwrap()));
    // Some of another batch may fall in; over 100 of them that is little.
    let before = ALLOCATIONS.load(Relaxed);
    batches.by_ref().take(100).for_each(|batch| drop(batch.unwrap()));
    (ALLOCATIONS.load(Relaxed) - before) / 100
}

#[test]
fn allocations_do_not_grow_with_frames() {
    for io in [Io::Map, Io::Read] {
        let (few, many) = (per_batch(2, io), per_batch(16, io));
        println!("{io:?}: {few} allocations a batch of 4 clips of 2 frames, {many} of 16 frames");
        assert!(many <= few + 8, "{io:?}: {few} for 2 frames a clip, {many} for 16");
    }
}
