//! A range of an object that was asked for, for a caller that has more to do than to wait.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::file::RemoteFile;
use super::later::Pending;
use super::sink::Stretch;
use crate::{Result, stop};

/// How often a waiting caller is called.
const TICK: Duration = Duration::from_millis(100);

/// A range of an object that is on its way.
pub(crate) struct Coming {
    file: Arc<RemoteFile>,
    pending: Pending<Arc<Vec<Stretch>>>,
}

impl Coming {
    /// Asks for a range with one request.
    pub fn ask(file: &Arc<RemoteFile>, range: Range<u64>) -> Result<Self> {
        Ok(Coming { file: file.clone(), pending: file.start(range)? })
    }

    /// Waits for the range and gives its bytes to `take`. Calls `tick` at intervals; an error from it ends the wait.
    pub fn wait(self, tick: &mut dyn FnMut() -> Result<()>, take: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let remote = self.file.remote();
        let (begin, until) = (Instant::now(), remote.until());
        while !self.pending.is_over_within(TICK) && Instant::now() < until {
            tick().and_then(|()| stop::check())?;
        }
        remote.counters.waited(begin.elapsed());
        let stretches = remote.wait(&self.pending)?;
        stretches.iter().try_for_each(|stretch| take(&stretch.bytes))
    }
}
