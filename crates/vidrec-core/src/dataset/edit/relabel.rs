//! New labels, class names, attributes or clocks for the clips of a data set.

use std::collections::HashMap;
use std::path::Path;

use super::options::EditOptions;
use super::output_plan::{OutputPlan, as_it_is};
use super::report::EditReport;
use super::{copy, relink};
use crate::dataset::clock::ClockStart;
use crate::dataset::writer::ClipInfo;
use crate::dataset::{Clip, Dataset};
use crate::progress::ProgressFn;
use vidrec_format::error::{Error, Result};
use vidrec_format::json_object::JsonObject;
use vidrec_format::limits;

/// The clips that a [`Change`] applies to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Key {
    /// All clips of this source.
    Source(String),
    /// The clip with this ordinal.
    Clip(u64),
}

/// What changes for some clips.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Which clips.
    pub key: Key,
    /// The new label, a number or a class name. `None` keeps the old one.
    pub label: Option<String>,
    /// Attributes to add or replace; the others stay.
    pub attributes: JsonObject,
}

/// Everything that changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Relabeling {
    /// Changes of clips. At most one change may apply to a clip.
    pub changes: Vec<Change>,
    /// Classes to rename: old and new name. Their labels stay.
    pub renamed_classes: Vec<(String, String)>,
    /// Where the clock of each clip begins: the times of its frames and tracks count from there. Default `None`: clocks stay.
    pub clock: Option<ClockStart>,
}

/// Writes a data set with other labels, class names, attributes or clocks for the same clips. An item of `progress` is a clip.
///
/// If a label is a class name of the data set, it means that class. Otherwise, if all labels of the changes are whole
/// numbers, they are labels. If not, they are names of new classes, which get the next labels. If the labels of the
/// data set are plain integers, it accepts names only if every labeled clip gets one. The names then get labels in
/// byte order.
///
/// Pictures do not change. For readers of plain RecordIO, every record also contains its clip's label. So if a label
/// changes, this writes new record files, and reads and writes all bytes once. If no label changes (classes are
/// renamed, attributes change), no clock does, and `options.shards` is `None`, the output shares the record files with the input
/// through hard links, and only indexes are written. The files are copied instead if links are not possible, or if
/// the input is remote or a selection of clips.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): two changes apply to a clip; a label has no class; a class to
/// rename does not exist, or its new name does; a clip does not have the track that its clock is to begin with. Otherwise as [`reshard`](super::reshard).
pub fn relabel(
    set: &Dataset,
    relabeling: &Relabeling,
    out: impl AsRef<Path>,
    options: &EditOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<EditReport> {
    let table = Table::resolve(set, relabeling)?;
    let mut plan = OutputPlan::whole(set)?;
    plan.meta.classes.clone_from(&table.classes);
    plan.not_found.clone_from(&table.not_found);
    plan.sources[0].describe = Box::new(|clip| table.describe(clip));
    // Only whole local files can be linked to.
    plan.clock.clone_from(&relabeling.clock);
    let can_link = options.shards.is_none() && relabeling.clock.is_none() && !set.is_remote() && !set.is_selection();
    if can_link && !table.changes_a_label(set)? {
        return relink::run(set, &plan, out.as_ref(), options, progress);
    }
    copy::run_one(&plan, out.as_ref(), options, progress)
}

/// The changes by clip, with labels as numbers.
struct Table<'a> {
    classes: Vec<String>,
    renamed: HashMap<&'a str, &'a str>,
    labels: HashMap<&'a str, u32>,
    by_clip: HashMap<u64, &'a Change>,
    not_found: Vec<String>,
}

impl<'a> Table<'a> {
    fn resolve(set: &Dataset, relabeling: &'a Relabeling) -> Result<Self> {
        let mut classes = set.classes().to_vec();
        for (old, new) in &relabeling.renamed_classes {
            rename(&mut classes, old, new)?;
        }
        let renamed = relabeling.renamed_classes.iter().map(|(old, new)| (old.as_str(), new.as_str())).collect();
        let (by_clip, not_found) = changes_by_clip(set, &relabeling.changes)?;
        let mut texts: Vec<&str> = relabeling.changes.iter().filter_map(|c| c.label.as_deref()).collect();
        texts.sort_unstable();
        texts.dedup();
        if set.classes().is_empty() && !all_numbers(&texts) {
            require_all_named(set, &by_clip)?;
        }
        let labels = number(&texts, &mut classes)?;
        Ok(Table { classes, renamed, labels, by_clip, not_found })
    }

    fn describe(&self, clip: &Clip<'_>) -> Result<ClipInfo> {
        let mut info = as_it_is(clip)?;
        if let Some(new) = self.renamed.get(info.class.as_str()) {
            info.class = (*new).to_owned();
        }
        let Some(change) = self.by_clip.get(&clip.ordinal()) else { return Ok(info) };
        if let Some(&label) = change.label.as_ref().and_then(|text| self.labels.get(text.as_str())) {
            let class = self.classes.get(label as usize).cloned();
            if info.label != Some(label) || class.is_some() {
                info.class = class.unwrap_or_default();
            }
            info.label = Some(label);
        }
        info.attributes.0.extend(change.attributes.0.clone());
        Ok(info)
    }

