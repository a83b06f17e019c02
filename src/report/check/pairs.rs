//! Finds duplicates, leaks and conflicting labels among clips that show nearly the same.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Finding, FindingKind, FoundClip};
use super::measures::Print;
use super::naming::{Naming, found_clip};
use super::options::CheckOptions;
use super::same::{Same, likeness, same};
use vidrec_core::dataset::{Clip, Dataset};
use vidrec_format::error::Result;

/// A clip that is compared with others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Compared {
    pub set: usize,
    pub clip: u64,
}

/// The most members of a group that are all compared with each other for conflicting labels. In larger groups,
/// each member is compared with this many that follow it.
const LABELS_COMPARED: usize = 256;

/// Returns the findings from comparing all clips with each other. `prints` belong to the clips in `compared`.
pub(super) fn findings(
    sets: &[Dataset],
    compared: &[Compared],
    prints: &[Print],
    options: &CheckOptions,
    go_on: &mut impl FnMut() -> Result<()>,
) -> Result<Vec<Finding>> {
    let across_only = !options.wants(FindingKind::NearDuplicate) && !options.wants(FindingKind::LabelConflict);
    let mut may_be = |a: u32, b: u32| {
        let (a, b) = (compared[a as usize], compared[b as usize]);
        Ok(if a.set == b.set { !across_only && are_different_moments(&sets[a.set], a.clip, b.clip)? } else { true })
    };
    let groups = same(prints, options.distance, &mut may_be, go_on)?;
    let mut findings = Vec::new();
    for group in &groups {
        let of_group = Group { sets, compared, prints, group, limit: options.distance };
        findings.extend(of_group.findings()?.into_iter().filter(|finding| options.wants(finding.kind)));
    }
    Ok(findings)
}

/// Whether it is worth reporting that two clips of a data set show the same. It is not for draws of one video. It
/// is not for segments of one video at different times either, because the camera may stand still.
fn are_different_moments(set: &Dataset, a: u64, b: u64) -> Result<bool> {
    let draws = u64::from(set.draws());
    if a / draws == b / draws {
        return Ok(false);
    }
    let (a, b) = (set.clip(a)?, set.clip(b)?);
    if a.source()? != b.source()? {
        return Ok(true);
    }
    // The clocks of episodes in one file begin with each, so their frames are told apart by their numbers in the file.
    let end = |clip: &Clip<'_>, t: u32| Ok((clip.seconds(t)?, clip.numbered_entry(t)?.1.source_index));
    let ends = |clip: &Clip<'_>| -> Result<_> { Ok([end(clip, 0)?, end(clip, clip.frame_count().saturating_sub(1))?]) };
    Ok(ends(&a)? == ends(&b)?)
}

struct Group<'a> {
    sets: &'a [Dataset],
    compared: &'a [Compared],
    prints: &'a [Print],
    group: &'a Same,
    limit: u32,
}

impl Group<'_> {
    fn findings(&self) -> Result<Vec<Finding>> {
        let mut of_sets: BTreeMap<usize, Vec<FoundClip>> = BTreeMap::new();
        for &member in &self.group.members {
            let Compared { set, clip } = self.compared[member as usize];
            of_sets.entry(set).or_default().push(found_clip(self.sets, set, clip));
        }
        let mut findings = Vec::new();
        if of_sets.len() > 1 {
            let clips: Vec<FoundClip> = of_sets.values().flatten().cloned().collect();
            let text = format!("{} clips of {} data sets show nearly the same", clips.len(), of_sets.len());
            findings.push(self.finding(FindingKind::Leak, self.best_first(clips), text));
        }
        for clips in of_sets.values().filter(|clips| clips.len() > 1) {
            let text = format!("{} clips show nearly the same", clips.len());
            findings.push(self.finding(FindingKind::NearDuplicate, self.best_first(clips.clone()), text));
        }
        let clips: Vec<FoundClip> = of_sets.into_values().flatten().collect();
        findings.extend(self.conflict(&clips)?);
        Ok(findings)
    }

    /// Moves the clip to the front that is to stay if only one does: that with the largest pictures, then with the most
    /// frames, then the first.
    fn best_first(&self, mut clips: Vec<FoundClip>) -> Vec<FoundClip> {
        let worth = |found: &FoundClip| {
            let clip = self.sets[found.set].clip(found.clip);
            clip.map_or((0, 0), |clip| (u64::from(clip.width()) * u64::from(clip.height()), clip.frame_count()))
        };
        let best = (0..clips.len()).max_by_key(|&i| (worth(&clips[i]), Reverse(i)));
        if let Some(best) = best {
            clips[..=best].rotate_right(1);
        }
        clips
    }

    fn finding(&self, kind: FindingKind, clips: Vec<FoundClip>, text: String) -> Finding {
        let Same { distance, mirrored, .. } = self.group;
        let mirrored = if *mirrored { ", some mirrored" } else { "" };
        let text = format!("{text}{mirrored} (up to {distance} of 256 bits differ)");
        Finding { kind, clips, videos: Vec::new(), frames: Vec::new(), value: Some(f64::from(*distance)), text }
    }

    /// Returns the clips that show nearly the same as another one with a different label.
    fn conflict(&self, clips: &[FoundClip]) -> Result<Option<Finding>> {
        // These are in order of data set and clip, like the members.
        let names: Vec<Naming> =
            clips.iter().map(|clip| Naming::of(&self.sets[clip.set], clip)).collect::<Result<_>>()?;
        let (mut conflicting, mut least) = (BTreeSet::new(), None::<u32>);
        for i in 0..clips.len() {
            for j in (i + 1..clips.len()).take(LABELS_COMPARED).filter(|&j| names[i].contradicts(&names[j])) {
                let print = |i: usize| &self.prints[self.group.members[i] as usize];
                if let Some(found) = likeness(print(i), print(j), self.limit) {
                    conflicting.extend([i, j]);
                    least = Some(least.map_or(found.distance, |least| least.min(found.distance)));
                }
            }
        }
        let Some(least) = least else { return Ok(None) };
        let classes: BTreeSet<&str> = conflicting.iter().filter_map(|&i| clips[i].class.as_deref()).collect();
        let text = format!(
            "{} clips show nearly the same and have different labels: {} (as few as {least} of 256 bits differ)",
            conflicting.len(),
            classes.into_iter().collect::<Vec<_>>().join(", ")
        );
        let clips = conflicting.into_iter().map(|i| clips[i].clone()).collect();
        let value = Some(f64::from(least));
        Ok(Some(Finding {
            kind: FindingKind::LabelConflict,
            clips,
            videos: Vec::new(),
            frames: Vec::new(),
            value,
            text,
        }))
    }
}
