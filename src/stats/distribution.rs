//! Distributions of numbers and words over the clips of one or several data sets, which share the bins.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

/// The distribution of the clips of a data set over the values of something.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Distribution {
    /// Its title, such as `Frames per clip`.
    pub title: String,
    /// The unit of the values; empty for words and plain numbers; `year` for years.
    pub unit: &'static str,
    /// The bins: of numbers, in order; of words, the most frequent first.
    pub bins: Vec<Bin>,
    /// A summary of the values; `None` for words, and if no clip has a number.
    pub summary: Option<Summary>,
    /// The number of clips without a value.
    pub without: u64,
}

/// A bin of a [`Distribution`]: of a word, or of numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Bin {
    /// The word, if the values are words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word: Option<String>,
    /// The smallest value, if the values are numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    /// The smallest value above the bin; equal to `from` if the bin has a single value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
    /// The number of clips.
    pub clips: u64,
}

/// A summary of some numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// The smallest.
    pub min: f64,
    /// The lower of the two in the middle.
    pub median: f64,
    /// The mean.
    pub mean: f64,
    /// The largest.
    pub max: f64,
}

/// The most words with bins of their own. All others share one bin.
const MOST_WORDS: usize = 40;
/// The most different numbers with a bin for each. They get these bins if they are whole numbers, or if each
/// occurs twice on average.
const SINGLE_VALUES: usize = 24;
/// The approximate number of bins for other numbers.
const BINS: f64 = 20.0;
/// From this ratio of the largest to the smallest number, bins grow with their values.
const WIDE: f64 = 100.0;

/// Sorts the numbers of each data set, and returns them in shared bins; nothing if there are no numbers.
pub(super) fn bins_of_numbers(values: &mut [Vec<f64>]) -> Vec<(Vec<Bin>, Option<Summary>)> {
    values.iter_mut().for_each(|v| v.sort_by(f64::total_cmp));
    let Some(edges) = edges(values) else { return Vec::new() };
    let bin = |sorted: &[f64], (from, below): (f64, f64)| {
        let start = sorted.partition_point(|&v| v < from);
        let end = sorted.partition_point(|&v| if below > from { v < below } else { v <= from });
        Bin { word: None, from: Some(from), below: Some(below), clips: (end - start) as u64 }
    };
    values.iter().map(|v| (edges.iter().map(|&ends| bin(v, ends)).collect(), summary(v))).collect()
}

fn summary(sorted: &[f64]) -> Option<Summary> {
    let (min, max) = (*sorted.first()?, *sorted.last()?);
    let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
    Some(Summary { min, median: sorted[(sorted.len() - 1) / 2], mean, max })
}

/// Returns the first value and the end of each bin. A bin of a single value ends where it starts.
fn edges(sorted: &[Vec<f64>]) -> Option<Vec<(f64, f64)>> {
    let mut singles: Vec<f64> = Vec::new();
    for values in sorted {
        singles.extend(values.chunk_by(|a, b| a == b).take(SINGLE_VALUES + 1).map(|equal| equal[0]));
    }
    singles.sort_by(f64::total_cmp);
    singles.dedup();
    let ends = |values: &Vec<f64>| Some((*values.first()?, *values.last()?));
    let (min, max) = sorted.iter().filter_map(ends).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
    let total: usize = sorted.iter().map(Vec::len).sum();
    let repeat = singles.len() <= total / 2 || singles.iter().all(|value| value.fract() == 0.0);
    if singles.len() == 1 || (singles.len() <= SINGLE_VALUES && repeat) {
        return Some(singles.into_iter().map(|value| (value, value)).collect());
    }
    if !(max - min).is_finite() {
        return Some(vec![(min, f64::MAX)]);
    }
    Some(if min > 0.0 && max / min >= WIDE { growing(min, max) } else { even(min, max) })
}

/// Returns bins of equal width that start and end at round numbers.
fn even(min: f64, max: f64) -> Vec<(f64, f64)> {
    let raw = (max - min) / BINS;
    let ten = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|f| f * ten).into_iter().find(|&step| step >= raw).unwrap_or(raw);
    // Quotients are rounded, and so are the ends of the bins.
    let (below, last) = ((min / step).floor(), (max / step).floor());
    let first = if below * step > min { below - 1.0 } else { below };
    let last = if (last + 1.0) * step <= max { last + 1.0 } else { last };
    let bins = (last - first) as u64 + 1;
    // If numbers differ by less than their precision, a bin could be empty.
    if step <= 0.0 || bins > 4 * BINS as u64 || first + 1.0 == first {
        return vec![(min, f64::MAX)];
    }
    (0..bins).map(|i| ((first + i as f64) * step, (first + (i + 1) as f64) * step)).collect()
}

/// Returns bins from 1 to 2 to 5 to 10, and so on.
fn growing(min: f64, max: f64) -> Vec<(f64, f64)> {
    // Powers of ten are exact as text. The largest edge is infinite, which JSON cannot hold.
    let edge = |power: i32, factor: i32| format!("{factor}e{power}").parse().unwrap_or(f64::MAX).min(f64::MAX);
    let powers = min.log10().floor() as i32 - 1..=max.log10().floor() as i32 + 1;
    let edges: Vec<f64> = powers.flat_map(|power| [1, 2, 5].map(|factor| edge(power, factor))).collect();
    let bins = edges.windows(2).map(|two| (two[0], two[1]));
    bins.filter(|&(from, below)| below > min && from <= max).collect()
}

