//! Computes statistics: a survey of each data set, then distributions over all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use super::distribution::{Bin, Distribution, Summary, of_numbers, of_words};
use super::stats::{ClassStats, Classes, Stats};
use super::survey::{Column, Survey, Values};
use crate::dataset::Dataset;
use crate::dataset::tables::Tables;
use vidrec_format::error::Result;

/// Computes the statistics of a data set. Reads all of the indexes, but no records.
///
/// # Errors
///
/// [`Format`](vidrec_format::error::ErrorKind::Format) if an entry is damaged.
///
/// ```no_run
/// let stats = vidrec::stats(&vidrec::Dataset::open("train")?)?;
/// println!("{} bytes an epoch", stats.epoch_bytes);
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn stats(set: &Dataset) -> Result<Stats> {
    stats_of(slice::from_ref(set)).map(|mut all| all.swap_remove(0))
}

/// Computes the statistics of each of several data sets. All of them have the same [`Distribution`]s with the same
/// bins, so that their numbers can be compared.
///
/// # Errors
///
/// The same as [`stats`].
///
/// ```no_run
/// let stats = vidrec::stats_of(&[vidrec::Dataset::open("train")?, vidrec::Dataset::open("val")?])?;
/// for (train, val) in stats[0].distributions.iter().zip(&stats[1].distributions) {
///     println!("{}: {:?} and {:?}", train.title, train.summary, val.summary);
/// }
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn stats_of(sets: &[Dataset]) -> Result<Vec<Stats>> {
    let mut surveys = sets.iter().map(Survey::of).collect::<Result<Vec<_>>>()?;
    for (survey, set) in surveys.iter_mut().zip(sets) {
        survey.stats.clips = set.len();
        survey.stats.frames = set.frame_count();
        survey.stats.shards = set.shard_count() as u64;
        survey.stats.classes = std::mem::take(&mut survey.classes).all(set);
    }
    find(&mut surveys);
    Ok(surveys.into_iter().map(|survey| survey.stats).collect())
}

/// Counts the clips and frames of each class, in order of label: see [`Stats::classes`]. Reads the entry of every clip, but
/// no entries of frames.
///
/// ```no_run
/// for class in vidrec::class_stats(&vidrec::Dataset::open("train")?)? {
///     println!("{}: {} clips", class.class, class.clips);
/// }
/// # Ok::<(), vidrec::Error>(())
/// ```
///
/// # Errors
///
/// The same as [`stats`].
pub fn class_stats(set: &Dataset) -> Result<Vec<ClassStats>> {
    set.prefetch_all(Tables { clips: true, ..Tables::default() })?;
    let mut classes = Classes::default();
    for clip in set.clips() {
        classes.add(&clip?)?;
    }
    Ok(classes.all(set))
}

impl Column {
    /// Returns what its distribution counts, and the unit of the values.
    fn title(&self) -> (String, &'static str) {
        let (title, unit) = match self {
            Column::Frames => ("Frames per clip", ""),
            Column::Seconds => ("Seconds per clip, first frame to last", "s"),
            Column::Rate => ("Packed frames per second", "/s"),
            Column::BytesPerFrame => ("Bytes per frame, mean of each clip", "B"),
            Column::Aspect => ("Width by height", ""),
            Column::Year => ("Year of the video, by its container", "year"),
            Column::Size => ("Size of the frames", ""),
            Column::Codec => ("Codec of the video", ""),
            Column::Container => ("Container of the video", ""),
            Column::PixelFormat => ("Pixel format of the video", ""),
            Column::Attribute(name) => return (format!("Attribute {name}"), ""),
        };
        (title.to_owned(), unit)
    }
}

/// Finds all distributions that show anything, and adds them to the statistics of each data set.
pub(super) fn find(surveys: &mut [Survey]) {
    let mut columns: Vec<BTreeMap<Column, Values>> =
        surveys.iter_mut().map(|s| std::mem::take(&mut s.columns)).collect();
    let names: BTreeSet<Column> = columns.iter().flat_map(|columns| columns.keys().cloned()).collect();
    for name in names {
        let values: Vec<Values> = columns.iter_mut().map(|c| c.remove(&name).unwrap_or_default()).collect();
        let (mut numbers, words): (Vec<_>, Vec<_>) = values.into_iter().map(|v| (v.numbers, v.words)).unzip();
        // If most clips have a word of their own, such as a caption, there is nothing to count.
        let is_counted = !matches!(name, Column::Attribute(_)) || words.iter().any(|c| c.len() as u64 * 2 <= c.clips());
        add(surveys, &name, of_numbers(&mut numbers));
        add(surveys, &name, if is_counted { of_words(&words) } else { Vec::new() });
    }
}

/// Adds a distribution, given as the bins and the summary of each data set, if it has bins.
fn add(surveys: &mut [Survey], column: &Column, found: Vec<(Vec<Bin>, Option<Summary>)>) {
    for (survey, (bins, summary)) in surveys.iter_mut().zip(found) {
        let (title, unit) = column.title();
        let without = survey.stats.clips.saturating_sub(bins.iter().map(|bin| bin.clips).sum());
        survey.stats.distributions.push(Distribution { title, unit, bins, summary, without });
    }
}
