//! The class names and settings of each shard, from wherever they survive.

use std::collections::BTreeMap;

use super::old_index::OldIndex;
use super::report::RepairReport;
use super::shards::Files;
use vidrec_format::meta::Meta;

/// The META of each shard: its own, or else that of another shard, or else that of `dataset.json`.
pub(super) fn metas(files: &Files, indexes: &[OldIndex<'_>], report: &mut RepairReport) -> Vec<Meta> {
    let known = indexes.iter().find_map(|old| old.meta.clone());
    // `dataset.json` has all keys of META, and more.
    let mut listed = files.listing.as_ref().and_then(|l| Meta::from_json(&l.to_bytes()).ok());
    if let (None, Some(listed)) = (&known, &mut listed) {
        correct_classes(&mut listed.classes, indexes);
    }
    let from = match (&known, &listed) {
        (Some(_), _) => "vidrec uses those of another shard",
        (None, Some(_)) => "vidrec uses those in dataset.json, which has no checksum",
        (None, None) => "no other file has them",
    };
    let fallback = known.or(listed).unwrap_or_default();
    for (shard, _) in files.shards.iter().zip(indexes).filter(|(_, old)| old.meta.is_none()) {
        report.damage.push(format!("{}: class names and settings are lost; {from}", shard.name()));
    }
    // Readers refuse shards with different class names, so the first ones count.
    let classes = fallback.classes.clone();
    let meta =
        |old: &OldIndex<'_>| old.meta.clone().filter(|m| m.classes == classes).unwrap_or_else(|| fallback.clone());
    indexes.iter().map(meta).collect()
}

/// Corrects a list of class names that has no checksum by the names in intact clip entries. Clears a list that does not
/// match the clips.
fn correct_classes(classes: &mut Vec<String>, indexes: &[OldIndex<'_>]) {
    let mut proven: BTreeMap<u32, String> = BTreeMap::new();
    for (label, class) in indexes.iter().flat_map(OldIndex::labels) {
        let known = proven.entry(label).or_default();
        if known.is_empty() {
            known.clone_from(&class);
        }
        if label as usize >= classes.len() || (!class.is_empty() && *known != class) {
            return classes.clear();
        }
    }
    for (label, class) in proven.into_iter().filter(|(_, class)| !class.is_empty()) {
        class.clone_into(&mut classes[label as usize]);
    }
}
