//! One list of class names for several data sets.

use std::collections::{HashMap, HashSet};

use super::data_set::Dataset;
use super::tables::Tables;
use vidrec_format::error::{Error, Result};

/// The class names of all data sets, and the new labels of each data set.
pub struct JoinedClasses {
    pub classes: Vec<String>,
    /// The new label for each old label. Empty for a data set without class names, whose labels stay.
    pub labels: Vec<Vec<u32>>,
}

/// Joins the names of the first data set with those that each later data set adds, in their order.
///
/// Nothing says which plain integer stands for which name, so a mixture is an error.
pub fn joined_classes(sets: &[Dataset]) -> Result<JoinedClasses> {
    let mut union = JoinedClasses { classes: Vec::new(), labels: Vec::new() };
    let mut places: HashMap<String, u32> = HashMap::new();
    for set in sets {
        let mut labels = Vec::new();
        let mut seen: HashSet<&str> = HashSet::new();
        for name in set.classes() {
            // A name that occurs twice in a list would move clips to another class.
            if !seen.insert(name) {
                return Err(repeated(set, name));
            }
            let place = match places.get(name) {
                Some(&place) => place,
                None => {
                    let place = union.classes.len() as u32;
                    union.classes.push(name.clone());
                    places.insert(name.clone(), place);
                    place
                }
            };
            labels.push(place);
        }
        union.labels.push(labels);
    }
    if union.classes.is_empty() {
        refuse_two_names(sets)?
    } else {
        refuse_integers(sets)?
    }
    Ok(union)
}

fn place(set: &Dataset) -> &std::path::Path {
    set.record_files().next().unwrap_or(std::path::Path::new(""))
}

fn repeated(set: &Dataset, name: &str) -> Error {
    Error::usage(format!("class \"{name}\" is in the list of classes twice")).file(place(set))
}

/// Refuses data sets that have labels without class names, if others have class names.
fn refuse_integers(sets: &[Dataset]) -> Result<()> {
    for set in sets.iter().filter(|s| s.classes().is_empty()) {
        set.prefetch_all(Tables { clips: true, ..Tables::default() })?;
        for clip in set.clips() {
            let clip = clip?;
            if let Some(label) = clip.label() {
                return Err(Error::usage(
                    "the labels of this data set have no class names, but those of another data set do",
                )
                .file(place(set))
                .in_clip(clip.ordinal())
                .found(format!("label {label}"))
                .help("first give these labels class names"));
            }
        }
    }
    Ok(())
}

/// Refuses an integer label that stands for two names. Labels can be integers although clips carry names.
fn refuse_two_names(sets: &[Dataset]) -> Result<()> {
    if sets.len() < 2 {
        return Ok(());
    }
    let mut names: HashMap<u32, String> = HashMap::new();
    for set in sets {
        set.prefetch_all(Tables { clips: true, frames: false, strings: true })?;
        for clip in set.clips() {
            let clip = clip?;
            let (Some(label), class) = (clip.label(), clip.class()?) else { continue };
            if class.is_empty() {
                continue;
            }
            let known = names.entry(label).or_insert_with(|| class.clone());
            if *known != class {
                return Err(Error::usage(format!("label {label} stands for two classes"))
                    .file(place(set))
                    .in_clip(clip.ordinal())
                    .expected(format!("\"{known}\""))
                    .found(format!("\"{class}\"")));
            }
        }
    }
    Ok(())
}
