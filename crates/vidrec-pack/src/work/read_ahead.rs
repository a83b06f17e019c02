//! Reads the next files into the system's cache, so that a decoder does not wait for the disk.
//!
//! Reading ahead has its own threads, because the best number of parallel reads depends on the disk or network,
//! not on how many videos the processors can decode. The bytes read are thrown away. Errors are ignored here,
//! because the decoder that reads the file reports them.

use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use vidrec_core::store::disk::regular_file::{Links, open_regular};
use vidrec_format::allocation;

/// How many bytes are read at a time.
const CHUNK: usize = 1 << 20;

/// Reads ahead of the files in progress. Its threads end when this is dropped.
pub(crate) struct ReadAhead {
    shared: Arc<SharedAhead>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct SharedAhead {
    /// The files, or `None` for one that has come before.
    paths: Vec<Option<PathBuf>>,
    /// The most bytes to read ahead.
    most: u64,
    state: Mutex<AheadState>,
    changed: Condvar,
}

#[derive(Default)]
struct AheadState {
    /// The next file to be read ahead.
    next: usize,
    /// Files before this one are in progress or done.
    begun: usize,
    /// The bytes read of each file from `begun` on, or 0.
    ahead: Vec<u64>,
    bytes: u64,
    stopped: bool,
}

impl ReadAhead {
    /// Starts `threads` threads that read at most about `most` bytes ahead of the files in progress.
    pub fn new(paths: Vec<Option<PathBuf>>, threads: usize, most: u64) -> Self {
        let state = AheadState { ahead: vec![0; paths.len()], ..AheadState::default() };
        let shared = Arc::new(SharedAhead { paths, most, state: Mutex::new(state), changed: Condvar::new() });
        let spawn = |_| {
            let shared = Arc::clone(&shared);
            thread::Builder::new().spawn(move || shared.work())
        };
        // With fewer threads or none, the decoders wait for the disk. Nothing else changes.
        let threads = (0..threads).map_while(|i| spawn(i).ok()).collect();
        ReadAhead { shared, threads: Mutex::new(threads) }
    }

    /// Stops reading, and closes all files.
    pub fn stop(&self) {
        self.shared.lock().stopped = true;
        self.shared.changed.notify_all();
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            // A panic in such a thread would be a bug, but it would cost only speed.
            let _ = thread.join();
        }
    }

    /// Says that work on a file starts. The files after it are read next.
    pub fn begin(&self, index: usize) {
        let mut state = self.shared.lock();
        while state.begun <= index && state.begun < state.ahead.len() {
            let begun = state.begun;
            state.bytes -= std::mem::take(&mut state.ahead[begun]);
            state.begun += 1;
        }
        drop(state);
        self.shared.changed.notify_all();
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        self.stop();
    }
}

impl SharedAhead {
    fn lock(&self) -> MutexGuard<'_, AheadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let Ok(mut buffer) = allocation::zeroed(CHUNK, "reading ahead") else { return };
        while let Some(index) = self.take() {
            // Reading a named pipe would empty it.
            let file = self.paths[index].as_ref().map(|path| open_regular(path, Links::Follow));
            let Some(Ok(mut file)) = file else { continue };
            while let Ok(read @ 1..) = file.read(&mut buffer) {
                if !self.count(index, read as u64) {
                    break;
                }
            }
        }
    }

    /// Returns the next file once there is room to read ahead; `None` at the end.
    fn take(&self) -> Option<usize> {
        let mut state = self.lock();
        loop {
            state.next = state.next.max(state.begun);
            if state.stopped || state.next >= self.paths.len() {
                return None;
            }
            if state.bytes < self.most {
                state.next += 1;
                return Some(state.next - 1);
            }
            state = self.wait(state);
        }
    }

    /// Counts bytes that were read, and waits for room. Returns `false` if the rest of the file need not be read
    /// ahead.
    fn count(&self, index: usize, read: u64) -> bool {
        let mut state = self.lock();
        if index < state.begun {
            return false;
        }
        state.ahead[index] += read;
        state.bytes += read;
        while !state.stopped && index >= state.begun && state.bytes >= self.most {
            state = self.wait(state);
        }
        !state.stopped && index >= state.begun
    }

    fn wait<'a>(&self, state: MutexGuard<'a, AheadState>) -> MutexGuard<'a, AheadState> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}
