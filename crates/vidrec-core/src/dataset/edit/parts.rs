//! Divides the clips of a data set into parts.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::attributes::plain;
use super::clip_list::{ClipList, not_in};
use super::groups;
use super::ratio::{RatioSplit, clips_by_ratio};
use crate::dataset::Dataset;
use vidrec_format::error::{Error, Result};

/// How a data set is split.
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

/// Returns which clips go to which part. It writes nothing: [`split`](super::split) does that. [`Dataset::select`]
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
    let parts = match by {
        SplitBy::Ratio(ratio) => by_ratio(set, ratio)?,
        SplitBy::Lists(lists) => by_lists(set, lists)?,
        SplitBy::Attribute(name) => by_attribute(set, name)?,
    };
    parts.iter().try_for_each(|part| groups::check_whole(&part.clips, set.draws().into()))?;
    Ok(parts)
}

fn by_ratio(set: &Dataset, ratio: &RatioSplit) -> Result<Vec<SplitPart>> {
    let named = ratio.parts.iter().zip(clips_by_ratio(set, ratio)?);
    Ok(named.map(|((name, _), clips)| SplitPart { name: name.clone(), clips, ..SplitPart::default() }).collect())
}

fn by_lists(set: &Dataset, lists: &[(String, ClipList)]) -> Result<Vec<SplitPart>> {
    let twice = |what: String, a: usize, b: usize| {
        Err(Error::usage(format!("{what} is in two lists")).found(format!("{} and {}", lists[a].0, lists[b].0)))
    };
    let (mut part_of_source, mut part_of_clip) = (HashMap::new(), HashMap::new());
    for (i, (_, list)) in lists.iter().enumerate() {
        list.check_ordinals(set)?;
        for source in &list.sources {
            let before = *part_of_source.entry(source.as_str()).or_insert(i);
            if before != i {
                return twice(format!("\"{source}\""), before, i);
            }
        }
        for &clip in &list.clips {
            let before = *part_of_clip.entry(clip).or_insert(i);
            if before != i {
                return twice(format!("clip {clip}"), before, i);
            }
        }
    }
    let named = |(name, _): &(String, ClipList)| SplitPart { name: name.clone(), ..SplitPart::default() };
    let mut parts: Vec<SplitPart> = lists.iter().map(named).collect();
    let mut found = HashSet::new();
    for clip in set.clips() {
        let clip = clip?;
        let (ordinal, source) = (clip.ordinal(), clip.source()?);
        let by_source = part_of_source.get(source.as_str()).copied();
        found.extend(by_source.map(|_| source));
        match (by_source, part_of_clip.get(&ordinal).copied()) {
            (Some(a), Some(b)) if a != b => return twice(format!("clip {ordinal}"), a.min(b), a.max(b)),
            (Some(part), _) | (None, Some(part)) => parts[part].clips.push(ordinal),
            (None, None) => {}
        }
    }
    for (part, (_, list)) in parts.iter_mut().zip(lists) {
        part.not_found = not_in(&found, &list.sources);
    }
    Ok(parts)
}

/// Parts in byte order of their names.
fn by_attribute(set: &Dataset, name: &str) -> Result<Vec<SplitPart>> {
    const MOST_PARTS: usize = 1000;
    let mut parts: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for clip in set.clips() {
        let clip = clip?;
        if let Some(value) = clip.attributes()?.find(name) {
            parts.entry(plain(value)).or_default().push(clip.ordinal());
        }
        if parts.len() > MOST_PARTS {
            return Err(Error::limit(format!("attribute \"{name}\" has too many values to make a part of each"))
                .expected(format!("at most {MOST_PARTS}")));
        }
    }
    if parts.is_empty() {
        return Err(Error::usage(format!("no clip has an attribute \"{name}\"")));
    }
    Ok(parts.into_iter().map(|(name, clips)| SplitPart { name, clips, not_found: Vec::new() }).collect())
}
