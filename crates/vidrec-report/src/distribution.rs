//! Computes distributions of numbers and words over the clips of one or several data sets. All data sets share the
//! bins.

use std::collections::BTreeSet;

use serde::Serialize;

use super::categories::Categories;
use super::survey::{Number, Survey, Word};

/// The distribution of the clips of each data set over the values of something.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Distribution {
    /// What is counted, such as `frames per clip`.
    pub title: String,
    /// The unit of the values; empty for words and plain numbers; `year` for years.
    pub unit: &'static str,
    /// The bins: of numbers, in order; of words, the most frequent first.
    pub bins: Vec<DistributionBin>,
    /// For each data set, a summary of its values, if they are numbers.
    pub summaries: Vec<Option<Spread>>,
    /// For each data set, the number of its clips without a value.
    pub without: Vec<u64>,
}

/// A bin of a [`Distribution`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DistributionBin {
    /// The word; for numbers, the value or the range as text.
    pub name: String,
    /// The smallest value, if the values are numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    /// The smallest value above the bin; equal to `from` if the bin has a single value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
    /// The number of clips of each data set.
    pub clips: Vec<u64>,
}

/// A summary of some numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Spread {
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

/// Returns all distributions of the data sets that show anything.
pub(super) fn all(surveys: &[Survey]) -> Vec<Distribution> {
    let numbers = [
        (Number::Frames, "Frames per clip", ""),
        (Number::Seconds, "Seconds per clip, first frame to last", "s"),
        (Number::Rate, "Packed frames per second", "/s"),
        (Number::BytesPerFrame, "Bytes per frame, mean of each clip", "B"),
        (Number::Aspect, "Width by height", ""),
        (Number::Year, "Year of the video, by its container", "year"),
    ];
    let words = [
        (Word::Size, "Size of the frames"),
        (Word::Codec, "Codec of the video"),
        (Word::Container, "Container of the video"),
        (Word::PixelFormat, "Pixel format of the video"),
    ];
    let none = Categories::default();
    let mut found: Vec<Distribution> = Vec::new();
    for (number, title, unit) in numbers {
        let of = |s: &'_ Survey| s.numbers.get(&number).cloned().unwrap_or_default();
        found.extend(of_numbers(title, unit, surveys, &surveys.iter().map(of).collect::<Vec<_>>()));
    }
    for (word, title) in words {
        let of: Vec<&Categories> = surveys.iter().map(|s| s.words.get(&word).unwrap_or(&none)).collect();
        found.extend(of_words(title, surveys, &of));
    }
    let names: BTreeSet<&String> = surveys.iter().flat_map(|s| s.attributes.keys()).collect();
    for name in names {
        let title = format!("Attribute {name}");
        let of = |s: &Survey| s.attributes.get(name).map_or_else(Vec::new, |a| a.numbers.clone());
        found.extend(of_numbers(&title, "", surveys, &surveys.iter().map(of).collect::<Vec<_>>()));
        let of: Vec<&Categories> = surveys.iter().map(|s| s.attributes.get(name).map_or(&none, |a| &a.words)).collect();
        // If most clips have a word of their own, such as a caption, there is nothing to count.
        if of.iter().any(|c| c.len() as u64 * 2 <= c.clips()) {
            found.extend(of_words(&title, surveys, &of));
        }
    }
    found
}

/// Returns the numbers of each data set in shared bins; `None` if there are no numbers.
fn of_numbers(title: &str, unit: &'static str, surveys: &[Survey], values: &[Vec<f64>]) -> Option<Distribution> {
    let mut sorted: Vec<Vec<f64>> = values.to_vec();
    sorted.iter_mut().for_each(|v| v.sort_by(f64::total_cmp));
    let edges = edges(&sorted)?;
    let count = |sorted: &[f64], from: f64, below: f64| {
        let start = sorted.partition_point(|&v| v < from);
        let end =
            if below > from { sorted.partition_point(|&v| v < below) } else { sorted.partition_point(|&v| v <= from) };
        (end - start) as u64
    };
    let bin = |&(from, below): &(f64, f64)| DistributionBin {
        name: if below > from { format!("{} to {}", shown(from), shown(below)) } else { shown(from) },
        from: Some(from),
        below: Some(below),
        clips: sorted.iter().map(|v| count(v, from, below)).collect(),
    };
    Some(Distribution {
        title: title.to_owned(),
        unit,
        bins: edges.iter().map(bin).collect(),
        summaries: sorted.iter().map(|v| Spread::of(v)).collect(),
        without: surveys
            .iter()
            .zip(&sorted)
            .map(|(s, v)| (s.labels.len() - v.len().min(s.labels.len())) as u64)
            .collect(),
    })
}

