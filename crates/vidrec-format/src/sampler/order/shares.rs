//! The share of each source in a mix, and the sample from which it applies.

use std::collections::HashSet;

use super::quotas::PARTS;
use crate::error::{Error, Result};

/// The maximum length of a window.
const MOST_WINDOW: u32 = 1 << 16;

/// The share of each source in a mix, and how it changes.
///
/// Weights are in any unit. They are rounded to a thousandth of a sample of a window: to a millionth for windows
/// of 1,000 samples.
///
/// ```
/// use vidrec::order::Shares;
///
/// let schedule = [(0, vec![("kinetics", 0.7), ("ssv2", 0.3)]), (50_000, vec![("ssv2", 1.0), ("kinetics", 0.0)])];
/// let shares = Shares::new(1000, &schedule)?;
/// assert_eq!(shares.names(), ["kinetics", "ssv2"]);
/// let e = Shares::new(1000, &[(0, vec![("kinetics", 0.7), ("ssv2", -0.3)])]).unwrap_err();
/// assert!(e.to_string().contains("ssv2"));
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shares {
    names: Vec<String>,
    window: u32,
    /// The first sample of each stretch, and the units of each source in it.
    stretches: Vec<(u64, Vec<u64>)>,
}

impl Shares {
    /// Creates shares from a schedule. Each entry has the sample from which it applies, and a weight for each
    /// source, by name. The first entry applies from sample 0, and its names are those of all sources, in their
    /// order. Any `window` consecutive samples have each source as often as its weight says, rounded down or up.
    ///
    /// # Errors
    ///
    /// No source, or two with the same name; a weight that is negative, not finite or too small for this window;
    /// no positive weight; a name that is not among those of the sources, or a missing one; samples that do not
    /// begin with 0 or do not increase; or a window of 0, or of more than 65,536 samples.
    pub fn new<N: AsRef<str>>(window: u32, schedule: &[(u64, Vec<(N, f64)>)]) -> Result<Self> {
        let sources = schedule.first().map_or(&[][..], |(_, sources)| sources);
        let names = sources.iter().map(|(name, _)| name.as_ref().to_owned()).collect();
        Shares::of(names, window, schedule)
    }

    /// Creates shares as [`new`](Self::new) does, for sources with these names.
    #[doc(hidden)]
    pub fn of<N: AsRef<str>>(names: Vec<String>, window: u32, schedule: &[(u64, Vec<(N, f64)>)]) -> Result<Self> {
        if !(1..=MOST_WINDOW).contains(&window) {
            let e = Error::usage("mix: the window is out of range").expected(format!("1 to {MOST_WINDOW} samples"));
            return Err(e.found(window));
        }
        if names.is_empty() {
            return Err(Error::usage("mix: there are no sources"));
        }
        let mut shares = Shares { names, window, stretches: Vec::new() };
        for (from, weights) in schedule {
            let expected = shares.stretches.last().map_or(0..=0, |(before, _)| before + 1..=u64::MAX);
            if !expected.contains(from) {
                let e = Error::usage("mix: the steps of the schedule do not increase");
                let least = expected.start();
                return Err(e
                    .expected(if expected.end() == least {
                        "0 as the first step".into()
                    } else {
                        format!("{least} or more")
                    })
                    .found(from));
            }
            let units = shares
                .units_of(weights)
                .map_err(|e| if *from > 0 { e.help(format!("this is the step from sample {from}")) } else { e })?;
            shares.stretches.push((*from, units));
        }
        Ok(shares)
    }

    /// The sources, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of samples in a window.
    pub fn window(&self) -> u32 {
        self.window
    }

    /// Each source's share of the first window in thousandths of a sample.
    #[doc(hidden)]
    pub fn first(&self) -> &[u64] {
        self.stretches.first().map_or(&[], |(_, units)| units)
    }

    /// The first sample of each stretch of equal weights, and each source's share of a window in thousandths of a
    /// sample.
    pub(super) fn stretches(&self) -> &[(u64, Vec<u64>)] {
        &self.stretches
    }

    /// Describes what decides the source of samples before `end`: the last shares in words, and a checksum of
    /// those before.
    pub(super) fn describe(&self, end: u64) -> String {
        let in_words = |(from, units): &(u64, Vec<u64>)| {
            let units: Vec<String> = units.iter().map(u64::to_string).collect();
            format!("from {from}: {}", units.join(" "))
        };
        let stretches = self.stretches.iter().filter(|(from, _)| *from == 0 || *from < end);
        let mut stretches: Vec<String> = stretches.map(in_words).collect();
        let last = stretches.pop().unwrap_or_default();
        let mut words = format!("mix in windows of {}; {last}", self.window);
        if !stretches.is_empty() {
            words += &format!("; before that {:08x}", crc32fast::hash(stretches.join("; ").as_bytes()));
        }
        words
    }

