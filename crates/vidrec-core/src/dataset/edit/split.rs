//! Splits a data set into several parts.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use super::copy;
use super::draws::{check_draws, draws_of};
use super::options::{EditOptions, EditReport};
use super::plan::OutputPlan;
use super::ratio::{RatioSplit, clips_by_ratio};
use super::selection::{ClipFilter, ClipList, require_found, to_text};
use crate::dataset::{Dataset, Tables};
use crate::progress::ProgressFn;
use vidrec_format::{Error, Result};

/// The rule by which a data set is split.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SplitBy {
    /// At random.
    Ratio(RatioSplit),
    /// By a name and a list of clips for each part. Clips in no list are in no part.
    Lists(Vec<(String, ClipList)>),
    /// By the values of this attribute: each part is named after a value. Clips without the attribute are in no part.
    Attribute(String),
}

/// A part of a data set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SplitPart {
    /// Its name.
    pub name: String,
    /// Ordinals of its clips, in ascending order.
    pub clips: Vec<u64>,
    /// Sources of its list that the data set does not have, in the order of the list.
    pub not_found: Vec<String>,
}

/// Returns which clips go to which part. It writes nothing: [`split`] does that. [`Dataset::select`]
/// turns a part into a data set that shares the files.
///
/// ```no_run
/// use vidrec::Dataset;
/// use vidrec::edit::{self, RatioSplit, SplitBy};
///
/// let all = Dataset::open("all")?;
/// let parts = vec![("train".to_owned(), 0.9), ("val".to_owned(), 0.1)];
/// let parts = edit::split_clips(&all, &SplitBy::Ratio(RatioSplit { parts, ..RatioSplit::default() }))?;
/// let train = all.select(parts[0].clips.iter().copied())?;
/// # Ok::<(), vidrec::Error>(())
/// ```
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): shares that do not add up to 1; a clip in two lists; draws of
/// one video in two parts; no clip has the attribute. [`Limit`](vidrec_format::error::ErrorKind::Limit): the
/// attribute has more than 1000 values. [`Format`](vidrec_format::error::ErrorKind::Format): the data set is damaged.
pub fn split_clips(set: &Dataset, by: &SplitBy) -> Result<Vec<SplitPart>> {
    set.prefetch_all(Tables { clips: true, strings: true, ..Tables::default() })?;
    let parts = match by {
        SplitBy::Ratio(ratio) => {
            let part = |(clips, (name, _)): (Vec<u64>, &(String, f64))| SplitPart::new(name, clips);
            clips_by_ratio(set, ratio)?.into_iter().zip(&ratio.parts).map(part).collect()
        }
        SplitBy::Lists(lists) => parts_by_lists(set, lists)?,
        SplitBy::Attribute(name) => parts_by_attribute(set, name)?,
    };
    parts.iter().try_for_each(|part| check_draws(&part.clips, set.draws().into()))?;
    Ok(parts)
}

/// Writes the parts of a data set that [`split_clips`] returns, in this order, each to `out/NAME`. The clips of a
/// part keep their order. An item of `progress` is a clip of any part.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): a name that is not a plain file name, or a list names a source
/// that the data set does not have. Otherwise as
/// [`split_clips`] and [`subset`](super::subset()).
pub fn split(
    set: &Dataset,
    by: &SplitBy,
    out: impl AsRef<Path>,
    options: &EditOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<Vec<EditReport>> {
    draws_of(&[set])?;
    let parts = split_clips(set, by)?;
    parts.iter().try_for_each(|part| require_found(&part.not_found))?;
    check_names(parts.iter().map(|part| part.name.as_str()))?;
    let mut plans: Vec<(OutputPlan<'_>, PathBuf)> = Vec::new();
    for part in parts {
        let mut plan = OutputPlan::new(set, part.clips)?;
        if plan.picks.is_empty() {
            plan.notes.push("this part has no clips".into());
        }
        plans.push((plan, out.as_ref().join(part.name)));
    }
    copy::write_all(&plans, options, progress)
}

impl SplitPart {
    fn new(name: &str, clips: Vec<u64>) -> Self {
        SplitPart { name: name.to_owned(), clips, not_found: Vec::new() }
    }
}

fn parts_by_lists(set: &Dataset, lists: &[(String, ClipList)]) -> Result<Vec<SplitPart>> {
    let filters = lists.iter().map(|(_, list)| ClipFilter::new(set, list)).collect::<Result<Vec<_>>>()?;
    let mut parts: Vec<SplitPart> = lists.iter().map(|(name, _)| SplitPart::new(name, Vec::new())).collect();
    let mut sources = HashSet::new();
    for clip in set.clips() {
        let clip = clip?;
        let mut part = None;
        for (i, filter) in filters.iter().enumerate() {
            if !filter.names(&clip)? {
                continue;
            }
            if let Some(other) = part.replace(i) {
                let e = Error::usage(format!("clip {} ({:?}) is in two lists", clip.ordinal(), clip.source()?));
                return Err(e.found(format!("{} and {}", lists[other].0, lists[i].0)));
            }
        }
        if let Some(part) = part {
            parts[part].clips.push(clip.ordinal());
            sources.insert(clip.source()?);
        }
    }
    for (part, (_, list)) in parts.iter_mut().zip(lists) {
        let mut missing = list.sources.clone();
        missing.retain(|source| sources.insert(source.clone()));
        part.not_found = missing;
    }
    Ok(parts)
}

/// Parts in byte order of their names.
fn parts_by_attribute(set: &Dataset, name: &str) -> Result<Vec<SplitPart>> {
    const MOST_PARTS: usize = 1000;
    let mut parts: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for clip in set.clips() {
        let clip = clip?;
        if let Some(value) = clip.attributes()?.find(name) {
            parts.entry(to_text(value)).or_default().push(clip.ordinal());
        }
        if parts.len() > MOST_PARTS {
            return Err(Error::limit(format!("attribute \"{name}\" has too many values to make a part of each"))
                .expected(format!("at most {MOST_PARTS}")));
        }
    }
    if parts.is_empty() {
        return Err(Error::usage(format!("no clip has an attribute \"{name}\"")));
    }
    Ok(parts.into_iter().map(|(name, clips)| SplitPart::new(&name, clips)).collect())
}

/// Checks the names, because they become folders of the output, and attributes and lists may contain anything.
fn check_names<'a>(names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen = HashSet::new();
    for name in names {
        let plain = !name.starts_with('.')
            && !name.contains(['\\', '\0'])
            && Path::new(name).file_name() == Some(name.as_ref());
        if !plain {
            return Err(Error::usage(format!("{name:?} cannot be the name of a part"))
                .expected("a plain file name that does not begin with a dot"));
        }
        // Some file systems treat names that differ only in case as equal.
        if !seen.insert(name.to_lowercase()) {
            return Err(Error::usage(format!("two parts have the name {name:?}, or names that differ only in case")));
        }
    }
    if seen.is_empty() { Err(Error::usage("there are no parts to write")) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        for bad in ["", ".", "..", "../x", "a/b", "/a", "a\\b", ".hidden", "a/"] {
            assert!(check_names([bad].into_iter()).is_err(), "{bad}");
        }
        assert!(check_names(["train", "Train"].into_iter()).is_err());
        assert!(check_names(["train", "val", "fold 1"].into_iter()).is_ok());
        assert!(check_names(std::iter::empty()).is_err());
    }
}
