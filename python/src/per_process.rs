//! Things with threads and locks, which a forked process inherits broken.

use std::mem::ManuallyDrop;

use pyo3::PyResult;

use crate::error;

/// A value for the process that made it. In a process forked from that one it cannot be used, and is not dropped: its
/// threads are not there, and its locks may be held by them for ever.
pub struct PerProcess<T> {
    value: ManuallyDrop<T>,
    process: u32,
}

impl<T> PerProcess<T> {
    pub fn new(value: T) -> Self {
        PerProcess { value: ManuallyDrop::new(value), process: std::process::id() }
    }

    /// The value, in its own process.
    pub fn get(&self) -> PyResult<&T> {
        if self.process == std::process::id() {
            Ok(&self.value)
        } else {
            Err(error::usage("this process was forked from the one that made this, and cannot use it".into()))
        }
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        if self.process == std::process::id() {
            // SAFETY: this is the only place that drops the value, and nothing uses it afterwards.
            unsafe { ManuallyDrop::drop(&mut self.value) }
        }
    }
}
