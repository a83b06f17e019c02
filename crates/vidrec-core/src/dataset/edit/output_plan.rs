//! The plan of an output: the clips of which data sets, in which order, and with which descriptions.

use super::{groups, meta};
use crate::dataset::clock::ClockStart;
use crate::dataset::writer::ClipInfo;
use crate::dataset::{Clip, Dataset};
use crate::dataset::{Shard, proven_bytes};
use vidrec_format::error::{Error, Result};
use vidrec_format::json_object::JsonObject;
use vidrec_format::meta::Meta;
use vidrec_format::section::SectionId;

/// Returns the description of a clip in the output.
pub(super) type Describe<'a> = Box<dyn Fn(&Clip<'_>) -> Result<ClipInfo> + 'a>;

/// A data set that clips come from.
pub(super) struct InputSet<'a> {
    pub set: Dataset,
    pub describe: Describe<'a>,
}

/// A clip to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pick {
    /// Position in [`OutputPlan::sources`].
    pub source: usize,
    /// Ordinal in that data set.
    pub clip: u64,
}

/// An output before it is written.
pub(super) struct OutputPlan<'a> {
    pub meta: Meta,
    pub sources: Vec<InputSet<'a>>,
    /// The clips in the order of the output. Groups of draws are whole and together.
    pub picks: Vec<Pick>,
    /// How many consecutive picks are draws of one video. They stay together.
    pub group: u64,
    /// Where the clock of each clip begins. With `None`, times are copied.
    pub clock: Option<ClockStart>,
    pub not_found: Vec<String>,
    pub notes: Vec<String>,
}

impl OutputPlan<'_> {
    /// Plans all clips of a data set, unchanged.
    pub fn whole(set: &Dataset) -> Result<Self> {
        OutputPlan::of(set, (0..set.len()).collect())
    }

    /// Plans some clips of a data set, unchanged.
    pub fn of(set: &Dataset, clips: Vec<u64>) -> Result<Self> {
        let (meta, note) = meta::joined(std::slice::from_ref(set))?;
        Ok(OutputPlan {
            meta,
            group: groups::size(set)?,
            picks: clips.into_iter().map(|clip| Pick { source: 0, clip }).collect(),
            notes: note.into_iter().chain(not_copied(set)?).collect(),
            sources: vec![InputSet { set: set.clone(), describe: Box::new(as_it_is) }],
            clock: None,
            not_found: Vec::new(),
        })
    }

    /// The number of clips of the data sets that are not picked.
    pub fn left_out(&self) -> u64 {
        let all: u64 = self.sources.iter().map(|s| s.set.len()).sum();
        all.saturating_sub(self.picks.len() as u64)
    }
}

/// The unchanged description of a clip.
pub fn as_it_is(clip: &Clip<'_>) -> Result<ClipInfo> {
    Ok(ClipInfo {
        label: clip.label(),
        source: clip.source()?,
        class: clip.class()?,
        attributes: clip.attributes()?,
        width: clip.width(),
        height: clip.height(),
        time_base: clip.time_base(),
        short: clip.is_short(),
    })
}

/// The description of a clip, with its new label.
pub(super) fn renumbered(clip: &Clip<'_>, labels: &[u32]) -> Result<ClipInfo> {
    let mut info = as_it_is(clip)?;
    if let Some(label) = info.label.filter(|_| !labels.is_empty()) {
        let new = labels.get(label as usize).copied();
        info.label = Some(new.ok_or_else(|| {
            Error::format("clip-class", "the clip's label has no class name")
                .in_clip(clip.ordinal())
                .expected(format!("less than {}", labels.len()))
                .found(label)
        })?);
    }
    Ok(info)
}

/// The parts of indexes from other writers that this crate does not know, and so does not copy.
pub(super) fn not_copied(set: &Dataset) -> Result<Vec<String>> {
    let mut notes: Vec<String> = set.shards()?.into_iter().flat_map(unknown_in).collect();
    notes.sort();
    notes.dedup();
    Ok(notes)
}

fn unknown_in(shard: &Shard) -> Vec<String> {
    let sections = shard.index.sections.iter().filter(|s| !SectionId::ALL.contains(&s.id));
    let mut notes: Vec<String> =
        sections.map(|s| format!("section {:?} is unknown to this vidrec, so it is not copied", s.id)).collect();
    let meta = shard.index.sections.iter().find(|s| s.id == SectionId::META);
    let bytes = meta.and_then(|s| proven_bytes(&*shard.index_bytes, s).ok());
    let stored: JsonObject = bytes.and_then(|b| serde_json::from_slice(b).ok()).unwrap_or_default();
    let known = serde_json::to_value(&shard.index.meta).unwrap_or_default();
    let unknown = stored.0.iter().filter(|(key, value)| known.get(key.as_str()).is_none() && !value.is_null());
    notes.extend(
        unknown.map(|(key, _)| format!("key \"{key}\" of META is unknown to this vidrec, so it is not copied")),
    );
    notes
}
