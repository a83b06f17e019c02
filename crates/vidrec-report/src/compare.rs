//! Compares data sets by source.

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::options::NamedSet;
use vidrec_dataset::{Clip, Dataset};
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

/// The identity of a clip, for comparison with clips of other data sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Mark {
    /// Half of the digest of its source.
    source: u128,
    /// Half of a digest of its label, times and JPEGs.
    contents: u128,
    clip: u64,
}

/// Compares each data set with the first.
pub(super) fn all(sets: &[NamedSet]) -> Result<Vec<Comparison>> {
    if sets.len() < 2 {
        return Ok(Vec::new());
    }
    let marks = sets.iter().map(|set| marks(&set.set)).collect::<Result<Vec<_>>>()?;
    (1..sets.len()).map(|at| compare(sets, &marks, at)).collect()
}

fn compare(sets: &[NamedSet], marks: &[Vec<Mark>], at: usize) -> Result<Comparison> {
    let (mut added, mut removed, mut changed, mut same) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let pairs = Pairs { old: &marks[0], new: &marks[at] };
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

/// Returns the marks of all clips, sorted.
fn marks(set: &Dataset) -> Result<Vec<Mark>> {
    let mut marks = set.clips().map(|clip| mark(&clip?)).collect::<Result<Vec<_>>>()?;
    marks.sort_unstable();
    Ok(marks)
}

fn mark(clip: &Clip<'_>) -> Result<Mark> {
    let mut contents = Sha256::new();
    contents.update(clip.label().map_or(-1, i64::from).to_le_bytes());
    contents.update(clip.class()?);
    let (unit, per_second) = clip.time_base();
    for entry in clip.frame_entries()? {
        let ticks = i128::from(entry.pts) * i128::from(unit);
        contents.update(ticks.to_le_bytes());
        contents.update(entry.jpeg_crc32.to_le_bytes());
        contents.update(entry.jpeg_length.to_le_bytes());
    }
    contents.update(per_second.to_le_bytes());
    let source = half(Sha256::digest(clip.source()?).as_slice());
    Ok(Mark { source, contents: half(contents.finalize().as_slice()), clip: clip.ordinal() })
}

/// Returns the first half of a digest.
fn half(digest: &[u8]) -> u128 {
    digest.iter().take(16).fold(0, |sum, &byte| sum << 8 | u128::from(byte))
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