/// Returns the words of each data set, the most frequent first; nothing if there are none.
pub(super) fn bins_of_words(sets: &[Words]) -> Vec<(Vec<Bin>, Option<Summary>)> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for (word, clips) in sets.iter().flat_map(|words| &words.counts) {
        *counts.entry(word).or_default() += clips;
    }
    let mut shown: Vec<(&str, u64)> = counts.into_iter().collect();
    shown.sort_by_key(|(_, clips)| Reverse(*clips));
    shown.truncate(MOST_WORDS);
    if shown.is_empty() {
        return Vec::new();
    }
    let bin = |word: &str, clips| Bin { word: Some(word.to_owned()), from: None, below: None, clips };
    let clips_of = |words: &Words, word: &str| words.counts.get(word).copied().unwrap_or_default();
    let others = |words: &Words| words.clips() - shown.iter().map(|(word, _)| clips_of(words, word)).sum::<u64>();
    let has_others = sets.iter().any(|words| others(words) > 0);
    let bins = |words: &Words| {
        let bins = shown.iter().map(|(word, _)| bin(word, clips_of(words, word)));
        bins.chain(has_others.then(|| bin("all others", others(words)))).collect()
    };
    sets.iter().map(|words| (bins(words), None)).collect()
}

/// The numbers of clips that have each of some words. The first words that occur are counted separately, and the
/// others together.
#[derive(Default)]
pub(super) struct Words {
    counts: HashMap<String, u64>,
    /// Clips with words beyond the limit.
    others: u64,
}

/// The most words that are counted separately.
const COUNTED_WORDS: usize = 10_000;
/// The most characters of a word that are kept.
const WORD_LENGTH: usize = 120;

impl Words {
    pub fn add(&mut self, word: &str) {
        let word = &word[..word.char_indices().nth(WORD_LENGTH).map_or(word.len(), |(at, _)| at)];
        if let Some(count) = self.counts.get_mut(word) {
            *count += 1;
        } else if self.counts.len() < COUNTED_WORDS {
            self.counts.insert(word.to_owned(), 1);
        } else {
            self.others += 1;
        }
    }

    /// The number of clips that have a word.
    fn clips(&self) -> u64 {
        self.counts.values().sum::<u64>() + self.others
    }

    /// Whether each word occurs twice on average.
    pub fn repeat(&self) -> bool {
        self.counts.len() as u64 * 2 <= self.clips()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every value is in exactly one bin.
    #[test]
    fn bins_hold_all_values_once() {
        let all: [Vec<f64>; 7] = [
            (0..1000).map(|i| f64::from(i) * 0.37).collect(),
            (1..1000).map(|i| f64::from(i).powi(3)).collect(),
            (0..30).map(|i| 1e15 + f64::from(i)).collect(),
            (0..30).map(|i| -5.0 + f64::from(i) / 7.0).collect(),
            (0..50).map(|i| 1e-9 * 1.7f64.powi(i)).collect(),
            (0..60).map(|i| 1e300 * f64::from(i - 30)).collect(),
            vec![8.0; 100],
        ];
        for mut values in all {
            let (bins, _) = bins_of_numbers(std::slice::from_mut(&mut values)).remove(0);
            assert_eq!(bins.iter().map(|bin| bin.clips).sum::<u64>(), values.len() as u64, "{bins:?}");
            assert!(bins.len() <= 130, "{}", bins.len());
        }
    }

    #[test]
    fn few_values_have_a_bin_each_which_data_sets_share() {
        let found = bins_of_numbers(&mut [vec![8.0, 8.0, 4.0], vec![16.0]]);
        let bins = |at: usize| found[at].0.iter().map(|b| (b.from.unwrap(), b.clips)).collect::<Vec<_>>();
        assert_eq!(bins(0), [(4.0, 1), (8.0, 2), (16.0, 0)]);
        assert_eq!(bins(1), [(4.0, 0), (8.0, 0), (16.0, 1)]);
        let summary = found[0].1.unwrap();
        assert_eq!((summary.min, summary.median, summary.max), (4.0, 8.0, 8.0));
    }

    #[test]
    fn few_fractions_have_bins_that_hold_several() {
        let (bins, _) = bins_of_numbers(&mut [(0..14).map(|i| 1.4 + 0.77 * f64::from(i)).collect()]).remove(0);
        assert!(bins.iter().all(|bin| bin.below > bin.from), "{bins:?}");
        assert!(bins.iter().any(|bin| bin.clips > 1));
    }

    #[test]
    fn rare_words_are_one_bin() {
        let mut words = Words::default();
        (0..100).for_each(|i| words.add(&format!("w{}", i % 60)));
        let (bins, _) = bins_of_words(&[words]).remove(0);
        assert_eq!((bins.len(), bins[40].word.as_deref()), (41, Some("all others")));
        assert_eq!(bins.iter().map(|bin| bin.clips).sum::<u64>(), 100);
    }
}
