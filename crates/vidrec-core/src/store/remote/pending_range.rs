//! A range of an object that was asked for, for a caller that has other work while it waits.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::file::RemoteFile;
use super::promise::Pending;
use crate::stop;
use vidrec_format::error::Result;

/// How often a waiting caller is called back.
const TICK: Duration = Duration::from_millis(100);

/// A range of an object that is on its way.
pub struct PendingRange {
    file: Arc<RemoteFile>,
    pending: Pending<Arc<Vec<u8>>>,
}

impl PendingRange {
    /// Asks for a range with one request.
    pub fn ask(file: &Arc<RemoteFile>, range: Range<u64>) -> Result<Self> {
        Ok(PendingRange { file: file.clone(), pending: file.start(range)? })
    }

    /// Waits for the range and passes its bytes to `take`. Calls `tick` at intervals. An error from `tick` ends the
    /// wait.
    pub fn wait(self, tick: &mut dyn FnMut() -> Result<()>, take: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let remote = self.file.remote();
        let (begin, patience) = (Instant::now(), remote.patience());
        while !self.pending.is_over_within(TICK) && begin.elapsed() < patience {
            tick().and_then(|()| stop::check())?;
        }
        remote.counters.waited(begin.elapsed());
        take(&remote.wait(&self.pending)?)
    }
}
