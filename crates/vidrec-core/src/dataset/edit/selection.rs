//! Chooses clips of a data set.

use std::collections::HashSet;

use super::attributes::has_value;
use super::clip_list::{ClipList, not_in};
use super::groups;
use crate::dataset::Tables;
use crate::dataset::{Clip, Dataset};
use vidrec_format::error::{Error, Result};
use vidrec_format::random::{Random, stream};

/// Conditions on clips. A clip is chosen if it meets all of them. Without conditions, all clips are chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Classes by name, or by number if labels have no names; a clip must have one of them. Empty: any class.
    pub classes: Vec<String>,
    /// Ordinals; a clip must have one of them. `None`: any ordinal.
    pub clips: Option<Vec<u64>>,
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

/// The clips that a [`Selection`] chooses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SelectedClips {
    /// Their ordinals, in ascending order.
    pub clips: Vec<u64>,
    /// Sources in the lists that the data set does not have, in the order of the lists.
    pub not_found: Vec<String>,
}

/// Returns the clips that a selection chooses. It writes nothing: [`subset`](super::subset) does that.
/// [`Dataset::select`] turns the clips into a data set that shares the files.
///
/// ```no_run
/// use vidrec::Dataset;
/// use vidrec::edit::{self, Selection};
///
/// let all = Dataset::open("all")?;
/// let chosen = edit::subset_clips(&all, &Selection { sample: Some(100), ..Selection::default() })?;
/// let hundred = all.select(chosen.clips)?;
/// # Ok::<(), vidrec::Error>(())
/// ```
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): there is no such class or clip; some draws of a video are
/// chosen and others are not; fewer clips are chosen than the sample needs.
/// [`Format`](vidrec_format::error::ErrorKind::Format): the data set is damaged.
pub fn subset_clips(set: &Dataset, selection: &Selection) -> Result<SelectedClips> {
    match &selection.clips {
        Some(clips) => set.prefetch(clips, true)?,
        None => set.prefetch_all(Tables { clips: true, strings: true, ..Tables::default() })?,
    }
    let draws = u64::from(set.draws());
    let mut clips = fitting(set, selection)?;
    groups::check_whole(&clips, draws)?;
    if let Some(wanted) = selection.sample {
        clips = sample(&clips, draws, wanted, selection.seed)?;
    }
    Ok(SelectedClips { clips, not_found: missing_sources(set, selection)? })
}

/// Ordinals of the chosen clips, in ascending order.
fn fitting(set: &Dataset, selection: &Selection) -> Result<Vec<u64>> {
    let labels = labels_of(set, &selection.classes)?;
    let list = selection.list.as_ref().map(|list| Named::new(set, list)).transpose()?;
    let exclude = Named::new(set, &selection.exclude)?;
    let draws = u64::from(set.draws());
    let excluded_videos: HashSet<u64> = exclude.clips.iter().map(|clip| clip / draws).collect();
    let mut fitting = Vec::new();
    for ordinal in candidates(set, selection)?.filter(|clip| !excluded_videos.contains(&(clip / draws))) {
        let clip = set.clip(ordinal)?;
        let class_fits = labels.as_ref().is_none_or(|labels| clip.label().is_some_and(|l| labels.contains(&l)));
        let is_listed = list.as_ref().map_or(Ok(true), |list| list.names(&clip))?;
        if class_fits && is_listed && !exclude.names(&clip)? && attributes_fit(&clip, &selection.attributes)? {
            fitting.push(ordinal);
        }
    }
    Ok(fitting)
}

/// A list of clips that supports lookups.
struct Named<'a> {
    clips: HashSet<u64>,
    sources: HashSet<&'a str>,
}

impl<'a> Named<'a> {
    fn new(set: &Dataset, list: &'a ClipList) -> Result<Self> {
        list.check_ordinals(set)?;
        let sources = list.sources.iter().map(String::as_str).collect();
        Ok(Named { clips: list.clips.iter().copied().collect(), sources })
    }

    fn names(&self, clip: &Clip<'_>) -> Result<bool> {
        // Most selections have no lists, and then no source is read.
        let is_sourced = || Ok(!self.sources.is_empty() && self.sources.contains(clip.source()?.as_str()));
        if self.clips.contains(&clip.ordinal()) { Ok(true) } else { is_sourced() }
    }
}

fn candidates<'a>(set: &Dataset, selection: &'a Selection) -> Result<Box<dyn Iterator<Item = u64> + 'a>> {
    let Some(clips) = &selection.clips else { return Ok(Box::new(0..set.len())) };
    let mut clips = ClipList::from(clips.clone());
    clips.check_ordinals(set)?;
    clips.clips.sort_unstable();
    clips.clips.dedup();
    Ok(Box::new(clips.clips.into_iter()))
}

/// The labels of some classes; `None` for no classes, which means any.
fn labels_of(set: &Dataset, classes: &[String]) -> Result<Option<HashSet<u32>>> {
    if classes.is_empty() {
        return Ok(None);
    }
    classes.iter().map(|name| label_of(set, name)).collect::<Result<_>>().map(Some)
}

fn label_of(set: &Dataset, name: &str) -> Result<u32> {
    const SHOWN: usize = 10;
    let classes = set.classes();
    let place = classes.iter().position(|class| class == name).and_then(|place| u32::try_from(place).ok());
    let number = || name.parse().ok().filter(|_| classes.is_empty());
    place.or_else(number).ok_or_else(|| {
        let first = classes[..classes.len().min(SHOWN)].join(", ");
        Error::usage(format!("there is no class \"{name}\"")).expected(match classes.len() {
            0 => "a number, because labels have no names".into(),
            1..=SHOWN => format!("one of {first}"),
            n => format!("one of {n}: {first} and so on"),
        })
    })
}

fn attributes_fit(clip: &Clip<'_>, wanted: &[(String, String)]) -> Result<bool> {
    if wanted.is_empty() {
        return Ok(true);
    }
    let attributes = clip.attributes()?;
    Ok(wanted.iter().all(|(name, value)| attributes.find(name).is_some_and(|found| has_value(found, value))))
}

/// Draws `wanted` videos at random, and keeps them in order.
fn sample(clips: &[u64], draws: u64, wanted: u64, seed: u64) -> Result<Vec<u64>> {
    let mut videos: Vec<&[u64]> = clips.chunks(draws as usize).collect();
    let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
    if wanted > videos.len() {
        return Err(Error::usage("fewer clips match than the sample needs").expected(wanted).found(videos.len()));
    }
    Random::new(seed, &[stream::SAMPLE]).shuffle(&mut videos);
    videos.truncate(wanted);
    videos.sort_unstable();
    Ok(videos.concat())
}

/// Sources in the lists that the data set does not have, regardless of the other conditions.
fn missing_sources(set: &Dataset, selection: &Selection) -> Result<Vec<String>> {
    let wanted: Vec<&String> =
        selection.list.iter().flat_map(|list| &list.sources).chain(&selection.exclude.sources).collect();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let names: HashSet<&String> = wanted.iter().copied().collect();
    let excluded: HashSet<u64> = selection.exclude.clips.iter().copied().collect();
    let mut found = HashSet::new();
    for ordinal in 0..set.len() {
        match set.clip(ordinal).and_then(|clip| clip.source()) {
            Ok(source) if names.contains(&source) => drop(found.insert(source)),
            Ok(_) => {}
            Err(_) if excluded.contains(&ordinal) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(not_in(&found, wanted))
}
