//! Joins the META of several data sets or shards, and their class names.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::{Map, Value};

use crate::dataset::Dataset;
use vidrec_format::{Error, JsonObject, Meta, Result, SectionId};

/// The key in the settings under which each combination of differing settings is an object.
const MERGED: &str = "merged";

/// Joins the META of all shards of some data sets, and returns a note if they differ. The class names are those of
/// the first.
pub fn joined_meta(sets: &[Dataset]) -> Result<(Meta, Option<String>)> {
    let mut metas: Vec<&Meta> = Vec::new();
    for set in sets {
        metas.extend(set.shards()?.into_iter().map(|shard| &shard.index.meta));
    }
    let (joined, note) = merged_meta(&metas);
    let classes = sets.first().map_or_else(Vec::new, |set| set.classes().to_vec());
    Ok((Meta { classes, ..joined }, note))
}

/// Joins metas: their common settings, the differences under [`MERGED`], and a note on the differences.
pub(crate) fn merged_meta(metas: &[&Meta]) -> (Meta, Option<String>) {
    let rows: Vec<Map<String, Value>> = metas.iter().flat_map(|m| rows(m)).collect();
    let Some(first) = rows.first() else { return (Meta::default(), None) };
    let common = |key: &String, value: &Value| rows.iter().all(|row| row.get(key) == Some(value));
    let same: Map<_, _> = first.iter().filter(|(k, v)| common(k, v)).map(|(k, v)| (k.clone(), v.clone())).collect();
    let mut differing: Vec<Value> = Vec::new();
    for row in &rows {
        let rest = row.iter().filter(|(k, _)| !same.contains_key(*k)).map(|(k, v)| (k.clone(), v.clone()));
        let rest = Value::Object(rest.collect());
        if !differing.contains(&rest) {
            differing.push(rest);
        }
    }
    let mut base = (*metas[0]).clone();
    base.settings = JsonObject(same);
    base.tool =
        text(base.settings.0.remove(TOOL)).unwrap_or_else(|| concat!("vidrec ", env!("CARGO_PKG_VERSION")).into());
    base.ffmpeg = text(base.settings.0.remove(FFMPEG));
    if differing.len() < 2 {
        return (base, None);
    }
    let keys: BTreeSet<&str> =
        differing.iter().filter_map(Value::as_object).flat_map(Map::keys).map(String::as_str).collect();
    let note = format!("the data sets differ in {}", keys.into_iter().collect::<Vec<_>>().join(", "));
    base.settings.0.insert(MERGED.into(), differing.into());
    (base, Some(note))
}

/// Keys for the values of META that are not settings.
const TOOL: &str = "tool";
const FFMPEG: &str = "ffmpeg";

fn text(value: Option<Value>) -> Option<String> {
    value.as_ref().and_then(Value::as_str).map(str::to_owned)
}

/// The settings, tool and FFmpeg version of a data set as one object, or as several if it was merged from others.
fn rows(meta: &Meta) -> Vec<Map<String, Value>> {
    let mut base = meta.settings.0.clone();
    base.entry(TOOL).or_insert_with(|| meta.tool.clone().into());
    if let Some(ffmpeg) = &meta.ffmpeg {
        base.entry(FFMPEG).or_insert_with(|| ffmpeg.clone().into());
    }
    let before = base.get(MERGED).and_then(Value::as_array);
    let Some(before) = before.filter(|rows| !rows.is_empty() && rows.iter().all(Value::is_object)) else {
        return vec![base];
    };
    let before: Vec<Map<String, Value>> = before.iter().filter_map(Value::as_object).cloned().collect();
    base.remove(MERGED);
    let joined = |row: Map<String, Value>| base.clone().into_iter().chain(row).collect();
    before.into_iter().map(joined).collect()
}

/// Joins the class names of the first data set with those that each later data set adds, in their order. Returns also the
/// new label for each old label of each data set; nothing for one without class names, whose labels stay.
///
/// Nothing says which plain integer stands for which name, so a mixture is an error.
pub fn joined_classes(sets: &[Dataset]) -> Result<(Vec<String>, Vec<Vec<u32>>)> {
    let (mut classes, mut new_labels) = (Vec::new(), Vec::new());
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
                classes.push(name.clone());
                classes.len() as u32 - 1
            }));
        }
        new_labels.push(labels);
    }
    refuse_plain_labels(sets, classes.is_empty())?;
    Ok((classes, new_labels))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn meta(settings: Value, tool: &str) -> Meta {
        Meta::from_json(json!({"settings": settings, "tool": tool}).to_string().as_bytes()).unwrap()
    }

    #[test]
    fn settings_that_differ_are_listed_and_merging_again_keeps_the_list_flat() {
        let (a, b) = (meta(json!({"frames": 8, "quality": 90}), "t"), meta(json!({"frames": 8, "quality": 80}), "t"));
        let (ab, note) = merged_meta(&[&a, &b, &a]);
        assert_eq!(
            ab.settings,
            JsonObject::of(json!({"frames": 8, "merged": [{"quality": 90}, {"quality": 80}]})).unwrap()
        );
        assert_eq!(ab.tool, "t");
        assert!(note.unwrap().ends_with("differ in quality"));
        let (abc, _) = merged_meta(&[&ab, &meta(json!({"frames": 4, "quality": 90}), "t")]);
        let flat = json!([{"frames": 8, "quality": 90}, {"frames": 8, "quality": 80}, {"frames": 4, "quality": 90}]);
        assert_eq!(abc.settings, JsonObject::of(json!({"merged": flat})).unwrap());
        let (other_tool, _) = merged_meta(&[&a, &meta(json!({"frames": 8, "quality": 90}), "u")]);
        assert_eq!(other_tool.settings.0["merged"], json!([{"tool": "t"}, {"tool": "u"}]));
        assert_eq!(merged_meta(&[&a, &a]), (a, None));
    }
}
