//! Finds duplicates, leaks and conflicting labels among clips that show nearly the same.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::finding::{CheckOptions, Finding, FindingKind, FoundClip};
use super::hash::Hash;
use super::measures::{ClipHash, SLOTS};
use super::nearest::{Keyed, near_pairs};
use crate::{Clip, Dataset, Error, Result, limits};

/// A clip that is compared with others.
#[derive(Debug)]
pub(super) struct ComparedClip {
    pub set: usize,
    pub clip: u64,
    pub hash: ClipHash,
}

/// The most members of a group that are all compared with each other for conflicting labels. In larger groups,
/// each member is compared with this many that follow it.
const LABELS_COMPARED: usize = 256;

/// Returns the findings from comparing clips with each other.
pub(super) fn findings(
    sets: &[Dataset],
    compared: &[ComparedClip],
    options: &CheckOptions,
    go_on: &mut impl FnMut() -> Result<()>,
) -> Result<Vec<Finding>> {
    let across_only = !options.wants(FindingKind::NearDuplicate) && !options.wants(FindingKind::LabelConflict);
    let mut may_be = |a: u32, b: u32| {
        let (a, b) = (&compared[a as usize], &compared[b as usize]);
        Ok(if a.set == b.set { !across_only && are_different_moments(&sets[a.set], a.clip, b.clip)? } else { true })
    };
    let groups = similar_clips(compared, options.distance, &mut may_be, go_on)?;
    let mut findings = Vec::new();
    for group in &groups {
        let of_group = Group { sets, compared, group, limit: options.distance };
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
    let end = |clip: &Clip<'_>, t: u32| Ok((clip.seconds(t)?, clip.frame_entry(t)?.source_index));
    let ends = |clip: &Clip<'_>| -> Result<_> { Ok([end(clip, 0)?, end(clip, clip.frame_count().saturating_sub(1))?]) };
    Ok(ends(&a)? == ends(&b)?)
}

struct Group<'a> {
    sets: &'a [Dataset],
    compared: &'a [ComparedClip],
    group: &'a SimilarClips,
    limit: u32,
}

