//! Copies clips into other shards.

use std::path::Path;

use super::copy;
use super::options::EditOptions;
use super::output_plan::OutputPlan;
use super::report::EditReport;
use crate::dataset::Dataset;
use crate::progress::ProgressFn;
use vidrec_format::error::Result;

/// Copies a data set into other shards. An item of `progress` is a clip.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): `out` is an input or holds a data set already.
/// [`Format`](vidrec_format::error::ErrorKind::Format): the input is damaged.
/// [`Io`](vidrec_format::error::ErrorKind::Io) from the file system.
/// [`Interrupted`](vidrec_format::error::ErrorKind::Interrupted): `progress` stopped the call. Then the existing
/// files are unchanged.
pub fn reshard(
    set: &Dataset,
    out: impl AsRef<Path>,
    options: &EditOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<EditReport> {
    copy::run_one(&OutputPlan::whole(set)?, out.as_ref(), options, progress)
}