    fn changes_a_label(&self, set: &Dataset) -> Result<bool> {
        for &ordinal in self.by_clip.keys() {
            let clip = set.clip(ordinal)?;
            if self.describe(&clip)?.label != clip.label() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn rename(classes: &mut [String], old: &str, new: &str) -> Result<()> {
    if classes.iter().any(|class| class == new) {
        return Err(Error::usage(format!("class \"{new}\" already exists"))
            .help("to join two classes, give the clips of one class the label of the other"));
    }
    let class = classes.iter_mut().find(|class| *class == old);
    let class = class.ok_or_else(|| Error::usage(format!("there is no class \"{old}\"")))?;
    new.clone_into(class);
    Ok(())
}

/// The change for each clip, and the keys that match no clip.
fn changes_by_clip<'a>(set: &Dataset, changes: &'a [Change]) -> Result<(HashMap<u64, &'a Change>, Vec<String>)> {
    let mut by_key: HashMap<&Key, &Change> = HashMap::new();
    for change in changes {
        if by_key.insert(&change.key, change).is_some() {
            return Err(Error::usage(format!("{} is changed twice", name(&change.key))));
        }
    }
    let mut used = std::collections::HashSet::new();
    let mut by_clip = HashMap::new();
    for clip in set.clips() {
        let clip = clip?;
        let keys = [Key::Clip(clip.ordinal()), Key::Source(clip.source()?)];
        let found: Vec<&Change> = keys.iter().filter_map(|key| by_key.get(key).copied()).collect();
        if let [first, second] = found[..] {
            let what =
                format!("clip {} is changed as {} and as {}", clip.ordinal(), name(&first.key), name(&second.key));
            return Err(Error::usage(what));
        }
        if let Some(&change) = found.first() {
            used.insert(&change.key);
            by_clip.insert(clip.ordinal(), change);
        }
    }
    let not_found = changes.iter().filter(|c| !used.contains(&c.key)).map(|c| name(&c.key)).collect();
    Ok((by_clip, not_found))
}

fn name(key: &Key) -> String {
    match key {
        Key::Source(source) => source.clone(),
        Key::Clip(ordinal) => format!("clip {ordinal}"),
    }
}

fn all_numbers(texts: &[&str]) -> bool {
    texts.iter().all(|text| text.parse::<u64>().is_ok())
}

/// Checks that labels do not stay integers for some clips while others get names.
fn require_all_named(set: &Dataset, by_clip: &HashMap<u64, &Change>) -> Result<()> {
    for clip in set.clips() {
        let clip = clip?;
        let named = by_clip.get(&clip.ordinal()).is_some_and(|change| change.label.is_some());
        if let (Some(label), false) = (clip.label(), named) {
            return Err(Error::usage("the labels have no class names, and the change would name only some of them")
                .in_clip(clip.ordinal())
                .found(format!("label {label}"))
                .help("name the label of every clip, or of none"));
        }
    }
    Ok(())
}

/// Returns the number of each label, and adds new classes to the list.
fn number<'a>(texts: &[&'a str], classes: &mut Vec<String>) -> Result<HashMap<&'a str, u32>> {
    let mut labels: HashMap<&str, u32> = HashMap::new();
    let places: HashMap<String, u32> = (0..).zip(classes.iter()).map(|(i, c)| (c.clone(), i)).collect();
    let unknown: Vec<&str> = texts.iter().copied().filter(|text| !places.contains_key(*text)).collect();
    if let Some(negative) = unknown.iter().find(|text| is_negative(text)) {
        return Err(Error::usage(format!("label {negative} is negative"))
            .expected(format!("0 to {}, or a class name", limits::MAX_LABEL))
            .help("an empty cell leaves the label as it is"));
    }
    let numbers = all_numbers(&unknown);
    for &text in texts {
        let label = match places.get(text) {
            Some(&place) => place,
            None if numbers => parse(text, classes.len())?,
            None => {
                classes.push(text.to_owned());
                classes.len() as u32 - 1
            }
        };
        labels.insert(text, label);
    }
    Ok(labels)
}

/// Whether a label is a negative number. It is then not the name of a class: other tools write it for clips without a
/// label.
fn is_negative(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|n| n.starts_with(|c: char| c.is_ascii_digit()) && n.parse::<f64>().is_ok())
}

fn parse(text: &str, classes: usize) -> Result<u32> {
    let label = text.parse::<u32>().ok().filter(|&label| label <= limits::MAX_LABEL as u32);
    let known = label.filter(|&label| classes == 0 || (label as usize) < classes);
    known.ok_or_else(|| {
        let most = if classes == 0 { limits::MAX_LABEL as usize } else { classes - 1 };
        Error::usage(format!("label {text} is out of range")).expected(format!("0 to {most}"))
    })
}
