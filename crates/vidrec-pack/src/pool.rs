//! The processes that decode for a run, if its options ask for any.

use super::options::PackOptions;
use super::serve::hello;
use super::track::PlannedTrack;
use super::work::Pool;
use vidrec_format::error::Result;

/// Starts the processes.
pub(super) fn pool<'a>(tracks: &'a [PlannedTrack], options: &'a PackOptions) -> Result<Option<Pool<'a>>> {
    let start = |command: &'a Vec<_>| Pool::start(command, hello(options)?, options.limits.timeout.0, tracks);
    options.resources.isolate.as_ref().map(start).transpose()
}
