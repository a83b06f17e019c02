//! Selections of clips and rules of splits, from the dicts that `vidrec/_choice.py` makes of the arguments.

use pyo3::prelude::*;
use vidrec::edit::{ClipList, KeepTogether, RatioSplit, Selection};

/// Clips by ordinal and by source.
type ListArguments = (Vec<u64>, Vec<String>);

fn clip_list((clips, sources): ListArguments) -> ClipList {
    ClipList { clips, sources }
}

/// The conditions of a selection. Every key must be there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct SelectionArguments {
    classes: Vec<String>,
    list: Option<ListArguments>,
    exclude: ListArguments,
    attributes: Vec<(String, String)>,
    sample: Option<u64>,
    seed: u64,
}

impl From<SelectionArguments> for Selection {
    fn from(o: SelectionArguments) -> Selection {
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

/// The rule of a split. Every key must be there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct SplitArguments {
    ratio: Vec<(String, f64)>,
    seed: u64,
    stratify: bool,
    keep_sources: bool,
    /// A number for each clip; instead of `keep_sources`.
    groups: Option<Vec<u64>>,
}

impl From<SplitArguments> for RatioSplit {
    fn from(o: SplitArguments) -> RatioSplit {
        let keep_together = match o.groups {
            Some(groups) => KeepTogether::Groups(groups),
            None if o.keep_sources => KeepTogether::Sources,
            None => KeepTogether::Draws,
        };
        RatioSplit { parts: o.ratio, seed: o.seed, stratify: o.stratify, keep_together }
    }
}
