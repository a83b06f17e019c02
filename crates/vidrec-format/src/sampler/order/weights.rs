//! Draws in proportion to weights, each a pure function of its place.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::random::{Random, stream};

/// Weights of samples, prepared for draws in constant time: Walker's alias table, as Vose builds it.
///
/// Draw number `i` of an epoch is a pure function of (weights, seed, epoch, `i`), independent of all others.
/// Drawing is therefore *with replacement*: within an epoch, some samples come more than once and others not at
/// all. The table takes 12 bytes a sample. (Vose, "A Linear Algorithm for Generating Random Numbers with a Given
/// Distribution", IEEE TSE 1991.)
///
/// ```
/// use vidrec::order::Weights;
///
/// let weights = Weights::new(&[1.0, 0.0, 3.0])?;
/// let drawn = |sample| (0..10_000).filter(|&i| weights.draw(0, 0, i) == sample).count();
/// assert!((2200..2800).contains(&drawn(0)));
/// assert_eq!(drawn(1), 0);
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// For each sample, the probability of keeping it when it was hit, and the sample to take otherwise.
    stay: Vec<f64>,
    alias: Vec<u32>,
}

impl Weights {
    /// Creates weights from one number for each sample, in any unit.
    ///
    /// # Errors
    ///
    /// A weight that is negative or not finite, no positive weight, or more than 2^32 of them.
    pub fn new(weights: &[f64]) -> Result<Self> {
        if let Some(at) = weights.iter().position(|w| !(0.0..f64::INFINITY).contains(w)) {
            return Err(Error::usage(format!("the weight of sample {at} is out of range"))
                .expected("a finite number of 0 or more")
                .found(weights[at]));
        }
        if u32::try_from(weights.len()).is_err() {
            return Err(Error::limit("there are too many weights").expected(u32::MAX).found(weights.len()));
        }
        // The weights are first divided by the largest, so that the sum is finite.
        let largest = weights.iter().copied().fold(0.0, f64::max);
        if largest == 0.0 && !weights.is_empty() {
            return Err(Error::usage("no sample has a positive weight"));
        }
        let sum: f64 = weights.iter().map(|w| w / largest).sum();
        let mean = sum / weights.len() as f64;
        Ok(Self::vose(weights.iter().map(|w| w / largest / mean).collect()))
    }

    /// Creates weights that make all classes equally frequent, from the label of each clip (`Dataset::labels`).
    /// Clips without a label are never drawn.
    ///
    /// # Errors
    ///
    /// No clip has a label, or there are more than 2^32 clips.
    pub fn balanced(labels: &[Option<u32>]) -> Result<Self> {
        let mut counts = HashMap::new();
        labels.iter().flatten().for_each(|&label| *counts.entry(label).or_insert(0u32) += 1);
        let weight = |label: &Option<u32>| label.map_or(0.0, |label| 1.0 / f64::from(counts[&label]));
        Self::new(&labels.iter().map(weight).collect::<Vec<_>>())
    }

    /// A checksum of the table.
    pub(super) fn digest(&self) -> u32 {
        let mut digest = crc32fast::Hasher::new();
        self.stay.iter().for_each(|stay| digest.update(&stay.to_le_bytes()));
        self.alias.iter().for_each(|alias| digest.update(&alias.to_le_bytes()));
        digest.finalize()
    }

    /// The number of samples.
    #[doc(hidden)]
    pub fn len(&self) -> u64 {
        self.stay.len() as u64
    }

    /// Whether there are no samples.
    #[doc(hidden)]
    pub fn is_empty(&self) -> bool {
        self.stay.is_empty()
    }

    /// The sample that is drawn for `position` of `epoch` under `seed`; 0 if there are no samples.
    #[doc(hidden)]
    pub fn draw(&self, seed: u64, epoch: u64, position: u64) -> u64 {
        let mut random = Random::new(seed, &[stream::WEIGHTED, epoch, position]);
        let hit = random.below(self.len());
        match self.stay.get(hit as usize) {
            Some(&stay) if random.unit() >= stay => self.alias[hit as usize].into(),
            _ => hit,
        }
    }

