//! Names clips in findings, and decides whether the labels of two clips contradict each other.

use super::finding::FoundClip;
use vidrec_core::dataset::{Clip, Dataset};
use vidrec_format::error::Result;

/// Names a clip. Parts that cannot be read stay empty, and are findings of their own.
pub(super) fn found_clip(sets: &[Dataset], set: usize, clip: u64) -> FoundClip {
    let entry = sets[set].clip(clip);
    let source = entry.as_ref().ok().and_then(|clip| clip.source().ok()).unwrap_or_default();
    let class = entry.as_ref().ok().and_then(class_of);
    FoundClip { set, clip, source, class }
}

/// Returns the class, or the labels as text.
fn class_of(clip: &Clip<'_>) -> Option<String> {
    match &*clip.class().ok()? {
        "" => {
            let labels: Vec<String> = clip.labels().ok()?.iter().map(u32::to_string).collect();
            (!labels.is_empty()).then(|| labels.join(", "))
        }
        class => Some(class.to_owned()),
    }
}

/// The label of a clip in a form that can be compared with others.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// A class name.
    Class(String),
    /// Numbers, in order, without names.
    Labels(Vec<u32>),
    None,
}

impl Naming {
    pub fn of(set: &Dataset, found: &FoundClip) -> Result<Self> {
        let clip = set.clip(found.clip)?;
        if !clip.class()?.is_empty() {
            return Ok(Naming::Class(clip.class()?));
        }
        let mut labels = clip.labels()?;
        labels.sort_unstable();
        Ok(if labels.is_empty() { Naming::None } else { Naming::Labels(labels) })
    }

    /// Whether two labels are of the same kind and differ.
    pub fn contradicts(&self, other: &Naming) -> bool {
        match (self, other) {
            (Naming::Class(a), Naming::Class(b)) => a != b,
            (Naming::Labels(a), Naming::Labels(b)) => a != b,
            _ => false,
        }
    }
}
