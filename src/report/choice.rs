//! Chooses the clips that a page shows: all, or some of each class.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use crate::report::check::Finding;
use vidrec_format::random::{Random, stream};

/// A clip of one of the data sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub(super) struct Chosen {
    pub set: usize,
    pub clip: u64,
}

/// The label of each clip of a data set.
pub(super) type Labels = Vec<Option<u32>>;

/// Returns at most `most` clips in the order in which they are worth showing. Clips of findings come first. If not
/// all clips have room, these take at most half of it. The others follow in turn, one of each class.
///
/// A prefix of any length therefore has as many clips of each class as possible.
pub(super) fn by_worth(labels: &[Labels], findings: &[Finding], most: u64, seed: u64) -> Vec<Chosen> {
    let all: u64 = labels.iter().map(|labels| labels.len() as u64).sum();
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let of_findings = if all <= most as u64 { most } else { most / 2 };
    let mut seen = HashSet::new();
    let mut chosen: Vec<Chosen> = Vec::new();
    for found in findings.iter().flat_map(|finding| &finding.clips) {
        let clip = Chosen { set: found.set, clip: found.clip };
        if chosen.len() < of_findings && seen.insert(clip) {
            chosen.push(clip);
        }
    }
    let others = in_turn(labels, seed).into_iter().filter(|clip| !seen.contains(clip));
    chosen.extend(others.take(most - chosen.len().min(most)));
    chosen
}

/// Returns all clips: one of each class of each data set, then a second one of each, and so on.
fn in_turn(labels: &[Labels], seed: u64) -> Vec<Chosen> {
    let mut turns: Vec<(usize, u32, Chosen)> = Vec::new();
    for (set, labels) in labels.iter().enumerate() {
        let mut classes: BTreeMap<Option<u32>, Vec<(u32, u64)>> = BTreeMap::new();
        let mut random = Random::new(seed, &[stream::REPORT, set as u64]);
        for (clip, &label) in (0..).zip(labels) {
            classes.entry(label).or_default().push((random.next_u32(), clip));
        }
        for mut clips in classes.into_values() {
            clips.sort_unstable();
            turns.extend(clips.into_iter().enumerate().map(|(turn, (key, clip))| (turn, key, Chosen { set, clip })));
        }
    }
    turns.sort_unstable();
    turns.into_iter().map(|(_, _, clip)| clip).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(of: impl IntoIterator<Item = u32>) -> Labels {
        of.into_iter().map(Some).collect()
    }

    #[test]
    fn each_class_has_its_turn() {
        let labels = [labels((0..1000).map(|i| if i < 990 { 0 } else { 1 + i % 5 }))];
        let chosen = by_worth(&labels, &[], 18, 0);
        let of = |label: u32| chosen.iter().filter(|c| labels[0][c.clip as usize] == Some(label)).count();
        assert_eq!((chosen.len(), of(0), of(1), of(5)), (18, 8, 2, 2));
        assert_eq!(by_worth(&labels, &[], 12, 0), chosen[..12]);
        assert_eq!(by_worth(&labels, &[], 18, 0), chosen);
        assert_ne!(by_worth(&labels, &[], 18, 1), chosen);
    }

    #[test]
    fn all_clips_are_chosen_once_if_there_is_room() {
        let labels = [labels((0..50).map(|i| i % 3)), labels((0..20).map(|i| i % 7))];
        let mut chosen = by_worth(&labels, &[], 1000, 5);
        chosen.sort_unstable();
        chosen.dedup();
        assert_eq!(chosen.len(), 70);
        assert!(by_worth(&labels, &[], 0, 5).is_empty());
    }
}
