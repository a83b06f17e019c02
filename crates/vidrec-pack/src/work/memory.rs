//! A bound on the memory of all videos in progress: the ones being decoded, and the JPEGs that wait to be written.
//!
//! A video waits for its [`MemoryShare`] before it is decoded, and holds the share while it is decoded. Its JPEGs
//! count from when they are made until they are written ([`HeldMemory`]). No video waits for that while it holds a
//! share, so some video always makes progress. Memory in use can exceed the bound by two amounts: the JPEGs of the
//! videos being decoded, because their number of frames is not known in advance, and the needs of a video that is
//! decoded alone.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use super::messages::RunClient;
use super::options::Resources;

/// The default bound for each thread. A video of 3840x2160 pixels with 10 bits fits.
pub(super) const PER_THREAD: u64 = 480 << 20;

/// The memory that is shared out to the videos in progress.
pub(crate) struct MemoryBound {
    most: u64,
    /// The run that shares out the memory, if this process is a worker.
    run: Option<Arc<RunClient>>,
    state: Mutex<MemoryState>,
    freed: Condvar,
}

struct MemoryState {
    /// Bytes that are shared out for decoding.
    decoding: u64,
    holders: u32,
    /// Bytes of JPEGs.
    held: u64,
}

/// A share of a [`MemoryBound`], given back on drop.
pub(crate) struct MemoryShare<'a> {
    memory: &'a MemoryBound,
    bytes: u64,
}

impl MemoryBound {
    /// Creates the bound that the options ask for.
    pub fn of(resources: &Resources) -> Self {
        let threads = resources.all_threads() as u64;
        Self::new(resources.memory.unwrap_or(PER_THREAD.saturating_mul(threads)))
    }

    fn new(most: u64) -> Self {
        let state = MemoryState { decoding: 0, holders: 0, held: 0 };
        MemoryBound { most, run: None, state: Mutex::new(state), freed: Condvar::new() }
    }

    /// Creates a bound whose shares come from the run, which shares out memory to all its processes.
    pub fn of_run(run: &Arc<RunClient>) -> Self {
        MemoryBound { run: Some(Arc::clone(run)), ..Self::new(u64::MAX) }
    }

    /// Waits until `bytes` are free. A request for more than the bound waits until nothing else is being decoded.
    ///
    /// A thread that holds a share and asks for a second one may wait for itself forever.
    pub fn share(&self, bytes: u64) -> MemoryShare<'_> {
        self.run.iter().for_each(|run| run.reserve(bytes));
        let mut state = self.state.lock();
        while state.holders > 0 && state.decoding.saturating_add(state.held).saturating_add(bytes) > self.most {
            self.freed.wait(&mut state);
        }
        state.decoding = state.decoding.saturating_add(bytes);
        state.holders += 1;
        MemoryShare { memory: self, bytes }
    }

    /// Opens an account for a video's JPEGs, empty at first.
    pub fn hold(&self) -> HeldMemory<'_> {
        HeldMemory { memory: self, bytes: 0 }
    }
}

impl Drop for MemoryShare<'_> {
    fn drop(&mut self) {
        let mut state = self.memory.state.lock();
        state.holders -= 1;
        // Without holders the sum is 0, even if it was cut off at the largest number.
        state.decoding = if state.holders == 0 { 0 } else { state.decoding.saturating_sub(self.bytes) };
        drop(state);
        self.memory.freed.notify_all();
    }
}

/// The bytes of one video's JPEGs, which count until this is dropped. This type never waits.
pub(crate) struct HeldMemory<'a> {
    memory: &'a MemoryBound,
    bytes: u64,
}

impl<'a> HeldMemory<'a> {
    /// Returns the bound that the bytes count against.
    pub fn memory(&self) -> &'a MemoryBound {
        self.memory
    }

    /// Adds the bytes of another JPEG.
    pub fn add(&mut self, bytes: usize) {
        self.set(self.bytes.saturating_add(bytes as u64));
    }

    /// Replaces the count by `bytes`.
    pub fn set(&mut self, bytes: u64) {
        let mut state = self.memory.state.lock();
        state.held = state.held.saturating_sub(self.bytes).saturating_add(bytes);
        drop(state);
        if bytes < self.bytes {
            self.memory.freed.notify_all();
        }
        self.bytes = bytes;
    }
}

impl Drop for HeldMemory<'_> {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
    use std::thread;

    use super::*;

    #[test]
    fn no_more_is_shared_out_than_there_is_and_who_needs_more_is_alone() {
        let (memory, used, most) = (MemoryBound::new(100), AtomicU64::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for thread in 0..6u64 {
                let (memory, used, most) = (&memory, &used, &most);
                scope.spawn(move || {
                    for k in 0..200 {
                        let is_large = (thread + k) % 20 == 0;
                        let bytes = 1 + (thread * 31 + k * 17) % 90;
                        let _share = memory.share(if is_large { u64::MAX } else { bytes });
                        let all = used.fetch_add(bytes, SeqCst) + bytes;
                        assert!(!is_large || all == bytes, "others have {}", all - bytes);
                        most.fetch_max(all, SeqCst);
                        thread::yield_now();
                        used.fetch_sub(bytes, SeqCst);
                    }
                });
            }
        });
        let most = most.into_inner();
        assert!((50..=100).contains(&most), "{most}");
        assert_eq!(memory.state.lock().decoding, 0);
    }

    #[test]
    fn who_waits_for_a_share_waits_for_jpegs_too_but_never_for_them_alone() {
        let memory = MemoryBound::new(100);
        let mut waiting = memory.hold();
        waiting.add(60);
        waiting.add(30);
        drop(memory.share(50)); // the only one that decodes: nobody would ever wake it
        let first = memory.share(10);
        let second_has_begun = AtomicU64::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                let _share = memory.share(40);
                second_has_begun.store(1, SeqCst);
            });
            (0..1000).for_each(|_| thread::yield_now());
            assert_eq!(second_has_begun.load(SeqCst), 0, "10 of 100 are used for decoding, 90 by JPEGs");
            drop(waiting); // written
        });
        assert_eq!(second_has_begun.into_inner(), 1, "while the first still decodes");
        drop(first);
        let state = memory.state.lock();
        assert_eq!((state.held, state.decoding), (0, 0));
    }
}
