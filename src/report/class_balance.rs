//! Shows the classes of all data sets side by side.

use std::collections::BTreeMap;

use serde::Serialize;

use super::figures::SetFigures;

/// A class, and its clips in each data set.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct ClassRow<'a> {
    name: &'a str,
    /// The label of a class without a name. A class with a name may have a different label in each data set.
    label: Option<u32>,
    clips: Vec<u64>,
}

/// The classes with the most clips, and the totals of the other classes.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct ClassBalance<'a> {
    classes: Vec<ClassRow<'a>>,
    other_classes: usize,
    other_clips: Vec<u64>,
}

/// The most classes that a page lists.
const MOST: usize = 5000;

impl<'a> ClassBalance<'a> {
    pub fn of(sets: &'a [SetFigures]) -> Self {
        let mut rows: BTreeMap<(&str, Option<u32>), Vec<u64>> = BTreeMap::new();
        for (at, set) in sets.iter().enumerate() {
            for class in &set.stats.classes {
                // A class with a name is the same under any label.
                let label = if class.class.is_empty() { class.label } else { None };
                let clips = rows.entry((&class.class, label)).or_insert_with(|| vec![0; sets.len()]);
                clips[at] += class.clips;
            }
        }
        let row = |((name, label), clips)| ClassRow { name, label, clips };
        let mut classes: Vec<ClassRow<'_>> = rows.into_iter().map(row).collect();
        classes.sort_by_key(|row| std::cmp::Reverse(row.clips.iter().sum::<u64>()));
        let others = classes.split_off(classes.len().min(MOST));
        let other_clips = (0..sets.len()).map(|at| others.iter().map(|row| row.clips[at]).sum()).collect();
        ClassBalance { classes, other_classes: others.len(), other_clips }
    }
}
