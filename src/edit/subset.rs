//! Some clips of a data set.

use std::collections::HashSet;
use std::path::Path;

use serde_json::Value;

use super::plan::Plan;
use super::{EditOptions, EditReport, copy, groups};
use crate::random::{Random, stream};
use crate::{Clip, Dataset, Error, Result};

/// Which clips: those that fit everything that is given. Nothing given: all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Of one of these classes, by name, or by number where labels have no names. Empty: any.
    pub classes: Vec<String>,
    /// With one of these ordinals. `None`: any.
    pub clips: Option<Vec<u64>>,
    /// Whose attributes have all these values: a name, with dots between the levels of nested objects, and a value as
    /// text. An array has each of the values in it.
    pub attributes: Vec<(String, String)>,
    /// From one of these sources. `None`: any.
    pub sources: Option<Vec<String>>,
    /// So many of all that fit, drawn at random and kept in order; where clips are draws of a video, so many videos.
    pub sample: Option<u64>,
    /// Seed for `sample`.
    pub seed: u64,
}

/// Writes some clips of a data set, in its order, as a data set of their own. Labels and class names stay as they are.
///
/// # Errors
///
/// [`Usage`](crate::ErrorKind::Usage): no clip fits, some draws of a video fit and others do not, or there is no such
/// class or clip. Otherwise as [`reshard`](super::reshard).
pub fn subset(
    set: &Dataset,
    selection: &Selection,
    out: impl AsRef<Path>,
    options: &EditOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<EditReport> {
    let group = groups::size(set)?;
    let mut clips = chosen(set, selection)?;
    groups::check_whole(&clips, group)?;
    if let Some(wanted) = selection.sample {
        clips = sample(&clips, group, wanted, selection.seed)?;
    }
    if clips.is_empty() {
        return Err(Error::usage("no clip fits, so there is nothing to write"));
    }
    let mut plan = Plan::of(set, clips)?;
    plan.not_found = missing_sources(set, selection)?;
    copy::run_one(&plan, out.as_ref(), options, progress)
}

/// Ordinals of the clips that fit, in ascending order.
fn chosen(set: &Dataset, selection: &Selection) -> Result<Vec<u64>> {
    let labels = labels_of(set, &selection.classes)?;
    let sources: Option<HashSet<&str>> = selection.sources.as_ref().map(|s| s.iter().map(String::as_str).collect());
    let mut chosen = Vec::new();
    for ordinal in candidates(set, selection)? {
        let clip = set.clip(ordinal)?;
        let class_fits = labels.as_ref().is_none_or(|labels| clip.label().is_some_and(|l| labels.contains(&l)));
        let source = clip.source()?;
        let source_fits = sources.as_ref().is_none_or(|sources| sources.contains(source));
        if class_fits && source_fits && attributes_fit(&clip, &selection.attributes)? {
            chosen.push(ordinal);
        }
    }
    Ok(chosen)
}

fn candidates(set: &Dataset, selection: &Selection) -> Result<Vec<u64>> {
    let Some(clips) = &selection.clips else { return Ok((0..set.len()).collect()) };
    if let Some(&beyond) = clips.iter().find(|&&clip| clip >= set.len()) {
        return Err(Error::usage(format!("there is no clip {beyond}")).expected(format!("less than {}", set.len())));
    }
    let mut clips = clips.clone();
    clips.sort_unstable();
    clips.dedup();
    Ok(clips)
}

/// The labels that some classes have; `None` for no classes, which means any.
fn labels_of(set: &Dataset, classes: &[String]) -> Result<Option<HashSet<u32>>> {
    if classes.is_empty() {
        return Ok(None);
    }
    classes.iter().map(|name| label_of(set, name)).collect::<Result<_>>().map(Some)
}

fn label_of(set: &Dataset, name: &str) -> Result<u32> {
    let place = set.classes().iter().position(|class| class == name).and_then(|place| u32::try_from(place).ok());
    let number = || name.parse().ok().filter(|_| set.classes().is_empty());
    place.or_else(number).ok_or_else(|| {
        Error::usage(format!("there is no class \"{name}\"")).help("`vidrec inspect --classes` lists them")
    })
}

fn attributes_fit(clip: &Clip<'_>, wanted: &[(String, String)]) -> Result<bool> {
    if wanted.is_empty() {
        return Ok(true);
    }
    let attributes = Value::Object(clip.attributes()?);
    Ok(wanted.iter().all(|(name, value)| attribute(&attributes, name).is_some_and(|found| has_value(found, value))))
}

/// An attribute by its name: the name itself, or a path with dots into nested objects.
pub(super) fn attribute<'a>(attributes: &'a Value, name: &str) -> Option<&'a Value> {
    attributes.get(name).or_else(|| name.split('.').try_fold(attributes, |value, key| value.get(key)))
}

fn has_value(found: &Value, wanted: &str) -> bool {
    match found {
        Value::Array(values) => values.iter().any(|value| has_value(value, wanted)),
        other => plain(other) == wanted,
    }
}

/// A value as text: strings without quotes, all else as JSON.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// So many groups at random, in order.
fn sample(clips: &[u64], group: u64, wanted: u64, seed: u64) -> Result<Vec<u64>> {
    let mut groups: Vec<&[u64]> = clips.chunks(group as usize).collect();
    let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
    if wanted > groups.len() {
        return Err(Error::usage("fewer clips fit than the sample is to have").expected(wanted).found(groups.len()));
    }
    shuffle(&mut groups, &mut Random::new(seed, &[stream::SAMPLE]));
    groups.truncate(wanted);
    groups.sort_unstable();
    Ok(groups.concat())
}

/// Fisher and Yates.
pub(super) fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for i in (1..items.len()).rev() {
        items.swap(i, random.below(i as u64 + 1) as usize);
    }
}

/// Sources that were asked for and are not in the data set, whatever else was asked for.
fn missing_sources(set: &Dataset, selection: &Selection) -> Result<Vec<String>> {
    let Some(wanted) = &selection.sources else { return Ok(Vec::new()) };
    let mut found = HashSet::new();
    for clip in set.clips() {
        found.insert(clip?.source()?);
    }
    Ok(not_in(&found, wanted))
}

/// What is wanted and not found, once each, in order.
pub(super) fn not_in(found: &HashSet<&str>, wanted: &[String]) -> Vec<String> {
    let mut seen = HashSet::new();
    wanted.iter().filter(|s| !found.contains(s.as_str()) && seen.insert(*s)).cloned().collect()
}
