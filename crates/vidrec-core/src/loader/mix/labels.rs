//! The new labels of the sources of a mix.

use crate::dataset::{Clip, Dataset, joined_classes};
use serde::{Deserialize, Serialize};
use vidrec_format::error::{Error, Result};

/// The rule for the labels of a [`Mix`](super::Mix).
///
/// As JSON (serde): `"joined"` or `"separate"`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum MixLabels {
    /// Classes are joined by name, as [`merge`](crate::dataset::edit::merge) joins them. Those of the first source
    /// keep their labels, and new names get the next labels. If no source has class names, labels do not change.
    /// The default.
    #[default]
    Joined,
    /// Each source has labels of its own. Those of the second source begin after those of the first, and so on.
    Separate,
}

/// The new labels of all sources.
#[derive(Debug)]
pub(super) struct LabelMaps {
    /// Class names by new label; empty where there are none.
    pub classes: Vec<String>,
    maps: Vec<LabelMap>,
}

#[derive(Debug)]
enum LabelMap {
    /// The new label is the old one plus `by`, if the old one is less than `count`.
    Plus { by: i64, count: u64 },
    /// The new label by old label.
    List(Vec<u32>),
}

impl LabelMap {
    /// Adds `by` to the labels of a data set. If labels have names, only those with a name are valid.
    fn plus(by: i64, set: &Dataset) -> Self {
        let count = if set.classes().is_empty() { 1 << u32::BITS } else { set.classes().len() as u64 };
        LabelMap::Plus { by, count }
    }
}

impl LabelMaps {
    pub fn new(labels: &MixLabels, names: &[String], sets: &[Dataset]) -> Result<Self> {
        match labels {
            MixLabels::Joined => LabelMaps::joined(sets),
            MixLabels::Separate => LabelMaps::separate(names, sets),
        }
    }

    /// The new label of a clip of a source; -1 for none.
    pub fn of(&self, source: usize, clip: &Clip<'_>) -> Result<i64> {
        let Some(label) = clip.label() else { return Ok(-1) };
        let new = match self.maps.get(source) {
            Some(&LabelMap::Plus { by, count }) => (u64::from(label) < count).then_some(i64::from(label) + by),
            Some(LabelMap::List(list)) => list.get(label as usize).copied().map(i64::from),
            None => None,
        };
        new.ok_or_else(|| {
            Error::format("clip-class", format!("label {label} has no class name")).in_clip(clip.ordinal())
        })
    }

    fn joined(sets: &[Dataset]) -> Result<Self> {
        let joined = joined_classes(sets)?;
        let map = |(labels, set): (Vec<u32>, &Dataset)| {
            if labels.is_empty() { LabelMap::plus(0, set) } else { LabelMap::List(labels) }
        };
        Ok(LabelMaps { classes: joined.classes, maps: joined.labels.into_iter().zip(sets).map(map).collect() })
    }

    fn separate(names: &[String], sets: &[Dataset]) -> Result<Self> {
        let (mut offset, mut maps) = (0, Vec::new());
        for set in sets {
            maps.push(LabelMap::plus(offset, set));
            offset += match set.classes().len() {
                0 => set.labels()?.into_iter().flatten().max().map_or(0, |most| i64::from(most) + 1),
                named => named as i64,
            };
        }
        let named = |(name, set): (&String, &Dataset)| -> Vec<String> {
            set.classes().iter().map(|class| format!("{name}/{class}")).collect()
        };
        let all_named = sets.iter().all(|set| !set.classes().is_empty());
        let classes = if all_named { names.iter().zip(sets).flat_map(named).collect() } else { Vec::new() };
        Ok(LabelMaps { classes, maps })
    }
}
