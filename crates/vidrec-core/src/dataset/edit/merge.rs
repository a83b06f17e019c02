//! Several data sets as one, or added to one.

use std::path::Path;

use super::in_place::InPlace;
use super::meta::joined_classes;
use super::plan::{self, EditOptions, EditReport, OutputPlan};
use crate::dataset::Dataset;
use crate::dataset::writer::Writer;
use crate::progress::{Counter, ProgressFn};
use vidrec_format::{Error, Hint, Meta, Result, ShardJson};

/// Writes the clips of several data sets, one after the other, as one data set. An item of `progress` is a clip.
///
/// Classes are joined by name: those of the first data set keep their labels, and new names get the next ones. If the
/// settings or the packing programs of the data sets differ, the new settings list the differences under `merged`,
/// and the report says so.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): some data sets have class names and others plain integers for
/// labels; their numbers of draws differ; `out` is an input or holds a data set already. Otherwise as
/// [`subset`](super::subset()).
pub fn merge(
    sets: &[Dataset],
    out: impl AsRef<Path>,
    options: &EditOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<EditReport> {
    if sets.is_empty() {
        return Err(Error::usage("there are no data sets to merge"));
    }
    let reports = plan::write_all(&[(plan(sets, 0)?, out.as_ref().to_owned())], options, progress)?;
    Ok(reports.into_iter().next().unwrap_or_default())
}

/// Adds the clips of some data sets to the one in the folder `to`, as more shards. The existing shards do not change.
/// An item of `progress` is a clip.
///
/// If the data set already has the shards that this would add, an earlier call has added them. Then nothing changes, and a
/// note of the report says so. So a call that is repeated, such as after a kill, adds the clips once. To draw clips more
/// often, use weights.
///
/// Classes are joined by name: those of the data set keep their labels, and new names get the next ones. The new shards become
/// part of it in one step, when `dataset.json` is replaced. Until then, and after a crash, readers see the old data set.
/// `options.overwrite` has no effect. The report is about what was added.
///
/// The data set as it was stays readable: [`OpenOptions::clips`](crate::dataset::OpenOptions::clips).
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): `to` is not a data set; a data set of `more` has class names and `to` does
/// not, or the other way round; one has another number of draws, or is the same data set; another process writes there, or a
/// pack was interrupted there. Otherwise as [`subset`](super::subset()).
pub fn append(
    to: impl AsRef<Path>,
    more: &[Dataset],
    options: &EditOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<EditReport> {
    let to = to.as_ref();
    let InPlace { lock, set: old, json: before } = InPlace::open(to)?;
    let all: Vec<Dataset> = std::iter::once(&old).chain(more).cloned().collect();
    let plan = plan(&all, 1)?;
    plan.refuse_output(to)?;
    if old.classes().is_empty() != plan.meta.classes.is_empty() {
        return Err(Error::usage("the data set has no class names, but another one has").file(to).hint(Hint::Merge));
    }
    let mut writer = Writer::extend(to, Meta { records: String::new(), ..plan.meta.clone() }, lock, before.clone())?;
    // In order of their names, so that the same clips make the same shards when the data set has them already.
    let mut tracks = all.iter().map(Dataset::tracks).collect::<Result<Vec<_>>>()?.concat();
    tracks.sort_by(|a, b| a.name.cmp(&b.name));
    writer.join_tracks(tracks.iter())?;
    let mut counter = Counter::new(Some(plan.picks.len() as u64), progress);
    let (files, json, written) = plan::stage(&plan, writer, options.shards, &mut counter)?;
    let digests = |shard: &ShardJson| (shard.sha256.clone(), shard.index_crc32);
    let has = |shard: &ShardJson| before.shards.iter().any(|old| digests(old) == digests(shard));
    if json.shards[before.shards.len()..].iter().all(has) {
        let notes = vec!["nothing to add: the data set already has these clips".into()];
        return Ok(EditReport { output: to.display().to_string(), notes, ..EditReport::default() });
    }
    plan::publish(files, written, &plan, to)
}

/// Plans the clips of `sets` from data set `first` on, with the classes of all.
fn plan(sets: &[Dataset], first: usize) -> Result<OutputPlan<'static>> {
    let (classes, mut labels) = joined_classes(sets)?;
    let picks = (0..).zip(&sets[first..]).flat_map(|(source, set)| (0..set.len()).map(move |clip| (source, clip)));
    let mut plan = OutputPlan::new(sets, first, picks.collect())?;
    plan.meta.classes = classes;
    let labels = labels.split_off(first);
    plan.describe = Box::new(move |source, clip| {
        let (mut info, labels) = (clip.info()?, &labels[source]);
        if let Some(label) = info.label.filter(|_| !labels.is_empty()) {
            let new = labels.get(label as usize).copied();
            info.label = Some(new.ok_or_else(|| {
                let e = Error::format("clip-class", "the clip's label has no class name").in_clip(clip.ordinal());
                e.expected(format!("less than {}", labels.len())).found(label)
            })?);
        }
        Ok(info)
    });
    Ok(plan)
}
