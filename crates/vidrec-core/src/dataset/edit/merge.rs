//! Merges several data sets.

use std::path::Path;

use super::notes::{on_missing_labels, on_repeated_sources};
use super::options::EditOptions;
use super::output_plan::{Describe, InputSet, OutputPlan, Pick, not_copied, renumbered};
use super::report::EditReport;
use super::{copy, groups, meta};
use crate::dataset::Dataset;
use crate::dataset::joined_classes;
use crate::progress::ProgressFn;
use vidrec_format::error::{Error, Result};

/// Writes the clips of several data sets, one after the other, as one data set. An item of `progress` is a clip.
///
/// Classes are joined by name: those of the first data set keep their labels, and new names get the next ones. If the
/// settings or the packing programs of the data sets differ, the new settings list the differences under `merged`,
/// and the report says so. The report also names data sets whose clips have no labels, if clips of other data sets
/// have some, and counts clips whose sources another data set has, too.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): some data sets have class names and others plain integers for
/// labels; their numbers of draws differ; `out` is an input or holds a data set already. Otherwise as
/// [`reshard`](super::reshard).
pub fn merge(
    sets: &[Dataset],
    out: impl AsRef<Path>,
    options: &EditOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<EditReport> {
    copy::run_one(&plan(sets)?, out.as_ref(), options, progress)
}

fn plan(sets: &[Dataset]) -> Result<OutputPlan<'static>> {
    let Some(first) = sets.first() else { return Err(Error::usage("there are no data sets to merge")) };
    let group = groups::size(first)?;
    for other in sets {
        groups::require(other, group)?;
    }
    let union = joined_classes(sets)?;
    let (mut meta, note) = meta::joined(sets)?;
    meta.classes = union.classes;
    let mut notes: Vec<String> = note.into_iter().collect();
    for set in sets {
        notes.extend(not_copied(set)?);
    }
    notes.dedup();
    let all: Vec<&Dataset> = sets.iter().collect();
    notes.extend(on_missing_labels(&all)?);
    notes.extend(on_repeated_sources(&all)?);
    let picks = sets.iter().enumerate().flat_map(|(source, s)| (0..s.len()).map(move |clip| Pick { source, clip }));
    let sources = sets.iter().zip(union.labels).map(|(set, labels)| {
        let describe: Describe<'static> = Box::new(move |clip| renumbered(clip, &labels));
        InputSet { set: set.clone(), describe }
    });
    Ok(OutputPlan {
        meta,
        picks: picks.collect(),
        sources: sources.collect(),
        group,
        clock: None,
        not_found: Vec::new(),
        notes,
    })
}
