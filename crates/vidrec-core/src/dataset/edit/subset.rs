//! Writes some clips of a data set, or all of them, also with other labels, class names, attributes or clocks.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::plan::{self, EditOptions, EditReport, OutputPlan};
use super::selection::{Selection, subset_clips};
use crate::dataset::writer::ClipInfo;
use crate::dataset::{Clip, Dataset};
use crate::progress::ProgressFn;
use vidrec_format::{Error, JsonObject, Result, limits};

/// The clips that a [`Change`] applies to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Key {
    /// All clips of this source.
    Source(String),
    /// The clip with this ordinal.
    Clip(u64),
}

/// A change of some clips.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Which clips.
    pub key: Key,
    /// The new label, a number or a class name. `None` keeps the old one.
    pub label: Option<String>,
    /// Attributes to add or replace; the others stay.
    pub attributes: JsonObject,
}

/// Changes of the clips of a data set: other labels, class names, attributes or clocks.
///
/// If a label is a class name of the data set, it means that class. Otherwise, if all labels of the changes are whole
/// numbers, they are labels. If not, they are names of new classes, which get the next labels. If the labels of the
/// data set are plain integers, it accepts names only if every labeled clip of the output gets one. The names then get
/// labels in byte order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// Changes of some clips. At most one may apply to a clip.
    pub clips: Vec<Change>,
    /// Classes to rename: old and new name. Their labels stay.
    pub renamed_classes: Vec<(String, String)>,
    /// Lets the clock of each clip begin at its first frame: the times of its frames and tracks count from there. Off by
    /// default: clocks stay.
    pub align_clocks: bool,
}

/// Writes some clips of a data set as a new data set, in their order, with their labels, class names and attributes or with
/// changes of these. An item of `progress` is a clip.
///
/// Pictures do not change.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): no clip is chosen; a list names a source that the data set
/// does not have; two changes apply to a clip; a label has no class; a class to
/// rename does not exist, or its new name does; `out` is an
/// input or holds a data set already; or as [`subset_clips`].
/// [`Format`](vidrec_format::error::ErrorKind::Format): the input is damaged.
/// [`Io`](vidrec_format::error::ErrorKind::Io) from the file system.
/// [`Interrupted`](vidrec_format::error::ErrorKind::Interrupted): `progress` stopped the call. Then the existing
/// files are unchanged.
pub fn subset(
    set: &Dataset,
    selection: &Selection,
    changes: &Changes,
    out: impl AsRef<Path>,
    options: &EditOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<EditReport> {
    let (clips, not_found) = subset_clips(set, selection)?;
    if let Some(source) = not_found.first() {
        let e = Error::usage(format!("no clip of the data set comes from {source:?}"));
        return Err(if not_found.len() > 1 { e.found(format!("{} such sources", not_found.len())) } else { e });
    }
    if clips.is_empty() {
        return Err(Error::usage("no clip matches, so there is nothing to write"));
    }
    let table = ChangeTable::new(set, &clips, changes)?;
    let picks = clips.into_iter().map(|clip| (0, clip)).collect();
    let mut plan = OutputPlan::new(std::slice::from_ref(set), 0, picks)?;
    plan.meta.classes.clone_from(&table.classes);
    plan.not_found.clone_from(&table.not_found);
    plan.align_clocks = changes.align_clocks;
    plan.describe = Box::new(|_, clip| table.describe(clip));
    let reports = plan::write_all(&[(plan, out.as_ref().to_owned())], options, progress)?;
    Ok(reports.into_iter().next().unwrap_or_default())
}

/// The changes by clip, with labels as numbers.
struct ChangeTable<'a> {
    classes: Vec<String>,
    renamed: HashMap<&'a str, &'a str>,
    labels: HashMap<&'a str, u32>,
    by_clip: HashMap<u64, &'a Change>,
    not_found: Vec<String>,
}

impl<'a> ChangeTable<'a> {
    /// Resolves changes for an output that has `clips`.
    fn new(set: &Dataset, clips: &[u64], changes: &'a Changes) -> Result<Self> {
        let mut classes = set.classes().to_vec();
        for (old, new) in &changes.renamed_classes {
            if classes.contains(new) {
                return Err(Error::usage(format!("class \"{new}\" already exists"))
                    .help("to join two classes, give the clips of one class the label of the other"));
            }
            let class = classes.iter_mut().find(|class| *class == old);
            class.ok_or_else(|| Error::usage(format!("there is no class \"{old}\"")))?.clone_from(new);
        }
        let renamed = changes.renamed_classes.iter().map(|(old, new)| (old.as_str(), new.as_str())).collect();
        let keys: Vec<&Key> = changes.clips.iter().map(|change| &change.key).collect();
        let (by_clip, not_found) = keys_by_clip(set, &keys)?;
        let by_clip = by_clip.into_iter().map(|(clip, place)| (clip, &changes.clips[place])).collect();
        let mut texts: Vec<&str> = changes.clips.iter().filter_map(|c| c.label.as_deref()).collect();
        texts.sort_unstable();
        texts.dedup();
        if set.classes().is_empty() && !all_numbers(&texts) {
            require_all_named(set, clips, &by_clip)?;
        }
        let labels = number(&texts, &mut classes)?;
        Ok(ChangeTable { classes, renamed, labels, by_clip, not_found })
    }

    fn describe(&self, clip: &Clip<'_>) -> Result<ClipInfo> {
        let mut info = clip.info()?;
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
}

/// The place among `keys` of the one that names each clip, and the keys that name none. A source names all of its clips.
///
/// # Errors
///
/// A clip is named twice, or its entry is damaged.
#[doc(hidden)]
pub fn keys_by_clip(set: &Dataset, keys: &[&Key]) -> Result<(HashMap<u64, usize>, Vec<String>)> {
    let mut places: HashMap<&Key, usize> = HashMap::new();
    for (place, key) in keys.iter().enumerate() {
        if places.insert(key, place).is_some() {
            return Err(Error::usage(format!("{} is named twice", name(key))));
        }
    }
    let (mut used, mut by_clip) = (HashSet::<usize>::new(), HashMap::new());
    for clip in set.clips() {
        let clip = clip?;
        let own = [Key::Clip(clip.ordinal()), Key::Source(clip.source()?)];
        let found: Vec<usize> = own.iter().filter_map(|key| places.get(key).copied()).collect();
        if let [first, second] = found[..] {
            let [first, second] = [keys[first], keys[second]].map(name);
            return Err(Error::usage(format!("clip {} is named as {first} and as {second}", clip.ordinal())));
        }
        used.extend(&found);
        by_clip.extend(found.first().map(|&place| (clip.ordinal(), place)));
    }
    let unused = keys.iter().enumerate().filter(|(place, _)| !used.contains(place));
    let not_found = unused.map(|(_, key)| name(key)).collect();
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
fn require_all_named(set: &Dataset, clips: &[u64], by_clip: &HashMap<u64, &Change>) -> Result<()> {
    for &clip in clips {
        let clip = set.clip(clip)?;
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
    let most = if classes == 0 { limits::MAX_LABEL as usize } else { classes - 1 };
    let label = text.parse::<u32>().ok().filter(|&label| label as usize <= most);
    label.ok_or_else(|| Error::usage(format!("label {text} is out of range")).expected(format!("0 to {most}")))
}
