//! A data set in several parts: by ratio within each class, by lists of sources, by an attribute.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::plan::Plan;
use super::subset::{attribute, not_in, plain, shuffle};
use super::{EditOptions, EditReport, copy, groups};
use crate::random::{Random, stream};
use crate::{Dataset, Error, Result};

/// How a data set is split.
#[derive(Debug, Clone, PartialEq)]
pub enum SplitBy {
    /// At random within each class, so that every part has its share of each class: as near to the ratio as whole
    /// videos allow in each class, and over all classes together.
    ///
    /// Clips of one source, such as segments of a long video, go to the same part, so that no part has seen another's
    /// videos. The same data set, ratios and seed give the same parts.
    Ratio {
        /// A name and a share for each part; shares add up to 1.
        parts: Vec<(String, f64)>,
        /// Seed of the draw.
        seed: u64,
    },
    /// A name and a list of sources for each part. Clips in no list are left out.
    Lists(Vec<(String, Vec<String>)>),
    /// A part for each value of this attribute, named like the value. Clips without it are left out.
    Attribute(String),
}

/// Writes the parts of a data set as `out/NAME`, in the order of the parts, each with its clips in their order.
///
/// # Errors
///
/// [`Usage`](crate::ErrorKind::Usage): shares that do not add up to 1; a name that is not a plain file name; a source in
/// two lists; draws of one video in two parts. Otherwise as [`reshard`](super::reshard).
pub fn split(
    set: &Dataset,
    by: &SplitBy,
    out: impl AsRef<Path>,
    options: &EditOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<EditReport>> {
    let group = groups::size(set)?;
    let parts = match by {
        SplitBy::Ratio { parts, seed } => by_ratio(set, parts, group, *seed)?,
        SplitBy::Lists(lists) => by_lists(set, lists)?,
        SplitBy::Attribute(name) => by_attribute(set, name)?,
    };
    check_names(parts.iter().map(|part| part.name.as_str()))?;
    let mut plans = Vec::new();
    for part in parts {
        groups::check_whole(&part.clips, group)?;
        let mut plan = Plan::of(set, part.clips)?;
        plan.not_found = part.not_found;
        if plan.picks.is_empty() {
            plan.notes.push("this part has no clips".into());
        }
        plans.push((plan, out.as_ref().join(part.name)));
    }
    let plans: Vec<(&Plan<'_>, PathBuf)> = plans.iter().map(|(plan, path)| (plan, path.clone())).collect();
    copy::run(&plans, options, progress)
}

/// A part: its name, and the ordinals of its clips in ascending order.
#[derive(Debug, Default)]
struct Part {
    name: String,
    clips: Vec<u64>,
    not_found: Vec<String>,
}

/// Names become folders of the output, and attributes and lists may say anything.
fn check_names<'a>(names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen = HashSet::new();
    for name in names {
        let plain = !name.starts_with('.')
            && !name.contains(['\\', '\0'])
            && Path::new(name).file_name() == Some(name.as_ref());
        if !plain {
            return Err(Error::usage(format!("{name:?} cannot be the name of a part"))
                .expected("a plain file name that does not begin with a dot"));
        }
        // Some file systems take names that differ in case for the same.
        if !seen.insert(name.to_lowercase()) {
            return Err(Error::usage(format!("two parts have the name {name:?}, or differ in case alone")));
        }
    }
    if seen.is_empty() { Err(Error::usage("there is no part to write")) } else { Ok(()) }
}

fn by_lists(set: &Dataset, lists: &[(String, Vec<String>)]) -> Result<Vec<Part>> {
    let mut part_of: HashMap<&str, usize> = HashMap::new();
    for (i, (name, sources)) in lists.iter().enumerate() {
        for source in sources {
            let before = *part_of.entry(source).or_insert(i);
            if before != i {
                return Err(Error::usage(format!("\"{source}\" is in two lists"))
                    .found(format!("{} and {name}", lists[before].0)));
            }
        }
    }
    let named = |(name, _): &(String, Vec<String>)| Part { name: name.clone(), ..Part::default() };
    let mut parts: Vec<Part> = lists.iter().map(named).collect();
    let mut found = HashSet::new();
    for clip in set.clips() {
        let clip = clip?;
        let source = clip.source()?;
        if let Some(&part) = part_of.get(source) {
            parts[part].clips.push(clip.ordinal());
            found.insert(source);
        }
    }
    for (part, (_, sources)) in parts.iter_mut().zip(lists) {
        part.not_found = not_in(&found, sources);
    }
    Ok(parts)
}

/// Parts in byte order of their names.
fn by_attribute(set: &Dataset, name: &str) -> Result<Vec<Part>> {
    const MOST_PARTS: usize = 1000;
    let mut parts: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for clip in set.clips() {
        let clip = clip?;
        if let Some(value) = attribute(&Value::Object(clip.attributes()?), name) {
            parts.entry(plain(value)).or_default().push(clip.ordinal());
        }
        if parts.len() > MOST_PARTS {
            return Err(Error::limit(format!("attribute \"{name}\" has too many values for a part each"))
                .expected(format!("at most {MOST_PARTS}")));
        }
    }
    if parts.is_empty() {
        return Err(Error::usage(format!("no clip has an attribute \"{name}\"")));
    }
    Ok(parts.into_iter().map(|(name, clips)| Part { name, clips, not_found: Vec::new() }).collect())
}

fn by_ratio(set: &Dataset, parts: &[(String, f64)], group: u64, seed: u64) -> Result<Vec<Part>> {
    let shares = shares(parts)?;
    let mut clips_of_part = vec![Vec::new(); parts.len()];
    let mut dealer = Dealer::new(&shares);
    for (class, mut units) in units_by_class(set, group)? {
        // Classes count from 1 here, so that 0 is left for clips without one.
        let id = class.map_or(0, |label| u64::from(label) + 1);
        shuffle(&mut units, &mut Random::new(seed, &[stream::SPLIT, id]));
        let mut units = units.into_iter();
        for (part, count) in dealer.deal(units.len() as u64).into_iter().enumerate() {
            clips_of_part[part].extend(units.by_ref().take(count as usize).flatten());
        }
    }
    let named = |((name, _), mut clips): (&(String, f64), Vec<u64>)| {
        clips.sort_unstable();
        Part { name: name.clone(), clips, not_found: Vec::new() }
    };
    Ok(parts.iter().zip(clips_of_part).map(named).collect())
}

/// Shares in billionths.
fn shares(parts: &[(String, f64)]) -> Result<Vec<u64>> {
    let sum: f64 = parts.iter().map(|(_, share)| share).sum();
    let fair = parts.iter().all(|(_, share)| share.is_finite() && *share >= 0.0);
    if !fair || (sum - 1.0).abs() > 1e-6 {
        return Err(Error::usage("the shares of the parts").expected("numbers from 0 that add up to 1").found(sum));
    }
    Ok(parts.iter().map(|(_, share)| (share * 1e9).round() as u64).collect())
}

/// What stays together, by class: the clips of one source, and the draws of one video.
///
/// The class of a unit is that of its first clip. Units of a class are in order of their first clips.
fn units_by_class(set: &Dataset, group: u64) -> Result<BTreeMap<Option<u32>, Vec<Vec<u64>>>> {
    let mut place: HashMap<&str, (Option<u32>, usize)> = HashMap::new();
    let mut classes: BTreeMap<Option<u32>, Vec<Vec<u64>>> = BTreeMap::new();
    for first in (0..set.len()).step_by(group as usize) {
        let clip = set.clip(first)?;
        let (label, source) = (clip.label(), clip.source()?);
        let known = place.get(source).copied().filter(|_| !source.is_empty());
        let (label, unit) = known.unwrap_or_else(|| {
            let units = classes.entry(label).or_default();
            units.push(Vec::new());
            place.insert(source, (label, units.len() - 1));
            (label, units.len() - 1)
        });
        if let Some(unit) = classes.get_mut(&label).and_then(|units| units.get_mut(unit)) {
            unit.extend(first..first + group);
        }
    }
    Ok(classes)
}

/// Deals classes to parts: each count is the exact one rounded down or up, and what rounding takes from a part in one
/// class goes to it in the next, so that small classes do not starve a small part.
struct Dealer<'a> {
    shares: &'a [u64],
    whole: i128,
    /// What each part has had too little of, in units of 1/whole.
    owed: Vec<i128>,
}

