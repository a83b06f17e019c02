//! Writes some clips of a data set, or all of them with changes.

use std::path::Path;

use super::changes::{ChangeTable, Changes};
use super::options::{EditOptions, EditReport};
use super::plan::OutputPlan;
use super::selection::{Selection, require_found, subset_clips};
use super::{copy, relink};
use crate::dataset::Dataset;
use crate::progress::ProgressFn;
use vidrec_format::{Error, Result};

/// Writes some clips of a data set as a new data set, in their order, with their labels, class names and attributes or with
/// changes of these. An item of `progress` is a clip.
///
/// Pictures do not change. For readers of plain RecordIO, every record also contains its clip's label. So if a label
/// changes, or if not all clips are chosen, this writes new record files. If all clips are chosen, no label changes
/// (classes are renamed, attributes change), no clock does, and `options.shards` is `None`, the output shares the record files
/// with the input through hard links, and only indexes are written. The files are copied instead if links are not possible,
/// or if the input is remote or a selection of clips.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): no clip is chosen; a list names a source that the data set
/// does not have; two changes apply to a clip; a label has no class; a class to
/// rename does not exist, or its new name does; `out` is an
/// input or holds a data set already; or as [`subset_clips`].
/// [`Format`](vidrec_format::error::ErrorKind::Format): the input is damaged.
/// [`Io`](vidrec_format::error::ErrorKind::Io) from the file system.
/// [`Interrupted`](vidrec_format::error::ErrorKind::Interrupted): `progress` stopped the call. Then the existing
/// files are unchanged.
pub fn subset(
    set: &Dataset,
    selection: &Selection,
    changes: &Changes,
    out: impl AsRef<Path>,
    options: &EditOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<EditReport> {
    let selected = subset_clips(set, selection)?;
    require_found(&selected.not_found)?;
    if selected.clips.is_empty() {
        return Err(Error::usage("no clip matches, so there is nothing to write"));
    }
    let (is_whole, clips) = (selected.clips.len() as u64 == set.len(), selected.clips);
    let table = ChangeTable::new(set, &clips, changes)?;
    let mut plan = OutputPlan::new(set, clips)?;
    plan.meta.classes.clone_from(&table.classes);
    plan.not_found.clone_from(&table.not_found);
    plan.align_clocks = changes.align_clocks;
    plan.sources[0].describe = Box::new(|clip| table.describe(clip));
    let has_links = is_whole && *changes != Changes::default() && options.shards.is_none() && !changes.align_clocks;
    // Only whole local files can be linked to.
    if has_links && !set.is_remote() && !set.is_selection() && !table.changes_a_label(set)? {
        return relink::write(set, &plan, out.as_ref(), options, progress);
    }
    copy::write(plan, out.as_ref(), options, progress)
}
