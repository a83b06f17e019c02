//! Finds clips of an episode that a loader cannot pair by time.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Finding, FindingKind};
use super::looking::stops;
use super::naming::found_clip;
use vidrec_core::dataset::{Dataset, different_clocks};
use vidrec_format::error::Result;

/// Returns a finding for each data set with clips that are not known to share a clock with the first clip of their episode.
/// Damage is found elsewhere.
pub(super) fn findings(sets: &[Dataset], episodes: &BTreeMap<(usize, String), Vec<u64>>) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (set, dataset) in sets.iter().enumerate() {
        let (mut apart, mut clips, mut first) = (BTreeSet::new(), Vec::new(), None);
        for ((_, episode), of_episode) in episodes.range((set, String::new())..(set + 1, String::new())) {
            for &clip in &of_episode[1..] {
                let found = match different(dataset, of_episode[0], clip) {
                    Err(e) if stops(&e) => return Err(e),
                    Ok(Some(found)) => found,
                    _ => continue,
                };
                apart.insert(episode);
                clips.push(found_clip(sets, set, clip));
                first.get_or_insert_with(|| format!("the first, of episode {episode}: {found}"));
            }
        }
        if let Some(first) = first {
            let text = match apart.len() {
                1 => format!("the cameras of an episode are not known to share a clock; {first}"),
                n => format!("the cameras of {n} episodes are not known to share a clock; {first}"),
            };
            let (value, videos, frames) = (Some(apart.len() as f64), Vec::new(), Vec::new());
            findings.push(Finding { kind: FindingKind::Clock, clips, videos, frames, value, text });
        }
    }
    Ok(findings)
}

fn different(dataset: &Dataset, one: u64, other: u64) -> Result<Option<String>> {
    different_clocks(&dataset.clip(one)?, &dataset.clip(other)?)
}