impl<'a> Dealer<'a> {
    fn new(shares: &'a [u64]) -> Self {
        let whole = shares.iter().map(|&s| i128::from(s)).sum::<i128>().max(1);
        Dealer { shares, whole, owed: vec![0; shares.len()] }
    }

    /// How many of the `n` things of one class each part gets.
    fn deal(&mut self, n: u64) -> Vec<u64> {
        let exact: Vec<i128> = self.shares.iter().map(|&s| i128::from(n) * i128::from(s)).collect();
        let mut counts: Vec<i128> = exact.iter().map(|e| e / self.whole).collect();
        let rest = i128::from(n) - counts.iter().sum::<i128>();
        // Parts of which the exact count is whole get no more than that.
        let mut open: Vec<usize> = (0..counts.len()).filter(|&i| exact[i] % self.whole != 0).collect();
        open.sort_by_key(|&i| (-(exact[i] % self.whole + self.owed[i]), i));
        for &i in open.iter().take(usize::try_from(rest).unwrap_or(0)) {
            counts[i] += 1;
        }
        for i in 0..counts.len() {
            self.owed[i] += exact[i] - counts[i] * self.whole;
        }
        counts.into_iter().map(|c| u64::try_from(c).unwrap_or(0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn small_classes_do_not_starve_a_part() {
        let shares = [800_000_000, 100_000_000, 100_000_000];
        let mut dealer = Dealer::new(&shares);
        let mut sums = [0; 3];
        for _ in 0..20 {
            let counts = dealer.deal(5);
            assert!((3..=5).contains(&counts[0]), "{counts:?}");
            sums.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
        }
        assert_eq!(sums, [80, 10, 10]);
        assert_eq!(Dealer::new(&shares).deal(10), [8, 1, 1]);
        assert_eq!(Dealer::new(&[333_333_333; 3]).deal(9), [3, 3, 3]);
    }

    proptest! {
        #[test]
        fn everything_is_dealt_and_counts_are_near(shares in prop::collection::vec(1u64..1_000_000, 1..6),
                                                   classes in prop::collection::vec(0u64..50, 1..30)) {
            let whole: u64 = shares.iter().sum();
            let mut dealer = Dealer::new(&shares);
            let mut sums = vec![0; shares.len()];
            for &n in &classes {
                let counts = dealer.deal(n);
                prop_assert_eq!(counts.iter().sum::<u64>(), n);
                for (i, &count) in counts.iter().enumerate() {
                    let floor = n * shares[i] / whole;
                    prop_assert!(count == floor || count == floor + 1);
                    sums[i] += count;
                }
            }
            for (i, &sum) in sums.iter().enumerate() {
                let exact = classes.iter().sum::<u64>() as f64 * shares[i] as f64 / whole as f64;
                prop_assert!((sum as f64 - exact).abs() < shares.len() as f64, "{sum} for {exact}");
            }
        }
    }

    #[test]
    fn names_are_plain() {
        for bad in ["", ".", "..", "../x", "a/b", "/a", "a\\b", ".hidden", "a/"] {
            assert!(check_names([bad].into_iter()).is_err(), "{bad}");
        }
        assert!(check_names(["train", "Train"].into_iter()).is_err());
        assert!(check_names(["train", "val", "fold 1"].into_iter()).is_ok());
        assert!(check_names(std::iter::empty()).is_err());
    }
}
