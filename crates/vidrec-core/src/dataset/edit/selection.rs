//! Chooses clips of a data set.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;

use super::plan::torn_draws;
use crate::dataset::data_set::torn_group;
use crate::dataset::{Clip, Dataset};
use vidrec_format::random::{Random, stream};
use vidrec_format::{Error, Result, SectionId};

/// Conditions on clips. A clip is chosen if it meets all of them. Without conditions, all clips are chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Selection {
    /// Classes by name, or by number if labels have no names; a clip must have one of them. Empty: any class.
    pub classes: Vec<String>,
    /// A list that must contain the clip. `None`: any clip.
    pub list: Option<ClipList>,
    /// A list that must not contain the clip. It may name damaged clips. If clips are draws of a video, one of them
    /// stands for all.
    pub exclude: ClipList,
    /// Attributes that the clip must have, each as a name and a value. The name has dots between the levels of nested
    /// objects, and the value is a text. An array has the value of each of its elements.
    pub attributes: Vec<(String, String)>,
    /// The number of clips to draw at random from all that meet the conditions. They stay in order. If clips are
    /// draws of a video, this is a number of videos.
    pub sample: Option<u64>,
    /// Seed for `sample`.
    pub seed: u64,
}

/// Some clips of a data set: those with the given ordinals, and those from the given sources.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct ClipList {
    /// Ordinals in the data set.
    pub clips: Vec<u64>,
    /// Sources; a source stands for all its clips.
    pub sources: Vec<String>,
}

/// Returns the clips that a selection chooses, in ascending order, and the sources in its lists that the data set does not
/// have, in the order of the lists. It writes nothing: [`subset`](super::subset()) does that.
/// [`Dataset::select`] turns the clips into a data set that shares the files.
///
/// ```no_run
/// use vidrec::Dataset;
/// use vidrec::edit::{self, Selection};
///
/// let all = Dataset::open("all")?;
/// let (chosen, _) = edit::subset_clips(&all, &Selection { sample: Some(100), ..Selection::default() })?;
/// let hundred = all.select(chosen)?;
/// # Ok::<(), vidrec::Error>(())
/// ```
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): there is no such class or clip; some draws of a video are
/// chosen and others are not; fewer clips are chosen than the sample needs.
/// [`Format`](vidrec_format::error::ErrorKind::Format): the data set is damaged.
pub fn subset_clips(set: &Dataset, selection: &Selection) -> Result<(Vec<u64>, Vec<String>)> {
    let draws = u64::from(set.draws());
    let (mut clips, missing) = matching(set, selection)?;
    if let Some(first) = torn_group(&clips, draws) {
        return Err(torn_draws(first, draws));
    }
    if let Some(count) = selection.sample {
        clips = sample(&clips, draws, count, selection.seed)?;
    }
    Ok((clips, missing))
}

