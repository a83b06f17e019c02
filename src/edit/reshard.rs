//! The same clips in other shards.

use std::path::Path;

use super::copy;
use super::options::EditOptions;
use super::output_plan::OutputPlan;
use super::report::EditReport;
use crate::{Dataset, ProgressFn, Result};

/// Copies a data set into other shards. An item of `progress` is a clip.
///
/// # Errors
///
/// [`Usage`](crate::ErrorKind::Usage): `out` is an input or holds a data set already.
/// [`Format`](crate::ErrorKind::Format): the input is damaged. [`Io`](crate::ErrorKind::Io) from the file system.
/// [`Interrupted`](crate::ErrorKind::Interrupted): `progress` stopped the call; then what was there before is as it was.
pub fn reshard(
    set: &Dataset,
    out: impl AsRef<Path>,
    options: &EditOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<EditReport> {
    copy::run_one(&OutputPlan::whole(set)?, out.as_ref(), options, progress)
}
