//! What this process asks the system's allocator for. Tests that look at it run in a process of their own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// What nothing takes but the batches of one test. Beside them, the loader asks for 16 MiB, to see whether there is room left
/// for small allocations, and gives them back.
const LARGE: std::ops::Range<usize> = 8 << 20..16 << 20;

static COUNT: AtomicU64 = AtomicU64::new(0);
static IN_USE: AtomicU64 = AtomicU64::new(0);
static LARGEST: AtomicUsize = AtomicUsize::new(0);
static LARGE_ONES: AtomicU64 = AtomicU64::new(0);
static LARGE_IN_USE: AtomicU64 = AtomicU64::new(0);

/// Allocations so far.
pub fn count() -> u64 {
    COUNT.load(Relaxed)
}

/// Bytes in use.
pub fn in_use() -> u64 {
    IN_USE.load(Relaxed)
}

/// Bytes of the largest one so far.
pub fn largest() -> usize {
    LARGEST.load(Relaxed)
}

/// Allocations of a size that only batches have so far, and how many of them are in use.
pub fn large() -> (u64, u64) {
    (LARGE_ONES.load(Relaxed), LARGE_IN_USE.load(Relaxed))
}

struct Counting;

impl Counting {
    fn took(size: usize) {
        COUNT.fetch_add(1, Relaxed);
        IN_USE.fetch_add(size as u64, Relaxed);
        LARGEST.fetch_max(size, Relaxed);
        if LARGE.contains(&size) {
            LARGE_ONES.fetch_add(1, Relaxed);
            LARGE_IN_USE.fetch_add(1, Relaxed);
        }
    }

    fn gave_back(size: usize) {
        IN_USE.fetch_sub(size as u64, Relaxed);
        if LARGE.contains(&size) {
            LARGE_IN_USE.fetch_sub(1, Relaxed);
        }
    }
}

// SAFETY: hands everything to the system's allocator and only counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::took(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::took(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::gave_back(layout.size());
        Self::took(size);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        Self::gave_back(layout.size());
        // SAFETY: `pointer` came from `alloc`, which is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