impl Spread {
    fn of(sorted: &[f64]) -> Option<Spread> {
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
        Some(Spread { min, median: sorted[(sorted.len() - 1) / 2], mean, max })
    }
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
    let mut edges = Vec::new();
    let first = min.log10().floor() as i32;
    for power in first..=first + 40 {
        for factor in [1.0, 2.0, 5.0] {
            // Powers of ten are exact as text.
            let edge: f64 = format!("{factor}e{power}").parse().unwrap_or(max);
            edges.push(edge);
        }
    }
    let start = edges.partition_point(|&e| e <= min).saturating_sub(1);
    let end = edges.partition_point(|&e| e <= max);
    let mut bins: Vec<_> = edges[start..=end.min(edges.len() - 1)].windows(2).map(|w| (w[0], w[1])).collect();
    if let Some(last) = bins.last_mut().filter(|last| last.1 <= max) {
        last.1 = f64::MAX;
    }
    bins
}

/// Formats a number with few digits.
fn shown(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if value != 0.0 && (value.abs() >= 1e12 || value.abs() < 1e-3) { format!("{value:e}") } else { text.to_owned() }
}

/// Returns the words of each data set, the most frequent first; `None` if there are none.
fn of_words(title: &str, surveys: &[Survey], categories: &[&Categories]) -> Option<Distribution> {
    let words: BTreeSet<&str> = categories.iter().flat_map(|c| c.words()).collect();
    let clips = |word: &str| categories.iter().map(|c| c.count(word)).collect::<Vec<u64>>();
    let mut bins: Vec<DistributionBin> = words
        .into_iter()
        .map(|word| DistributionBin { name: word.to_owned(), from: None, below: None, clips: clips(word) })
        .collect();
    bins.sort_by_key(|bin| std::cmp::Reverse(bin.clips.iter().sum::<u64>()));
    let rest = bins.split_off(bins.len().min(MOST_WORDS));
    let mut others: Vec<u64> = categories.iter().map(|c| c.others()).collect();
    for bin in &rest {
        others.iter_mut().zip(&bin.clips).for_each(|(sum, n)| *sum += n);
    }
    if others.iter().any(|&n| n > 0) {
        bins.push(DistributionBin { name: "all others".into(), from: None, below: None, clips: others });
    }
    let without = |(s, c): (&Survey, &&Categories)| (s.labels.len() as u64).saturating_sub(c.clips());
    let without = surveys.iter().zip(categories).map(without).collect();
    (!bins.is_empty()).then(|| Distribution {
        title: title.to_owned(),
        unit: "",
        bins,
        summaries: vec![None; surveys.len()],
        without,
    })
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
        for values in all {
            let survey = Survey { labels: vec![None; values.len()], ..Survey::default() };
            let found = of_numbers("x", "", &[survey], std::slice::from_ref(&values)).unwrap();
            let sum: u64 = found.bins.iter().map(|bin| bin.clips[0]).sum();
            assert_eq!(sum, values.len() as u64, "{:?}", found.bins);
            assert!(found.bins.len() <= 130, "{}", found.bins.len());
            assert_eq!(found.without, [0]);
        }
    }

    #[test]
    fn few_values_have_a_bin_each_which_data_sets_share() {
        let survey = |n| Survey { labels: vec![None; n], ..Survey::default() };
        let found = of_numbers("x", "", &[survey(3), survey(2)], &[vec![8.0, 8.0, 4.0], vec![16.0]]).unwrap();
        let bins: Vec<_> = found.bins.iter().map(|b| (b.name.as_str(), b.clips.as_slice())).collect();
        assert_eq!(bins, [("4", &[1, 0][..]), ("8", &[2, 0]), ("16", &[0, 1])]);
        assert_eq!(found.without, [0, 1]);
        let spread = found.summaries[0].unwrap();
        assert_eq!((spread.min, spread.median, spread.max), (4.0, 8.0, 8.0));
    }

    #[test]
    fn few_fractions_have_bins_that_hold_several() {
        let values: Vec<f64> = (0..14).map(|i| 1.4 + 0.77 * f64::from(i)).collect();
        let survey = Survey { labels: vec![None; values.len()], ..Survey::default() };
        let found = of_numbers("x", "s", &[survey], std::slice::from_ref(&values)).unwrap();
        assert!(found.bins.iter().all(|bin| bin.below > bin.from), "{:?}", found.bins);
        assert!(found.bins.iter().any(|bin| bin.clips[0] > 1));
    }

    #[test]
    fn rare_words_are_one_bin() {
        let mut words = Categories::default();
        (0..100).for_each(|i| words.add(&format!("w{}", i % 60)));
        let survey = Survey { labels: vec![None; 101], ..Survey::default() };
        let found = of_words("x", &[survey], &[&words]).unwrap();
        assert_eq!((found.bins.len(), found.bins[40].name.as_str()), (41, "all others"));
        assert_eq!((found.bins.iter().map(|b| b.clips[0]).sum::<u64>(), found.without[0]), (100, 1));
    }
}