/// Ordinals of the clips that meet all conditions but `sample`, in ascending order, and the sources in the lists that the data
/// set does not have, regardless of the other conditions.
fn matching(set: &Dataset, selection: &Selection) -> Result<(Vec<u64>, Vec<String>)> {
    let labels =
        selection.classes.iter().map(|name| label_of(set.classes(), name)).collect::<Result<HashSet<u32>>>()?;
    let list = selection.list.as_ref().map(|list| sets(set, list)).transpose()?;
    let exclude = sets(set, &selection.exclude)?;
    let draws = u64::from(set.draws());
    let excluded_videos: HashSet<u64> = exclude.0.iter().map(|clip| clip / draws).collect();
    let lists = selection.list.iter().chain([&selection.exclude]);
    let sources: Vec<&String> = lists.flat_map(|list| &list.sources).collect();
    let mut missing: HashSet<&str> = sources.iter().map(|source| source.as_str()).collect();
    let mut candidates: Vec<u64> = match &selection.list {
        Some(list) if sources.is_empty() => list.clips.clone(),
        _ => (0..set.len()).collect(),
    };
    candidates.sort_unstable();
    candidates.dedup();
    match candidates.len() as u64 == set.len() {
        true => set.prefetch_all(&[SectionId::CLIPS, SectionId::STRINGS])?,
        false => set.prefetch(&candidates, true)?,
    }
    let mut is_chosen = |ordinal: u64, is_excluded: bool| -> Result<bool> {
        let clip = set.clip(ordinal)?;
        // Most selections have no sources, and then none is read.
        let source = if sources.is_empty() { String::new() } else { clip.source()? };
        missing.remove(&*source);
        let is_in = |(clips, sources): &Sets<'_>| clips.contains(&ordinal) || sources.contains(&*source);
        let has_class = labels.is_empty() || clip.label().is_some_and(|label| labels.contains(&label));
        let is_wanted = !is_excluded && has_class && list.as_ref().is_none_or(is_in) && !is_in(&exclude);
        Ok(is_wanted && has_attributes(&clip, &selection.attributes)?)
    };
    let mut found = Vec::new();
    for ordinal in candidates {
        let is_excluded = excluded_videos.contains(&(ordinal / draws));
        match is_chosen(ordinal, is_excluded) {
            Err(e) if !is_excluded => return Err(e),
            chosen => found.extend(chosen.unwrap_or(false).then_some(ordinal)),
        }
    }
    Ok((found, sources.into_iter().filter(|source| missing.remove(source.as_str())).cloned().collect()))
}

/// The ordinals and the sources of a list, for lookups.
type Sets<'a> = (HashSet<u64>, HashSet<&'a str>);

/// # Errors
///
/// The data set does not have an ordinal.
fn sets<'a>(set: &Dataset, list: &'a ClipList) -> Result<Sets<'a>> {
    if let Some(clip) = list.clips.iter().find(|&&clip| clip >= set.len()) {
        return Err(Error::usage(format!("there is no clip {clip}")).expected(format!("less than {}", set.len())));
    }
    Ok((list.clips.iter().copied().collect(), list.sources.iter().map(String::as_str).collect()))
}

fn label_of(classes: &[String], name: &str) -> Result<u32> {
    let label = match classes {
        [] => name.parse().ok(),
        _ => (0..).zip(classes).find(|(_, class)| *class == name).map(|(label, _)| label),
    };
    label.ok_or_else(|| {
        let e = Error::usage(format!("there is no class \"{name}\""));
        match classes {
            [] => e.expected("a number, because labels have no names"),
            _ => e.expected(format!("one of {}: {}", classes.len(), classes[..classes.len().min(10)].join(", "))),
        }
    })
}

fn has_attributes(clip: &Clip<'_>, attributes: &[(String, String)]) -> Result<bool> {
    if attributes.is_empty() {
        return Ok(true);
    }
    let found = clip.attributes()?;
    Ok(attributes.iter().all(|(name, value)| found.find(name).is_some_and(|found| has_value(found, value))))
}

/// Whether an attribute has this value. An array has the value of each of its elements.
fn has_value(found: &Value, value: &str) -> bool {
    match found {
        Value::Array(values) => values.iter().any(|found| has_value(found, value)),
        Value::String(found) => found == value,
        other => serde_json::to_string(other).is_ok_and(|text| text == value),
    }
}

/// Draws `count` videos at random, and keeps them in order.
fn sample(clips: &[u64], draws: u64, count: u64, seed: u64) -> Result<Vec<u64>> {
    let mut videos: Vec<&[u64]> = clips.chunks(draws as usize).collect();
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if count > videos.len() {
        return Err(Error::usage("fewer clips match than the sample needs").expected(count).found(videos.len()));
    }
    Random::new(seed, &[stream::SAMPLE]).shuffle(&mut videos);
    videos.truncate(count);
    videos.sort_unstable();
    Ok(videos.concat())
}
