//! Adds shards to a data set, beside those that it has.

use std::path::Path;

use super::copy::{self, refuse_input};
use super::options::EditOptions;
use super::output_plan::{Describe, InputSet, OutputPlan, renumbered};
use super::report::{EditReport, WholeSize};
use super::{groups, meta, notes};
use crate::dataset::writer::Writer;
use crate::dataset::{Clip, Dataset, writer};
use crate::dataset::{joined_classes, listing};
use crate::progress::ProgressFn;
use crate::store::location::is_remote;
use vidrec_format::dataset_json;
use vidrec_format::dataset_json::DatasetJson;
use vidrec_format::error::{Error, Hint, Result};

/// Adds the clips of `more` to the data set in the folder `to`, as more shards. The existing shards do not change. An
/// item of `progress` is a clip.
///
/// If whole shards of the data set already contain exactly these clips, an earlier append has added them. Then
/// nothing changes, and a note of the report says so. So an append that is repeated, such as after a kill, adds the
/// clips once. To draw clips more often, use weights.
///
/// Classes are matched by name, and the data set must know them already. The new shards become part of it in one
/// step, when `dataset.json` is replaced. Until then, and after a crash, readers see the old data set.
/// `options.overwrite` has no effect. The report is about what was added; [`EditReport::whole`] describes the data
/// set that grew.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): `to` is not a data set; `more` has a class that `to` does not
/// have, has another number of draws, or is the same data set; another process writes there, or a pack was
/// interrupted there. Otherwise as [`reshard`](super::reshard).
pub fn append(
    to: impl AsRef<Path>,
    more: &Dataset,
    options: &EditOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<EditReport> {
    let to = to.as_ref();
    if is_remote(to) {
        let e = Error::usage("vidrec appends to data sets in local folders only").file(to);
        return Err(e.help(
            "fetch it, append to the copy, and push that with the option to overwrite (`vidrec push --overwrite`)",
        ));
    }
    if !to.is_dir() {
        return Err(Error::io("open the data set", to, std::io::ErrorKind::NotFound.into()));
    }
    let lock = writer::lock(to)?;
    let listing = to.join(dataset_json::FILE_NAME);
    if !listing.is_file() {
        return Err(listing::missing(to));
    }
    let old = Dataset::open(to)?;
    refuse_input(more, to)?;
    let plan = plan(&old, more)?;
    if let Some(first) = there_already(&old, &plan.sources[0])? {
        return Ok(nothing_added(&old, to, first, more.len()));
    }
    // The shards come from the indexes, so that the new list has what earlier versions did not list.
    let before = DatasetJson { failures: listing::read(&listing)?.failures, ..old.to_json() };
    let meta = vidrec_format::meta::Meta { records: String::new(), ..plan.meta.clone() };
    let (clips, frames) = (before.clips, before.frames);
    let mut writer = Writer::extend(to, meta, lock, before)?;
    writer.join_tracks(old.tracks()?.iter())?;
    let report = copy::fill_one(&plan, writer, to, options, progress)?;
    let whole = Some(WholeSize { clips: clips + report.clips, frames: frames + report.frames });
    Ok(EditReport { whole, ..report })
}

/// The first clip of an earlier append of `more`; `None` if there was none. Clips are the same if they have the same
/// source, label and JPEGs.
fn there_already(old: &Dataset, more: &InputSet<'_>) -> Result<Option<u64>> {
    let ends = old.shards()?.into_iter().scan(0, |end, shard| {
        *end += shard.clip_count();
        Some(*end)
    });
    let ends: Vec<u64> = ends.collect();
    // An append adds whole shards.
    let firsts = std::iter::once(0).chain(ends.iter().copied());
    let mut firsts = firsts.filter(|first| ends.contains(&(first + more.set.len())));
    Ok(firsts.find(|&first| is_there_at(old, first, more)))
}

fn is_there_at(old: &Dataset, first: u64, more: &InputSet<'_>) -> bool {
    let clips = more.set.len();
    let same = |ordinal: u64| is_same(&old.clip(first + ordinal)?, &more.set.clip(ordinal)?, more);
    // A clip that cannot be read is not known to be the same. The copy reports what is wrong with it.
    clips > 0 && (0..clips).all(|ordinal| same(ordinal).unwrap_or(false))
}

fn is_same(old: &Clip<'_>, new: &Clip<'_>, more: &InputSet<'_>) -> Result<bool> {
    let info = (more.describe)(new)?;
    if old.source()? != info.source || old.label() != info.label || old.frame_count() != new.frame_count() {
        return Ok(false);
    }
    let jpegs = |clip: &Clip<'_>| -> Result<Vec<(u32, u32, i64)>> {
        Ok(clip.frame_entries()?.iter().map(|frame| (frame.jpeg_length, frame.jpeg_crc32, frame.pts)).collect())
    };
    Ok(jpegs(old)? == jpegs(new)?)
}

fn nothing_added(old: &Dataset, to: &Path, first: u64, clips: u64) -> EditReport {
    let note = format!("nothing to add: clips {first} to {} of the data set are already the same", first + clips - 1);
    let whole = Some(WholeSize { clips: old.len(), frames: old.frame_count() });
    EditReport { output: to.display().to_string(), notes: vec![note], whole, ..EditReport::default() }
}

fn plan(old: &Dataset, more: &Dataset) -> Result<OutputPlan<'static>> {
    let group = groups::size(old)?;
    groups::require(more, group)?;
    let union = joined_classes(&[old.clone(), more.clone()])?;
    if union.classes.len() > old.classes().len() {
        let new = &union.classes[old.classes().len()];
        return Err(Error::usage(format!("class \"{new}\" is new to the data set")).hint(Hint::Merge));
    }
    let mut plan = OutputPlan::whole(more)?;
    plan.meta.classes = union.classes;
    plan.notes.extend(meta::joined(&[old.clone(), more.clone()])?.1);
    plan.notes.extend(notes::on_missing_labels(&[old, more])?);
    plan.notes.extend(notes::on_repeated_sources(&[old, more])?);
    let labels = union.labels.into_iter().nth(1).unwrap_or_default();
    let describe: Describe<'static> = Box::new(move |clip| renumbered(clip, &labels));
    plan.sources = vec![InputSet { set: more.clone(), describe }];
    Ok(plan)
}
