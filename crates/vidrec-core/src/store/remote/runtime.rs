//! The threads on which requests run.

use std::sync::{Mutex, PoisonError};

use tokio::runtime::{Builder, Handle, Runtime};

use crate::store::per_process::PerProcess;
use vidrec_format::error::{Error, Result};

/// Threads that receive. One receives 1.5 GB/s or more; encrypted connections need several.
const THREADS: usize = 4;

static RUNTIME: PerProcess<Mutex<Option<Runtime>>> = PerProcess::new();

/// The runtime of this process. The first call starts it. A forked process starts its own.
pub(super) fn handle() -> Result<Handle> {
    // A panic under the lock leaves nothing half done.
    let mut slot = RUNTIME.get().lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(runtime) = &*slot {
        return Ok(runtime.handle().clone());
    }
    let runtime = Builder::new_multi_thread().worker_threads(THREADS).thread_name("vidrec-fetch").enable_all().build();
    let runtime = runtime.map_err(|e| Error::start("the threads that fetch", e))?;
    Ok(slot.insert(runtime).handle().clone())
}
