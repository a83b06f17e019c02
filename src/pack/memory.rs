//! A bound on the memory of all videos that are decoded at a time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::{PackOptions, available_cores};

/// The default bound, for each thread: a video of 3840x2160 with 10 bits fits.
const PER_THREAD: u64 = 480 << 20;

/// Bytes that are shared out to the videos in work.
pub(super) struct Memory {
    most: u64,
    state: Mutex<State>,
    freed: Condvar,
}

struct State {
    used: u64,
    holders: u32,
}

/// A share of a [`Memory`], given back on drop.
pub(super) struct Share<'a> {
    memory: &'a Memory,
    bytes: u64,
}

impl Memory {
    /// As much as the options say.
    pub fn of(options: &PackOptions) -> Self {
        let threads = options.threads.unwrap_or_else(available_cores) as u64;
        Self::new(options.memory.unwrap_or(PER_THREAD.saturating_mul(threads)))
    }

    fn new(most: u64) -> Self {
        Memory { most, state: Mutex::new(State { used: 0, holders: 0 }), freed: Condvar::new() }
    }

    /// Waits until `bytes` are free. Who asks for more than there is in all waits to be alone.
    ///
    /// A holder that asks for a second share may wait for itself.
    pub fn share(&self, bytes: u64) -> Share<'_> {
        let mut state = self.lock();
        while state.holders > 0 && state.used.saturating_add(bytes) > self.most {
            state = self.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.used = state.used.saturating_add(bytes);
        state.holders += 1;
        Share { memory: self, bytes }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        let mut state = self.memory.lock();
        state.holders -= 1;
        // With no holder left nothing is used, even if a sum was cut off at the largest number.
        state.used = if state.holders == 0 { 0 } else { state.used.saturating_sub(self.bytes) };
        drop(state);
        self.memory.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
    use std::thread;

    use super::*;

    #[test]
    fn no_more_is_shared_out_than_there_is() {
        let (memory, used, most) = (Memory::new(100), AtomicU64::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for thread in 0..6u64 {
                let (memory, used, most) = (&memory, &used, &most);
                scope.spawn(move || {
                    for k in 0..200 {
                        let bytes = 1 + (thread * 31 + k * 17) % 90;
                        let _share = memory.share(bytes);
                        most.fetch_max(used.fetch_add(bytes, SeqCst) + bytes, SeqCst);
                        thread::yield_now();
                        used.fetch_sub(bytes, SeqCst);
                    }
                });
            }
        });
        let most = most.into_inner();
        assert!((50..=100).contains(&most), "{most}");
    }

    #[test]
    fn one_that_needs_more_than_all_is_alone() {
        let (memory, holders) = (Memory::new(10), AtomicU64::new(0));
        thread::scope(|scope| {
            for thread in 0..4u64 {
                let (memory, holders) = (&memory, &holders);
                scope.spawn(move || {
                    let large = thread % 2 == 0;
                    for _ in 0..50 {
                        let _share = memory.share(if large { u64::MAX } else { 4 });
                        let others = holders.fetch_add(1, SeqCst);
                        assert!(!large || others == 0);
                        thread::yield_now();
                        holders.fetch_sub(1, SeqCst);
                    }
                });
            }
        });
        assert_eq!(memory.lock().used, 0);
    }
}
