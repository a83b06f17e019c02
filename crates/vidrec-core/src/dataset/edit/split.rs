//! Splits a data set into several parts at random. A [`Selection`](super::Selection) makes a part by a list or an attribute.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::plan::{self, EditOptions, EditReport, OutputPlan, torn_draws};
use crate::dataset::{Clip, Dataset};
use crate::progress::ProgressFn;
use vidrec_format::random::{Random, stream};
use vidrec_format::{Error, Result, SectionId};

/// Returns the ordinals of the clips of each part, in ascending order. It writes nothing: [`split`] does that.
/// [`Dataset::select`] turns a part into a data set that shares the files.
///
/// ```no_run
/// use vidrec::Dataset;
/// use vidrec::edit::{self, RatioSplit};
///
/// let all = Dataset::open("all")?;
/// let parts = vec![("train".to_owned(), 0.9), ("val".to_owned(), 0.1)];
/// let parts = edit::split_clips(&all, &RatioSplit { parts, ..RatioSplit::default() })?;
/// let train = all.select(parts[0].iter().copied())?;
/// # Ok::<(), vidrec::Error>(())
/// ```
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): shares that do not add up to 1; draws of one video in two groups.
/// [`Format`](vidrec_format::error::ErrorKind::Format): the data set is damaged.
pub fn split_clips(set: &Dataset, split: &RatioSplit) -> Result<Vec<Vec<u64>>> {
    set.prefetch_all(&[SectionId::CLIPS, SectionId::STRINGS])?;
    let shares = shares(&split.parts)?;
    let mut clips_of_part = vec![Vec::new(); shares.len()];
    let mut owed = vec![0; shares.len()];
    for (class, mut units) in units_by_class(set, split)? {
        // Classes count from 1 here. 0 stands for clips without a label.
        let id = class.map_or(0, |label| u64::from(label) + 1);
        Random::new(split.seed, &[stream::SPLIT, id]).shuffle(&mut units);
        let mut units = units.into_iter();
        for (clips, count) in clips_of_part.iter_mut().zip(apportion(&shares, units.len() as u64, &mut owed)) {
            clips.extend(units.by_ref().take(count).flatten());
        }
    }
    clips_of_part.iter_mut().for_each(|clips| clips.sort_unstable());
    Ok(clips_of_part)
}

/// Writes the parts of a data set that [`split_clips`] returns, in this order, each to `out/NAME`. The clips of a
/// part keep their order. An item of `progress` is a clip of any part.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): a name that is not a plain file name. Otherwise as
/// [`split_clips`] and [`subset`](super::subset()).
pub fn split(
    set: &Dataset,
    split: &RatioSplit,
    out: impl AsRef<Path>,
    options: &EditOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<Vec<EditReport>> {
    check_names(split.parts.iter().map(|(name, _)| name.as_str()))?;
    let mut plans: Vec<(OutputPlan<'_>, PathBuf)> = Vec::new();
    for (clips, (name, _)) in split_clips(set, split)?.into_iter().zip(&split.parts) {
        let picks = clips.into_iter().map(|clip| (0, clip)).collect();
        let mut plan = OutputPlan::new(std::slice::from_ref(set), 0, picks)?;
        if plan.picks.is_empty() {
            plan.notes.push("this part has no clips".into());
        }
        plans.push((plan, out.as_ref().join(name)));
    }
    plan::write_all(&plans, options, progress)
}

/// Checks the names, because they become folders of the output.
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
        // Some file systems treat names that differ only in case as equal.
        if !seen.insert(name.to_lowercase()) {
            return Err(Error::usage(format!("two parts have the name {name:?}, or names that differ only in case")));
        }
    }
    if seen.is_empty() { Err(Error::usage("there are no parts to write")) } else { Ok(()) }
}

/// A random split. The same data set, options and seed produce the same parts.
///
/// ```
/// use vidrec::edit::{KeepTogether, RatioSplit};
///
/// let parts = vec![("train".to_owned(), 0.9), ("val".to_owned(), 0.1)];
/// let split = RatioSplit { parts, seed: 7, ..RatioSplit::default() };
/// assert!(split.stratify && split.keep_together == KeepTogether::Sources);
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RatioSplit {
    /// A name and a share for each part; shares add up to 1.
    pub parts: Vec<(String, f64)>,
    /// Seed of the draw. Default: 0.
    pub seed: u64,
    /// Split each class by itself, so that every part has its share of each class. Both in each class and over all
    /// classes together, the counts are as near to the ratio as whole units allow. A unit has the class of its first
    /// clip. On by default.
    pub stratify: bool,
    /// Which clips form a unit. A unit goes to one part as a whole.
    pub keep_together: KeepTogether,
}

impl Default for RatioSplit {
    fn default() -> Self {
        RatioSplit { parts: Vec::new(), seed: 0, stratify: true, keep_together: KeepTogether::default() }
    }
}

/// Which clips a random split keeps in one part. The draws of one video always stay together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub enum KeepTogether {
    /// Clips of one source, such as segments of a long video, so that no two parts share a source. The default.
    #[default]
    Sources,
    /// Only the draws of one video.
    Draws,
    /// Clips with the same number. The vector has a number for each clip of the data set, in order.
    Groups(Vec<u64>),
}

