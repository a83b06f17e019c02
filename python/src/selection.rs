//! Which clips to choose and how to split, from the dicts that `vidrec/_choice.py` makes of the arguments.

use pyo3::prelude::*;
use vidrec::edit::{ClipList, KeepTogether, RatioSplit, Selection, SplitBy};

/// Clips by ordinal and by source.
type Listed = (Vec<u64>, Vec<String>);

fn clip_list((clips, sources): Listed) -> ClipList {
    ClipList { clips, sources }
}

/// Which clips to choose. Every key must be there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Chosen {
    classes: Vec<String>,
    list: Option<Listed>,
    exclude: Listed,
    attributes: Vec<(String, String)>,
    sample: Option<u64>,
    seed: u64,
}

impl From<Chosen> for Selection {
    fn from(o: Chosen) -> Selection {
        Selection {
            classes: o.classes,
            list: o.list.map(clip_list),
            exclude: clip_list(o.exclude),
            attributes: o.attributes,
            sample: o.sample,
            seed: o.seed,
        }
    }
}

/// How to split: by an attribute, by lists, or by ratio. Every key must be there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Parts {
    attribute: Option<String>,
    lists: Option<Vec<(String, Listed)>>,
    ratio: Vec<(String, f64)>,
    seed: u64,
    stratify: bool,
    keep_sources: bool,
    /// A number for each clip; instead of `keep_sources`.
    groups: Option<Vec<u64>>,
}

impl From<Parts> for SplitBy {
    fn from(o: Parts) -> SplitBy {
        if let Some(attribute) = o.attribute {
            return SplitBy::Attribute(attribute);
        }
        if let Some(lists) = o.lists {
            return SplitBy::Lists(lists.into_iter().map(|(name, list)| (name, clip_list(list))).collect());
        }
        let keep_together = match o.groups {
            Some(groups) => KeepTogether::Groups(groups),
            None if o.keep_sources => KeepTogether::Sources,
            None => KeepTogether::Draws,
        };
        SplitBy::Ratio(RatioSplit { parts: o.ratio, seed: o.seed, stratify: o.stratify, keep_together })
    }
}