impl Group<'_> {
    fn findings(&self) -> Result<Vec<Finding>> {
        let mut of_sets: BTreeMap<usize, Vec<FoundClip>> = BTreeMap::new();
        for &member in &self.group.members {
            let ComparedClip { set, clip, .. } = self.compared[member as usize];
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
        let SimilarClips { distance, mirrored, .. } = self.group;
        let mirrored = if *mirrored { ", some mirrored" } else { "" };
        let text = format!("{text}{mirrored} (up to {distance} of 256 bits differ)");
        Finding { clips, ..Finding::new(kind, Some(f64::from(*distance)), text) }
    }

    /// Returns the clips that show nearly the same as another one with a different label.
    fn conflict(&self, clips: &[FoundClip]) -> Result<Option<Finding>> {
        // These are in order of data set and clip, like the members.
        let labels = clips.iter().map(|found| label(&self.sets[found.set].clip(found.clip)?));
        let labels: Vec<Option<(bool, String)>> = labels.collect::<Result<_>>()?;
        let contradict = |i: usize, j: usize| match (&labels[i], &labels[j]) {
            (Some((is_class, one)), Some((other_is_class, other))) => is_class == other_is_class && one != other,
            _ => false,
        };
        let (mut conflicting, mut least) = (BTreeSet::new(), None::<u32>);
        for i in 0..clips.len() {
            for j in (i + 1..clips.len()).take(LABELS_COMPARED).filter(|&j| contradict(i, j)) {
                let hash = |i: usize| &self.compared[self.group.members[i] as usize].hash;
                if let Some(found) = likeness(hash(i), hash(j), self.limit) {
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
        Ok(Some(Finding { clips, ..Finding::new(FindingKind::LabelConflict, Some(f64::from(least)), text) }))
    }
}

/// Names a clip. Parts that cannot be read stay empty, and are findings of their own.
pub(super) fn found_clip(sets: &[Dataset], set: usize, clip: u64) -> FoundClip {
    let entry = sets[set].clip(clip);
    let source = entry.as_ref().ok().and_then(|clip| clip.source().ok()).unwrap_or_default();
    let label = entry.as_ref().ok().and_then(|clip| label(clip).ok()?);
    FoundClip { set, clip, source, class: label.map(|(_, text)| text) }
}

/// The class of a clip, or its labels as text; and whether it is a class. Only texts of the same kind contradict each other.
fn label(clip: &Clip<'_>) -> Result<Option<(bool, String)>> {
    let class = clip.class()?;
    if !class.is_empty() {
        return Ok(Some((true, class)));
    }
    let mut labels = clip.labels()?;
    labels.sort_unstable();
    let labels: Vec<String> = labels.iter().map(u32::to_string).collect();
    Ok((!labels.is_empty()).then(|| (false, labels.join(", "))))
}

/// The largest difference in the brightness of a cell of 8 x 8 between two frames that show the same. A hand
/// changes it by more, and so does another object on the same table. Encoding a video again changes it by 1 to 3.
const CELL: u32 = 12;

/// A clip with this many comparisons in vain is not compared with other such clips. It is one of very many that
/// look alike and are not the same, such as episodes in front of one camera.
const IN_VAIN: u16 = 512;

/// A group of clips that show nearly the same.
#[derive(Debug, PartialEq, Eq)]
struct SimilarClips {
    /// Their positions among the compared clips, in order.
    pub members: Vec<u32>,
    /// The largest distance of two clips that were found to be the same, in bits of 256.
    pub distance: u32,
    /// Whether some clips show the mirrored picture.
    pub mirrored: bool,
}

/// The similarity of two clips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Likeness {
    /// The mean number of different bits, of 256.
    pub distance: u32,
    pub mirrored: bool,
}

/// Compares two clips frame by frame; returns `None` if they differ by more than `limit`, or clearly in one cell.
fn likeness(a: &ClipHash, b: &ClipHash, limit: u32) -> Option<Likeness> {
    let of = |mirrored: bool| {
        let of_b = |slot: usize| if mirrored { b[slot].mirrored() } else { b[slot] };
        let sum: u32 = (0..SLOTS).map(|slot| a[slot].distance(&of_b(slot))).sum();
        let is_near = sum <= limit * SLOTS as u32;
        let is_same = is_near && (0..SLOTS).all(|slot| a[slot].largest_cell_change(&of_b(slot)) <= CELL);
        is_same.then_some(Likeness { distance: sum.div_ceil(SLOTS as u32), mirrored })
    };
    of(false).or_else(|| of(true))
}

/// Returns groups of clips that show nearly the same, in order. `may_be` says whether a match of two clips would
/// be worth reporting. `go_on` may stop the search.
fn similar_clips(
    clips: &[ComparedClip],
    limit: u32,
    may_be: &mut impl FnMut(u32, u32) -> Result<bool>,
    go_on: &mut impl FnMut() -> Result<()>,
) -> Result<Vec<SimilarClips>> {
    let count = u32::try_from(clips.len()).ok().filter(|&count| u64::from(count) < limits::MAX_ORDINALS);
    let count = count.ok_or_else(|| Error::limit("there are more clips than vidrec can compare with each other"))?;
    let mut search = Search {
        clips,
        limit,
        groups: Groups::new(count),
        links: Vec::new(),
        in_vain: vec![0; clips.len()],
        failed: None,
    };
    for slot in 0..SLOTS {
        let keys = |of: &dyn Fn(&Hash) -> u64| -> Vec<Keyed> {
            let hashes = (0..).zip(clips).map(|(i, clip)| (i, clip.hash[slot]));
            hashes.filter(|(_, hash)| !hash.is_flat()).map(|(i, hash)| (of(&hash), i)).collect()
        };
        let (keys, mirrored) = (keys(&|hash| hash.key()), keys(&|hash| hash.mirrored().key()));
        for others in [None, Some(&*mirrored)] {
            near_pairs(&keys, others, &mut |a, b| search.compare(a, b, may_be), go_on)?;
        }
        search.failed.take().map_or(Ok(()), Err)?;
    }
    Ok(search.into_groups())
}

struct Search<'a> {
    clips: &'a [ComparedClip],
    limit: u32,
    groups: Groups,
    links: Vec<(u32, Likeness)>,
    in_vain: Vec<u16>,
    failed: Option<Error>,
}

impl Search<'_> {
    fn compare(&mut self, a: u32, b: u32, may_be: &mut impl FnMut(u32, u32) -> Result<bool>) {
        let (i, j) = (a as usize, b as usize);
        let is_hopeless = self.in_vain[i].min(self.in_vain[j]) >= IN_VAIN;
        if a == b || is_hopeless || self.failed.is_some() || self.groups.first(a) == self.groups.first(b) {
            return;
        }
        let found = likeness(&self.clips[i].hash, &self.clips[j].hash, self.limit);
        match found.map(|found| may_be(a, b).map(|may| may.then_some(found))).transpose() {
            Ok(found) => match found.flatten() {
                Some(found) => {
                    self.groups.join(a, b);
                    self.links.push((a, found));
                }
                None => [i, j].into_iter().for_each(|i| self.in_vain[i] = self.in_vain[i].saturating_add(1)),
            },
            Err(e) => self.failed = Some(e),
        }
    }

    fn into_groups(mut self) -> Vec<SimilarClips> {
        let mut links: Vec<(u32, Likeness)> = std::mem::take(&mut self.links);
        links.iter_mut().for_each(|(member, _)| *member = self.groups.first(*member));
        links.sort_unstable_by_key(|(first, _)| *first);
        let of_group = |first: u32| {
            let start = links.partition_point(|(of, _)| *of < first);
            links[start..].iter().take_while(move |(of, _)| *of == first).map(|(_, likeness)| likeness)
        };
        let group = |members: Vec<u32>| SimilarClips {
            distance: of_group(members[0]).map(|link| link.distance).max().unwrap_or(0),
            mirrored: of_group(members[0]).any(|link| link.mirrored),
            members,
        };
        self.groups.several().into_iter().map(group).collect()
    }
}

