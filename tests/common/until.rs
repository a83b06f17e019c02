//! Waiting for something to happen.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// Only what hangs takes as long.
const DEADLINE: Duration = Duration::from_secs(120);

/// Waits until something has happened, and panics if it never does.
#[track_caller]
pub fn until(what: &str, mut happened: impl FnMut() -> bool) {
    let started = Instant::now();
    while !happened() {
        assert!(started.elapsed() < DEADLINE, "{what}: did not happen within {DEADLINE:?}");
        sleep(Duration::from_millis(1));
    }
}
