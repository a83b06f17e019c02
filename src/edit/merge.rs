//! Several data sets as one.

use std::path::Path;

use super::plan::{Describe, Pick, Plan, Source, not_copied};
use super::{EditOptions, EditReport, classes, copy, groups, meta};
use crate::{Dataset, Error, Result};

/// Writes the clips of all data sets, one set after the other, as one.
///
/// Classes are joined by name: those of the first data set keep their labels, new names get the next ones. Where the
/// settings or the programs that packed them differ, the settings say so under `merged`, and so does the report.
///
/// # Errors
///
/// [`Usage`](crate::ErrorKind::Usage): some data sets have class names and others plain integers for labels; their
/// numbers of draws differ; `out` is an input or holds a data set already. Otherwise as [`reshard`](super::reshard).
pub fn merge(
    sets: &[Dataset],
    out: impl AsRef<Path>,
    options: &EditOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<EditReport> {
    copy::run_one(&plan(sets)?, out.as_ref(), options, progress)
}

fn plan(sets: &[Dataset]) -> Result<Plan<'static>> {
    let Some(first) = sets.first() else { return Err(Error::usage("no data sets to merge")) };
    let group = groups::size(first)?;
    for other in sets {
        require_group(other, group)?;
    }
    let union = classes::union(sets)?;
    let (mut meta, note) = meta::joined(sets);
    meta.classes = union.classes;
    let mut notes: Vec<String> = note.into_iter().chain(sets.iter().flat_map(not_copied)).collect();
    notes.dedup();
    let picks = sets.iter().enumerate().flat_map(|(source, s)| (0..s.len()).map(move |clip| Pick { source, clip }));
    let sources = sets.iter().zip(union.labels).map(|(set, labels)| {
        let describe: Describe<'static> = Box::new(move |clip| classes::renumbered(clip, &labels));
        Source { set: set.clone(), describe }
    });
    Ok(Plan { meta, picks: picks.collect(), sources: sources.collect(), group, not_found: Vec::new(), notes })
}

/// Proves that a data set's clips come in groups of this size.
pub(super) fn require_group(set: &Dataset, group: u64) -> Result<()> {
    let found = groups::size(set)?;
    if found == group {
        return Ok(());
    }
    Err(Error::usage("the data sets do not have as many draws of each video")
        .file(set.record_files().next().unwrap_or(Path::new("")))
        .expected(group)
        .found(found))
}
