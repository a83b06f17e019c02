//! The processes that decode for a run, if its options ask for any.

use super::options::PackOptions;
use super::plan::PackPlan;
use super::serve::hello;
use super::work::Pool;
use vidrec_format::error::Result;

/// Starts the processes.
pub(super) fn pool<'a>(plan: &'a PackPlan, options: &'a PackOptions) -> Result<Option<Pool<'a>>> {
    let start = |command: &'a Vec<_>| Pool::start(command, hello(options)?, options.limits.timeout.0, &plan.tracks);
    options.resources.isolate.as_ref().map(start).transpose()
}
