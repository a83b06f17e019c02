//! Finds clips that show nearly the same.

use super::groups::Groups;
use super::hash::Hash;
use super::measures::{Print, SLOTS};
use super::nearest::{Keyed, near_pairs, near_pairs_between};
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;

/// The largest difference in the brightness of a cell of 8 x 8 between two frames that show the same. A hand
/// changes it by more, and so does another object on the same table. Encoding a video again changes it by 1 to 3.
const CELL: u32 = 12;

/// A clip with this many comparisons in vain is not compared with other such clips. It is one of very many that
/// look alike and are not the same, such as episodes in front of one camera.
const IN_VAIN: u16 = 512;

/// A group of clips that show nearly the same.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Same {
    /// Their positions among the compared clips, in order.
    pub members: Vec<u32>,
    /// The largest distance of two clips that were found to be the same, in bits of 256.
    pub distance: u32,
    /// Whether some clips show the mirrored picture.
    pub mirrored: bool,
}

/// How similar two clips are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Likeness {
    /// The mean number of different bits, of 256.
    pub distance: u32,
    pub mirrored: bool,
}

/// Compares two clips frame by frame; returns `None` if they differ by more than `limit`, or clearly in one cell.
pub(super) fn likeness(a: &Print, b: &Print, limit: u32) -> Option<Likeness> {
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
pub(super) fn same(
    prints: &[Print],
    limit: u32,
    may_be: &mut impl FnMut(u32, u32) -> Result<bool>,
    go_on: &mut impl FnMut() -> Result<()>,
) -> Result<Vec<Same>> {
    let count = u32::try_from(prints.len()).ok().filter(|&count| u64::from(count) < limits::MAX_ORDINALS);
    let count = count.ok_or_else(|| Error::limit("there are more clips than vidrec can compare with each other"))?;
    let mut search = Search {
        prints,
        limit,
        groups: Groups::new(count),
        links: Vec::new(),
        in_vain: vec![0; prints.len()],
        failed: None,
    };
    for slot in 0..SLOTS {
        let keys = |of: &dyn Fn(&Hash) -> u64| -> Vec<Keyed> {
            let hashes = (0..).zip(prints).map(|(i, print)| (i, print[slot]));
            hashes.filter(|(_, hash)| !hash.is_flat()).map(|(i, hash)| (of(&hash), i)).collect()
        };
        let (keys, mirrored) = (keys(&|hash| hash.key()), keys(&|hash| hash.mirrored().key()));
        near_pairs(&keys, &mut |a, b| search.compare(a, b, may_be), go_on)?;
        near_pairs_between(&keys, &mirrored, &mut |a, b| search.compare(a, b, may_be), go_on)?;
        search.failed.take().map_or(Ok(()), Err)?;
    }
    Ok(search.into_groups())
}

struct Search<'a> {
    prints: &'a [Print],
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
        let found = likeness(&self.prints[i], &self.prints[j], self.limit);
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

    fn into_groups(mut self) -> Vec<Same> {
        let mut links: Vec<(u32, Likeness)> = std::mem::take(&mut self.links);
        links.iter_mut().for_each(|(member, _)| *member = self.groups.first(*member));
        links.sort_unstable_by_key(|(first, _)| *first);
        let of_group = |first: u32| {
            let start = links.partition_point(|(of, _)| *of < first);
            links[start..].iter().take_while(move |(of, _)| *of == first).map(|(_, likeness)| likeness)
        };
        let group = |members: Vec<u32>| Same {
            distance: of_group(members[0]).map(|link| link.distance).max().unwrap_or(0),
            mirrored: of_group(members[0]).any(|link| link.mirrored),
            members,
        };
        self.groups.several().into_iter().map(group).collect()
    }
}