/// Groups of numbers from 0. At first each number is a group.
#[derive(Debug)]
pub(super) struct Groups {
    /// A smaller number of the same group, or the number itself if it is the smallest.
    up: Vec<u32>,
}

impl Groups {
    pub fn new(count: u32) -> Self {
        Groups { up: (0..count).collect() }
    }

    /// Returns the smallest number of the group of `i`.
    pub fn first(&mut self, mut i: u32) -> u32 {
        while self.up[i as usize] != i {
            let next = self.up[self.up[i as usize] as usize];
            self.up[i as usize] = next;
            i = next;
        }
        i
    }

    /// Joins the groups of `a` and `b`.
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.first(a), self.first(b));
        self.up[a.max(b) as usize] = a.min(b);
    }

    /// Returns the groups of several numbers, in order of their smallest number.
    pub fn several(mut self) -> Vec<Vec<u32>> {
        let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for i in 0..self.up.len() as u32 {
            let first = self.first(i);
            if first != i {
                groups.entry(first).or_insert_with(|| vec![first]).push(i);
            }
        }
        groups.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_those_that_are_connected() {
        let mut groups = Groups::new(8);
        for (a, b) in [(6, 7), (1, 6), (3, 2), (7, 1)] {
            groups.join(a, b);
        }
        assert_eq!((groups.first(7), groups.first(4)), (1, 4));
        assert_eq!(groups.several(), [vec![1, 6, 7], vec![2, 3]]);
    }
}
