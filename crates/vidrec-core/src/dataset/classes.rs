//! One list of class names for several data sets.

use std::collections::{HashMap, HashSet};

use crate::dataset::Dataset;
use vidrec_format::{Error, Result, SectionId};

/// The class names of all data sets, and the new labels of each data set.
pub struct JoinedClasses {
    /// The names.
    pub classes: Vec<String>,
    /// The new label for each old label. Empty for a data set without class names, whose labels stay.
    pub labels: Vec<Vec<u32>>,
}

/// Joins the names of the first data set with those that each later data set adds, in their order.
///
/// Nothing says which plain integer stands for which name, so a mixture is an error.
pub fn joined_classes(sets: &[Dataset]) -> Result<JoinedClasses> {
    let mut joined = JoinedClasses { classes: Vec::new(), labels: Vec::new() };
    let mut label_of: HashMap<String, u32> = HashMap::new();
    for set in sets {
        let (mut labels, mut seen) = (Vec::new(), HashSet::new());
        for name in set.classes() {
            // A name that occurs twice in a list would move clips to another class.
            if !seen.insert(name) {
                let e = Error::usage(format!("class \"{name}\" is in the list of classes twice"));
                return Err(e.file(set.first_file()));
            }
            labels.push(*label_of.entry(name.clone()).or_insert_with(|| {
                joined.classes.push(name.clone());
                joined.classes.len() as u32 - 1
            }));
        }
        joined.labels.push(labels);
    }
    refuse_plain_labels(sets, joined.classes.is_empty())?;
    Ok(joined)
}

/// Refuses labels without class names in a data set without a list of classes: if others have one, and, where none has, if
/// clips of two classes have the same label. Labels can be integers although clips carry names.
fn refuse_plain_labels(sets: &[Dataset], have_no_lists: bool) -> Result<()> {
    let mut names: HashMap<u32, String> = HashMap::new();
    for set in sets.iter().filter(|set| sets.len() > 1 && set.classes().is_empty()) {
        set.prefetch_all(&[SectionId::CLIPS, SectionId::STRINGS])?;
        for clip in set.clips() {
            let clip = clip?;
            let Some(label) = clip.label() else { continue };
            let fault = |what: &str| Error::usage(what.to_owned()).file(set.first_file()).in_clip(clip.ordinal());
            if !have_no_lists {
                let e = fault("the labels of this data set have no class names, but those of another data set do");
                return Err(e.found(format!("label {label}")).help("first give these labels class names"));
            }
            let class = clip.class()?;
            if !class.is_empty() && *names.entry(label).or_insert_with(|| class.clone()) != class {
                let e = fault(&format!("label {label} stands for two classes"));
                return Err(e.expected(format!("\"{}\"", names[&label])).found(format!("\"{class}\"")));
            }
        }
    }
    Ok(())
}