    /// `share` has a mean of 1. Each sample below 1 is filled up from a sample above 1.
    fn vose(mut share: Vec<f64>) -> Self {
        let (mut under, mut over): (Vec<u32>, Vec<u32>) =
            (0..share.len() as u32).partition(|&i| share[i as usize] < 1.0);
        let mut alias: Vec<u32> = (0..share.len() as u32).collect();
        while let (Some(&small), Some(&large)) = (under.last(), over.last()) {
            under.pop();
            alias[small as usize] = large;
            share[large as usize] -= 1.0 - share[small as usize];
            if share[large as usize] < 1.0 {
                over.pop();
                under.push(large);
            }
        }
        // The remaining shares would be exactly 1 without rounding. Each is its own alias, so nothing else is
        // drawn for it.
        Weights { stay: share, alias }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The table's own probabilities are the weights. This test draws nothing, so it does not depend on
        /// chance.
        #[test]
        fn the_table_has_the_weights(weights in prop::collection::vec(0u32..1000, 1..60)) {
            prop_assume!(weights.iter().any(|&w| w > 0));
            let weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
            let table = Weights::new(&weights)?;
            let n = weights.len() as f64;
            let mut found = vec![0.0; weights.len()];
            for (i, (&stay, &alias)) in table.stay.iter().zip(&table.alias).enumerate() {
                found[i] += stay.min(1.0) / n;
                found[alias as usize] += (1.0 - stay).max(0.0) / n;
            }
            let sum: f64 = weights.iter().sum();
            for (found, weight) in found.iter().zip(&weights) {
                prop_assert!((found - weight / sum).abs() < 1e-9, "{} for {}", found, weight / sum);
                prop_assert!(*weight > 0.0 || *found == 0.0, "what has no weight is never drawn");
            }
        }
    }

    #[test]
    fn weights_that_are_none_are_refused_by_their_place() {
        for (weights, words) in [
            (
                &[1.0, -2.0][..],
                "the weight of sample 1 is out of range: expected a finite number of 0 or more, found -2",
            ),
            (&[f64::NAN], "the weight of sample 0"),
            (&[1.0, 0.0, f64::INFINITY], "the weight of sample 2"),
            (&[0.0, 0.0], "no sample has a positive weight"),
        ] {
            let e = Weights::new(weights).unwrap_err().to_string();
            assert!(e.contains(words), "{e}");
        }
    }

    #[test]
    fn draws_follow_the_weights_and_differ_by_place() {
        let weights = Weights::new(&[1.0, 2.0, 0.0, 5.0]).unwrap();
        let mut counts = [0.0f64; 4];
        (0..80_000).for_each(|i| counts[weights.draw(3, 1, i) as usize] += 1.0);
        let chi2: f64 = [(0, 1e4), (1, 2e4), (3, 5e4)].iter().map(|&(i, x)| (counts[i] - x).powi(2) / x).sum();
        assert!(counts[2] == 0.0 && chi2 < 13.8, "2 degrees of freedom, p = 0.001: {chi2}");
        let draws = |seed, epoch| (0..50).map(|i| weights.draw(seed, epoch, i)).collect::<Vec<_>>();
        assert_eq!(draws(1, 2), draws(1, 2));
        assert!(draws(1, 2) != draws(1, 3) && draws(1, 2) != draws(2, 2));
    }

    #[test]
    fn classes_are_balanced() {
        let labels = [Some(0), Some(7), None, Some(7), Some(7)];
        assert_eq!(Weights::balanced(&labels).unwrap(), Weights::new(&[3.0, 1.0, 0.0, 1.0, 1.0]).unwrap());
        assert!(Weights::balanced(&[None]).is_err());
    }
}