/// The shares in billionths.
fn shares(parts: &[(String, f64)]) -> Result<Vec<u64>> {
    let sum: f64 = parts.iter().map(|(_, share)| share).sum();
    let fair = parts.iter().all(|(_, share)| share.is_finite() && *share >= 0.0);
    if !fair || (sum - 1.0).abs() > 1e-6 {
        let e = Error::usage("the shares of the parts are invalid");
        return Err(e.expected("numbers of 0 or more that add up to 1").found(sum));
    }
    Ok(parts.iter().map(|(_, share)| (share * 1e9).round() as u64).collect())
}

/// The units of clips by class, in order of their first clips.
fn units_by_class(set: &Dataset, split: &RatioSplit) -> Result<BTreeMap<Option<u32>, Vec<Vec<u64>>>> {
    check_groups(set, &split.keep_together)?;
    let draws = u64::from(set.draws());
    let mut place: HashMap<String, (Option<u32>, usize)> = HashMap::new();
    let mut classes: BTreeMap<Option<u32>, Vec<Vec<u64>>> = BTreeMap::new();
    for first in (0..set.len()).step_by(draws as usize) {
        let clip = set.clip(first)?;
        let class = clip.label().filter(|_| split.stratify);
        let unit = unit_of(&clip, &split.keep_together)?;
        let new = (class, classes.get(&class).map_or(0, Vec::len));
        let (class, at) = unit.map_or(new, |unit| *place.entry(unit).or_insert(new));
        let units = classes.entry(class).or_default();
        units.resize(units.len().max(at + 1), Vec::new());
        units[at].extend(first..first + draws);
    }
    Ok(classes)
}

/// The name of the unit of a video's first draw; `None` if the video is a unit of its own.
fn unit_of(clip: &Clip<'_>, keep_together: &KeepTogether) -> Result<Option<String>> {
    Ok(match keep_together {
        KeepTogether::Sources => Some(clip.source()?).filter(|source| !source.is_empty()),
        KeepTogether::Draws => None,
        KeepTogether::Groups(numbers) => numbers.get(clip.ordinal() as usize).map(u64::to_string),
    })
}

/// Checks that there is a number for each clip, the same for all draws of a video.
fn check_groups(set: &Dataset, keep_together: &KeepTogether) -> Result<()> {
    let KeepTogether::Groups(numbers) = keep_together else { return Ok(()) };
    if numbers.len() as u64 != set.len() {
        let e = Error::usage("the groups need one number for each clip");
        return Err(e.expected(format!("{} numbers", set.len())).found(numbers.len()));
    }
    let draws = set.draws() as usize;
    match numbers.chunks(draws).position(|video| video.iter().any(|number| *number != video[0])) {
        Some(video) => Err(torn_draws((video * draws) as u64, draws as u64)),
        None => Ok(()),
    }
}

/// Returns the number of items of each part, of the `n` items of a class. Each count is the exact one, rounded down or up.
/// If rounding takes something from a part in one class, the part gets it in the next, so that many small classes do not
/// starve a small part: `owed` is what each part has missed so far, in fractions of all shares together.
fn apportion(shares: &[u64], n: u64, owed: &mut [i128]) -> Vec<usize> {
    let whole = shares.iter().map(|&s| i128::from(s)).sum::<i128>().max(1);
    let exact: Vec<i128> = shares.iter().map(|&s| i128::from(n) * i128::from(s)).collect();
    let mut counts: Vec<i128> = exact.iter().map(|e| e / whole).collect();
    let rest = i128::from(n) - counts.iter().sum::<i128>();
    // A part whose exact count is a whole number gets exactly that.
    let mut open: Vec<usize> = (0..counts.len()).filter(|&i| exact[i] % whole != 0).collect();
    open.sort_by_key(|&i| (-(exact[i] % whole + owed[i]), i));
    open.iter().take(usize::try_from(rest).unwrap_or(0)).for_each(|&i| counts[i] += 1);
    (0..counts.len()).for_each(|i| owed[i] += exact[i] - counts[i] * whole);
    counts.into_iter().map(|count| usize::try_from(count).unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_plain() {
        for bad in ["", ".", "..", "../x", "a/b", "/a", "a\\b", ".hidden", "a/"] {
            assert!(check_names([bad].into_iter()).is_err(), "{bad}");
        }
        assert!(check_names(["train", "Train"].into_iter()).is_err());
        assert!(check_names(["train", "val", "fold 1"].into_iter()).is_ok());
        assert!(check_names(std::iter::empty()).is_err());
    }

    proptest! {
        #[test]
        fn everything_is_apportioned_and_counts_are_near(shares in prop::collection::vec(1u64..1_000_000, 1..6),
                                                   classes in prop::collection::vec(0u64..50, 1..30)) {
            let whole: u64 = shares.iter().sum();
            let (mut owed, mut sums) = (vec![0; shares.len()], vec![0; shares.len()]);
            for &n in &classes {
                let counts: Vec<u64> = apportion(&shares, n, &mut owed).into_iter().map(|count| count as u64).collect();
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
}
