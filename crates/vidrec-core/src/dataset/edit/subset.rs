//! Writes some clips of a data set.

use std::path::Path;

use super::clip_list::require_found;
use super::options::EditOptions;
use super::output_plan::OutputPlan;
use super::report::EditReport;
use super::selection::{Selection, subset_clips};
use super::{copy, groups};
use crate::dataset::Dataset;
use crate::progress::ProgressFn;
use vidrec_format::error::{Error, Result};

/// Writes some clips of a data set as a new data set, in their order. Labels and class names stay the same.
/// An item of `progress` is a clip.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): no clip is chosen, or a list names a source that the data set
/// does not have. Otherwise as [`subset_clips`] and
/// [`reshard`](super::reshard).
pub fn subset(
    set: &Dataset,
    selection: &Selection,
    out: impl AsRef<Path>,
    options: &EditOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<EditReport> {
    groups::size(set)?;
    let selected = subset_clips(set, selection)?;
    require_found(&selected.not_found)?;
    if selected.clips.is_empty() {
        return Err(Error::usage("no clip matches, so there is nothing to write"));
    }
    copy::run_one(&OutputPlan::of(set, selected.clips)?, out.as_ref(), options, progress)
}
