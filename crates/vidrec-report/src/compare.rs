//! Compares data sets by source.

use serde::Serialize;

use super::options::NamedSet;
use super::survey::{Mark, Survey};
use vidrec_dataset::Clip;
use vidrec_format::error::Result;

/// How a data set differs from the first one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// Which data set, counted from 0.
    pub set: usize,
    /// Sources that only this data set has.
    pub added: Sources,
    /// Sources that only the first data set has.
    pub removed: Sources,
    /// Sources that both have, with different clips: another label, other times or other JPEGs.
    pub changed: Sources,
    /// Sources that both have, with the same clips.
    pub same: u64,
}

/// Some sources.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Sources {
    /// The number of sources.
    pub count: u64,
    /// The first of these sources, in order of their clips.
    pub first: Vec<SourceNote>,
}

/// A source, and a note about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SourceNote {
    /// The source.
    pub source: String,
    /// What changed; empty if it was added or removed.
    pub note: String,
}

/// The most sources of each kind that are listed by name.
const NAMED: usize = 200;

/// Compares each data set with the first.
pub(super) fn all(sets: &[NamedSet], surveys: &mut [Survey]) -> Result<Vec<Comparison>> {
    surveys.iter_mut().for_each(|survey| survey.marks.sort_unstable());
    (1..sets.len()).map(|at| compare(sets, surveys, at)).collect()
}

fn compare(sets: &[NamedSet], surveys: &[Survey], at: usize) -> Result<Comparison> {
    let (mut added, mut removed, mut changed, mut same) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let pairs = Pairs { old: &surveys[0].marks, new: &surveys[at].marks };
    for (old, new) in pairs {
        let contents = |marks: &'_ [Mark]| marks.iter().map(|mark| mark.contents).collect::<Vec<_>>();
        match (old.first(), new.first()) {
            (None, Some(mark)) => added.push((mark.clip, mark.clip)),
            (Some(mark), None) => removed.push((mark.clip, mark.clip)),
            (Some(first), Some(second)) if contents(old) != contents(new) => changed.push((first.clip, second.clip)),
            _ => same += 1,
        }
    }
    let named = |at: usize, mut clips: Vec<(u64, u64)>, is_change: bool| -> Result<Sources> {
        let count = clips.len() as u64;
        clips.sort_unstable();
        clips.truncate(NAMED);
        let mut first = Vec::with_capacity(clips.len());
        for (old, new) in clips {
            let clip = sets[at].set.clip(new)?;
            let note = if is_change { change(&sets[0].set.clip(old)?, &clip)? } else { String::new() };
            first.push(SourceNote { source: clip.source()?, note });
        }
        Ok(Sources { count, first })
    };
    Ok(Comparison {
        set: at,
        added: named(at, added, false)?,
        removed: named(0, removed, false)?,
        changed: named(at, changed, true)?,
        same,
    })
}

/// Returns what changed from one clip to another of the same source.
fn change(old: &Clip<'_>, new: &Clip<'_>) -> Result<String> {
    let mut notes = Vec::new();
    if (old.label(), old.class()?) != (new.label(), new.class()?) {
        notes.push(format!("{} → {}", class_of(old)?, class_of(new)?));
    }
    if old.frame_count() != new.frame_count() {
        notes.push(format!("{} → {} frames", old.frame_count(), new.frame_count()));
    }
    if (old.width(), old.height()) != (new.width(), new.height()) {
        notes.push(format!("{}×{} → {}×{}", old.width(), old.height(), new.width(), new.height()));
    }
    Ok(if notes.is_empty() { "other frames".into() } else { notes.join(", ") })
}

/// Returns the class of a clip, or its label as text.
pub(super) fn class_of(clip: &Clip<'_>) -> Result<String> {
    Ok(match (clip.label(), &*clip.class()?) {
        (None, "") => "no label".into(),
        (Some(label), "") => label.to_string(),
        (_, class) => class.to_owned(),
    })
}

/// The clips of each source in two sorted lists.
struct Pairs<'a> {
    old: &'a [Mark],
    new: &'a [Mark],
}

impl<'a> Iterator for Pairs<'a> {
    type Item = (&'a [Mark], &'a [Mark]);

    fn next(&mut self) -> Option<Self::Item> {
        let source = self.old.iter().take(1).chain(self.new.iter().take(1)).map(|mark| mark.source).min()?;
        let take = |marks: &mut &'a [Mark]| {
            let (these, rest) = marks.split_at(marks.partition_point(|mark| mark.source <= source));
            *marks = rest;
            these
        };
        let (mut old, mut new) = (self.old, self.new);
        let pair = (take(&mut old), take(&mut new));
        (self.old, self.new) = (old, new);
        Some(pair)
    }
}
