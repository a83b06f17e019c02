//! The threads on which requests run.

use std::sync::Mutex;

use tokio::runtime::{Builder, Handle, Runtime};

use crate::{Error, Result};

/// Threads that receive. One receives 1.5 GB/s or more; several are for encrypted connections.
const THREADS: usize = 4;

/// The runtime of this process, and the number of the process.
static RUNTIME: Mutex<Option<(u32, Runtime)>> = Mutex::new(None);

/// The runtime of this process; started at the first call. A forked process starts one of its own.
pub(super) fn handle() -> Result<Handle> {
    let pid = std::process::id();
    // Nothing under the lock panics half done.
    let mut slot = RUNTIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((of, runtime)) = &*slot
        && *of == pid
    {
        return Ok(runtime.handle().clone());
    }
    let runtime = Builder::new_multi_thread().worker_threads(THREADS).thread_name("vidrec-fetch").enable_all().build();
    let runtime = runtime.map_err(|e| Error::start("the threads that fetch", e))?;
    let handle = runtime.handle().clone();
    // The runtime of the parent has no threads here, and dropping it would wait for them.
    std::mem::forget(slot.replace((pid, runtime)));
    Ok(handle)
}

#[cfg(test)]
mod tests {
    #[test]
    fn there_is_one_runtime_and_it_runs() {
        let (one, other) = (super::handle().unwrap(), super::handle().unwrap());
        assert_eq!(one.id(), other.id());
        assert_eq!(one.block_on(async { 1 + 1 }), 2);
    }
}
