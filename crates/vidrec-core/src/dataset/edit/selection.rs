//! Chooses clips of a data set.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;

use super::plan::check_draws;
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
    let mut clips = matching(set, selection)?;
    check_draws(&clips, draws)?;
    if let Some(count) = selection.sample {
        clips = sample(&clips, draws, count, selection.seed)?;
    }
    Ok((clips, missing_sources(set, selection)?))
}

/// Ordinals of the clips that meet all conditions but `sample`, in ascending order.
fn matching(set: &Dataset, selection: &Selection) -> Result<Vec<u64>> {
    let labels =
        selection.classes.iter().map(|name| label_of(set.classes(), name)).collect::<Result<HashSet<u32>>>()?;
    let list = selection.list.as_ref().map(|list| ClipFilter::new(set, list)).transpose()?;
    let exclude = ClipFilter::new(set, &selection.exclude)?;
    let draws = u64::from(set.draws());
    let excluded_videos: HashSet<u64> = exclude.clips.iter().map(|clip| clip / draws).collect();
    let mut candidates: Vec<u64> = match &selection.list {
        Some(list) if list.sources.is_empty() => list.clips.clone(),
        _ => (0..set.len()).collect(),
    };
    candidates.sort_unstable();
    candidates.dedup();
    match candidates.len() as u64 == set.len() {
        true => set.prefetch_all(&[SectionId::CLIPS, SectionId::STRINGS])?,
        false => set.prefetch(&candidates, true)?,
    }
    let mut found = Vec::new();
    for ordinal in candidates.into_iter().filter(|clip| !excluded_videos.contains(&(clip / draws))) {
        let clip = set.clip(ordinal)?;
        let has_class = labels.is_empty() || clip.label().is_some_and(|label| labels.contains(&label));
        let is_listed = list.as_ref().map_or(Ok(true), |list| list.names(&clip))?;
        if has_class && is_listed && !exclude.names(&clip)? && has_attributes(&clip, &selection.attributes)? {
            found.push(ordinal);
        }
    }
    Ok(found)
}

/// A list of clips that supports lookups.
struct ClipFilter<'a> {
    clips: HashSet<u64>,
    sources: HashSet<&'a str>,
}

impl<'a> ClipFilter<'a> {
    /// # Errors
    ///
    /// The data set does not have an ordinal.
    fn new(set: &Dataset, list: &'a ClipList) -> Result<Self> {
        if let Some(clip) = list.clips.iter().find(|&&clip| clip >= set.len()) {
            let e = Error::usage(format!("there is no clip {clip}"));
            return Err(e.expected(format!("less than {}", set.len())));
        }
        let sources = list.sources.iter().map(String::as_str).collect();
        Ok(ClipFilter { clips: list.clips.iter().copied().collect(), sources })
    }

    /// Whether the list names a clip.
    fn names(&self, clip: &Clip<'_>) -> Result<bool> {
        // Most selections have no sources, and then none is read.
        let has_source = || Ok(!self.sources.is_empty() && self.sources.contains(clip.source()?.as_str()));
        if self.clips.contains(&clip.ordinal()) { Ok(true) } else { has_source() }
    }
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
        other => to_text(other) == value,
    }
}

/// A value as text: strings without quotes, everything else as JSON.
fn to_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
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

/// Sources in the lists that the data set does not have, regardless of the other conditions.
fn missing_sources(set: &Dataset, selection: &Selection) -> Result<Vec<String>> {
    let lists = selection.list.iter().chain([&selection.exclude]);
    let sources: Vec<&String> = lists.flat_map(|list| &list.sources).collect();
    let mut missing: HashSet<&str> = sources.iter().map(|source| source.as_str()).collect();
    let excluded: HashSet<u64> = selection.exclude.clips.iter().copied().collect();
    for ordinal in 0..set.len() {
        if missing.is_empty() {
            break;
        }
        match set.clip(ordinal).and_then(|clip| clip.source()) {
            Ok(source) => drop(missing.remove(&*source)),
            Err(_) if excluded.contains(&ordinal) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(sources.into_iter().filter(|source| missing.remove(source.as_str())).cloned().collect())
}