    /// The shares of all sources, in their order.
    fn units_of<N: AsRef<str>>(&self, weights: &[(N, f64)]) -> Result<Vec<u64>> {
        let mut seen = HashSet::new();
        let mut found = vec![None; self.names.len()];
        for (name, weight) in weights {
            let name = name.as_ref();
            let Some(place) = self.names.iter().position(|known| known == name) else {
                let e = Error::usage(format!("mix: there is no source \"{name}\""));
                return Err(e.expected(self.names.join(", ")));
            };
            if !seen.insert(name) {
                return Err(Error::usage(format!("mix: source \"{name}\" is given twice")));
            }
            if !(0.0..f64::INFINITY).contains(weight) {
                let e = Error::usage(format!("mix: the weight of \"{name}\" is out of range"));
                return Err(e.expected("a finite number of 0 or more").found(weight));
            }
            found[place] = Some(*weight);
        }
        if let Some(missing) = found.iter().position(Option::is_none) {
            let e = Error::usage(format!("mix: \"{}\" has no weight", self.names[missing]));
            return Err(e.help("give it a weight of 0 to leave it out"));
        }
        let weights: Vec<f64> = found.into_iter().flatten().collect();
        if weights.iter().all(|&weight| weight == 0.0) {
            return Err(Error::usage(format!("mix: no weight is positive: {}", self.names.join(", "))));
        }
        let units = units(&weights, self.window.into());
        match weights.iter().zip(&units).position(|(&weight, &units)| weight > 0.0 && units == 0) {
            Some(small) => {
                let e = Error::usage(format!("mix: the weight of \"{}\" is too small", self.names[small]));
                let least = format!("at least 1/{} of all", u64::from(self.window) * PARTS);
                Err(e.expected(least).found(weights[small]).help("make the window longer"))
            }
            None => Ok(units),
        }
    }
}

/// Turns weights, of which at least one is positive, into whole numbers with a sum of `window * PARTS`. They are
/// rounded down, and the rest goes to those that lost most.
pub(super) fn units(weights: &[f64], window: u64) -> Vec<u64> {
    // The weights are first divided by the largest, so that the sum is finite.
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let sum: f64 = weights.iter().map(|weight| weight / largest).sum();
    let all = window * PARTS;
    let exact: Vec<f64> = weights.iter().map(|weight| weight / largest / sum * all as f64).collect();
    let mut units: Vec<u64> = exact.iter().map(|exact| exact.floor() as u64).collect();
    let mut by_loss: Vec<usize> = (0..weights.len()).collect();
    by_loss.sort_by(|&a, &b| exact[b].fract().total_cmp(&exact[a].fract()));
    let left = all.saturating_sub(units.iter().sum());
    by_loss.iter().take(left as usize).for_each(|&i| units[i] += 1);
    units
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refused(schedule: &[(u64, Vec<(&str, f64)>)]) -> String {
        Shares::new(10, schedule).unwrap_err().to_string()
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_name() {
        let good = || vec![("a", 0.7), ("b", 0.3)];
        for (weights, words) in [
            (vec![("a", 1.0), ("b", -0.5)], ["weight", "\"b\""]),
            (vec![("a", f64::NAN), ("b", 0.5)], ["weight", "\"a\""]),
            (vec![("a", 1.0), ("b", f64::INFINITY)], ["weight", "\"b\""]),
            (vec![("a", 0.0), ("b", 0.0)], ["no weight is positive", "a, b"]),
            (vec![("a", 1.0), ("b", 1e-9)], ["too small", "\"b\""]),
        ] {
            for schedule in [vec![(0, weights.clone())], vec![(0, good()), (7, weights)]] {
                let e = refused(&schedule);
                assert!(words.iter().all(|word| e.contains(word)), "{schedule:?}: {e}");
            }
        }
        assert!(refused(&[(0, vec![("a", 1.0), ("a", 1.0)])]).contains("\"a\" is given twice"));
        assert!(refused(&[(0, good()), (9, vec![("a", 1.0), ("c", 1.0)])]).contains("no source \"c\""));
        assert!(refused(&[(0, good()), (9, vec![("a", 1.0)])]).contains("\"b\" has no weight"));
        for steps in [[1, 2].as_slice(), &[0, 0], &[0, 9, 9], &[0, 9, 8]] {
            let schedule: Vec<_> = steps.iter().map(|&step| (step, good())).collect();
            assert!(refused(&schedule).contains("steps of the schedule"), "{steps:?}");
        }
        assert!(refused(&[]).contains("no sources"));
        for window in [0, MOST_WINDOW + 1] {
            assert!(Shares::new(window, &[(0, good())]).unwrap_err().to_string().contains("window"));
        }
    }

    #[test]
    fn weights_are_in_any_unit_and_in_any_order() {
        let shares = |w: Vec<(&str, f64)>| Shares::new(1000, &[(0, vec![("a", 0.7), ("b", 0.3)]), (1, w)]).unwrap();
        let same =
            [vec![("a", 7.0), ("b", 3.0)], vec![("b", 0.3e300), ("a", 0.7e300)], vec![("a", 7e-300), ("b", 3e-300)]];
        for weights in same {
            assert_eq!(shares(weights.clone()).stretches()[1].1, [700_000, 300_000], "{weights:?}");
        }
        assert_eq!(shares(vec![("a", f64::MAX), ("b", f64::MAX)]).stretches()[1].1, [500_000, 500_000]);
    }

    proptest! {
        #[test]
        fn units_are_less_than_one_off_and_sum_up(weights in prop::collection::vec(0.0..1.0f64, 1..20), window in 1u64..5000) {
            prop_assume!(weights.iter().any(|&w| w > 0.0));
            let units = units(&weights, window);
            prop_assert_eq!(units.iter().sum::<u64>(), window * PARTS);
            let sum: f64 = weights.iter().sum();
            for (unit, weight) in units.iter().zip(&weights) {
                prop_assert!((*unit as f64 - weight / sum * (window * PARTS) as f64).abs() < 1.0 + 1e-6);
            }
        }
    }
}
