//! The order of a mix: samples of several sources, each as often as its share requires.

use super::quotas::Quotas;
use super::{Shares, SourceOrder};
use crate::error::{Error, Result};
use crate::random::{Random, stream};

/// The order of a mix of several sources. It is an endless stream of samples, cut into epochs.
///
/// [`Shares`] determines the source of each position of the stream: exactly, in any window. The samples of a
/// source come in an order of their own, and all of them come once before the next round through them. Both are
/// functions of the position, so any position is found at once and nothing has to be remembered.
///
/// Samples are numbered through: those of the first source, then those of the second, and so on.
///
/// ```
/// use vidrec::order::{Mixed, Shares, SourceOrder};
///
/// let shares = Shares::new(10, &[(0, vec![("a", 0.7), ("b", 0.3)])])?;
/// let mixed = Mixed::new(shares, vec![(1000, SourceOrder::Shuffled), (6, SourceOrder::Shuffled)], 20, 42)?;
/// assert_eq!(mixed.counts(20), [14, 6]);
/// let of_b = (0..20).filter_map(|i| mixed.draw(i)).filter(|draw| draw.source == 1);
/// let mut samples: Vec<u64> = of_b.map(|draw| draw.sample - 1000).collect();
/// samples.sort_unstable();
/// assert_eq!(samples, [0, 1, 2, 3, 4, 5]);
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Mixed {
    shares: Shares,
    sources: Vec<Source>,
    stretches: Vec<Stretch>,
    samples_per_epoch: u64,
}

#[derive(Debug, Clone, PartialEq)]
struct Source {
    /// The first sample of the source. `len` is its number of samples.
    start: u64,
    len: u64,
    order: SourceOrder,
    seed: u64,
}

/// Consecutive positions with the same weights.
#[derive(Debug, Clone, PartialEq)]
struct Stretch {
    from: u64,
    /// The number of samples of each source that come before.
    before: Vec<u64>,
    quotas: Quotas,
}

/// The sample at a position of a mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draw {
    /// The number of the source.
    pub source: usize,
    /// The sample, numbered through all sources.
    pub sample: u64,
    /// How often all samples of the source have come before.
    pub round: u64,
}

impl Mixed {
    /// Creates a mix of sources with their numbers of samples and their orders, under a seed.
    ///
    /// # Errors
    ///
    /// The numbers of sources and shares differ; a source has no samples; blocks of 0; an epoch has no samples; or
    /// there are more samples than 64 bits can count.
    pub fn new(shares: Shares, sources: Vec<(u64, SourceOrder)>, samples_per_epoch: u64, seed: u64) -> Result<Self> {
        if sources.len() != shares.names().len() {
            let e = Error::usage("mix: the number of sources is not the number of names");
            return Err(e.expected(shares.names().len()).found(sources.len()));
        }
        if samples_per_epoch == 0 {
            return Err(Error::usage("mix: samples_per_epoch is out of range").expected("1 or more").found(0));
        }
        let mut start = 0u64;
        let mut all = Vec::with_capacity(sources.len());
        for (number, (name, (len, order))) in (1..).zip(shares.names().iter().zip(sources)) {
            if len == 0 {
                return Err(Error::usage(format!("mix: source \"{name}\" has no samples")));
            }
            order.check()?;
            let seed = Random::new(seed, &[stream::MIX, number]).next_u64();
            all.push(Source { start, len, order, seed });
            start =
                start.checked_add(len).ok_or_else(|| Error::limit("there are more samples than 64 bits can count"))?;
        }
        let stretches = stretches(&shares, seed);
        Ok(Mixed { shares, sources: all, stretches, samples_per_epoch })
    }

    /// The number of samples in an epoch.
    pub fn samples_per_epoch(&self) -> u64 {
        self.samples_per_epoch
    }

    /// The number of samples of all sources.
    pub fn samples(&self) -> u64 {
        self.sources.last().map_or(0, |last| last.start + last.len)
    }

    /// The sample at a position of the stream, counted from 0 over all epochs.
    ///
    /// `None` past what 64 bits can count.
    pub fn draw(&self, position: u64) -> Option<Draw> {
        let stretch = self.stretch(position)?;
        let (source, index) = stretch.quotas.at(position - stretch.from);
        let index = stretch.before.get(source)?.checked_add(index)?;
        let Source { start, len, order, seed } = self.sources.get(source)?;
        let round = index / len;
        let sample = start + order.get((*len, *seed, round), index % len)?;
        Some(Draw { source, sample, round })
    }

    /// The sample at a position of an epoch; `None` past its end.
    pub fn in_epoch(&self, epoch: u64, position: u64) -> Option<Draw> {
        if position >= self.samples_per_epoch {
            return None;
        }
        self.draw(epoch.checked_mul(self.samples_per_epoch)?.checked_add(position)?)
    }

    /// The number of samples of each source before a position of the stream.
    pub fn counts(&self, position: u64) -> Vec<u64> {
        let Some(stretch) = self.stretch(position) else { return vec![0; self.sources.len()] };
        let of = |(i, before): (usize, &u64)| before + stretch.quotas.before(i, position - stretch.from);
        stretch.before.iter().enumerate().map(of).collect()
    }

    /// The number of samples of each source, which is the length of a round through it.
    #[doc(hidden)]
    pub fn rounds(&self) -> impl Iterator<Item = u64> {
        self.sources.iter().map(|source| source.len)
    }

    /// The position in the stream of a position in an epoch.
    #[doc(hidden)]
    pub fn position(&self, epoch: u64, position: u64) -> u64 {
        epoch.saturating_mul(self.samples_per_epoch).saturating_add(position)
    }

    /// The samples of the source that contains this sample.
    #[doc(hidden)]
    pub fn source_of(&self, sample: u64) -> std::ops::Range<u64> {
        let at = self.sources.partition_point(|source| source.start <= sample).saturating_sub(1);
        self.sources.get(at).map_or(0..0, |source| source.start..source.start + source.len)
    }

    /// Whether the samples of any source come in blocks, which are best read together.
    #[doc(hidden)]
    pub fn has_blocks(&self) -> bool {
        self.sources.iter().any(|source| matches!(source.order, SourceOrder::Blocks { .. }))
    }

    /// The order of the samples of each source.
    #[doc(hidden)]
    pub fn source_orders(&self) -> Vec<SourceOrder> {
        self.sources.iter().map(|source| source.order).collect()
    }

    /// Describes in words which sources the samples before a position are from.
    #[doc(hidden)]
    pub fn describe(&self, position: u64) -> String {
        let lengths: Vec<String> = self.rounds().map(|len| len.to_string()).collect();
        format!("{}; of {} samples", self.shares.describe(position), lengths.join(", "))
    }

    fn stretch(&self, position: u64) -> Option<&Stretch> {
        let at = self.stretches.partition_point(|stretch| stretch.from <= position);
        self.stretches.get(at.checked_sub(1)?)
    }
}

fn stretches(shares: &Shares, seed: u64) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for (from, units) in shares.stretches() {
        let before = match stretches.last() {
            Some(last) => {
                let grown = |(i, before): (usize, &u64)| before + last.quotas.before(i, from - last.from);
                last.before.iter().enumerate().map(grown).collect()
            }
            None => vec![0; units.len()],
        };
        let random = Random::new(seed, &[stream::MIX, 0, *from]);
        stretches.push(Stretch { from: *from, before, quotas: Quotas::new(units, shares.window().into(), random) });
    }
    stretches
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAMES: [&str; 4] = ["a", "b", "c", "d"];

    fn mixed(window: u32, schedule: &[(u64, Vec<f64>)], lengths: &[u64], epoch: u64, seed: u64) -> Mixed {
        let named = |weights: &Vec<f64>| NAMES.into_iter().zip(weights.iter().copied()).collect::<Vec<_>>();
        let schedule: Vec<_> = schedule.iter().map(|(from, weights)| (*from, named(weights))).collect();
        let sources = lengths.iter().map(|&len| (len, SourceOrder::Shuffled)).collect();
        Mixed::new(Shares::new(window, &schedule).unwrap(), sources, epoch, seed).unwrap()
    }

    fn stream(mixed: &Mixed, n: u64) -> Vec<Draw> {
        (0..n).map(|i| mixed.draw(i).unwrap()).collect()
    }

    fn cases() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<u64>, Vec<u64>, u32, u64)> {
        (1usize..5, 1usize..4).prop_flat_map(|(k, stretches)| {
            (
                prop::collection::vec(prop::collection::vec(0.05..1.0f64, k), stretches),
                prop::collection::vec(1u64..200, stretches),
                prop::collection::vec(1u64..50, k),
                1u32..40,
                any::<u64>(),
            )
        })
    }

    fn schedule(weights: Vec<Vec<f64>>, lengths: &[u64]) -> Vec<(u64, Vec<f64>)> {
        let mut from = 0;
        let step = |(weights, length): (Vec<f64>, &u64)| {
            let one = (from, weights);
            from += length;
            one
        };
        weights.into_iter().zip(lengths).map(step).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        /// Walks through each source in rounds, over all changes of weights. The counts must be those of the
        /// stream.
        #[test]
        fn each_round_has_each_sample_of_a_source_once((weights, stretches, lengths, window, seed) in cases()) {
            let mixed = mixed(window, &schedule(weights, &stretches), &lengths, 100, seed);
            let starts: Vec<u64> = lengths.iter().scan(0, |end, len| { *end += len; Some(*end - len) }).collect();
            let mut seen: Vec<Vec<u64>> = vec![Vec::new(); lengths.len()];
            for (position, draw) in (0..).zip(stream(&mixed, 700)) {
                prop_assert_eq!(mixed.counts(position), seen.iter().map(|s| s.len() as u64).collect::<Vec<_>>());
                let (seen, len) = (&mut seen[draw.source], lengths[draw.source]);
                prop_assert_eq!(draw.round, seen.len() as u64 / len);
                seen.push(draw.sample - starts[draw.source]);
            }
            for (seen, &len) in seen.iter().zip(&lengths) {
                for round in seen.chunks(len as usize) {
                    let mut samples = round.to_vec();
                    samples.sort_unstable();
                    samples.dedup();
                    prop_assert!(samples.len() == round.len() && samples.iter().all(|&s| s < len));
                }
            }
        }

        #[test]
        fn weights_that_change_leave_what_is_before((weights, stretches, lengths, window, seed) in cases(), cut in 1u64..500) {
            let schedule = schedule(weights, &stretches);
            let mut other: Vec<_> = schedule.iter().filter(|(from, _)| *from < cut).cloned().collect();
            other.push((cut, (1..=lengths.len()).map(|i| i as f64).collect()));
            let (a, b) = (mixed(window, &schedule, &lengths, 100, seed), mixed(window, &other, &lengths, 7, seed));
            prop_assert_eq!(stream(&a, cut), stream(&b, cut));
            prop_assert_eq!(a.counts(cut), b.counts(cut));
            prop_assert_eq!(a.describe(cut), b.describe(cut));
        }

        #[test]
        fn epochs_cut_the_stream((weights, stretches, lengths, window, seed) in cases(), per_epoch in 1u64..90) {
            let mixed = mixed(window, &schedule(weights, &stretches), &lengths, per_epoch, seed);
            let epochs = (0..5).flat_map(|epoch| (0..per_epoch).map(move |i| (epoch, i)));
            let cut: Vec<Draw> = epochs.map(|(epoch, i)| mixed.in_epoch(epoch, i).unwrap()).collect();
            prop_assert_eq!(cut, stream(&mixed, 5 * per_epoch));
            prop_assert_eq!(mixed.in_epoch(0, per_epoch), None);
        }
    }

    #[test]
    fn a_mix_never_changes() {
        let mixed = mixed(10, &[(0, vec![0.55, 0.25, 0.2])], &[4, 3, 5], 20, 42);
        let found: Vec<u64> = stream(&mixed, 20).iter().map(|draw| draw.sample).collect();
        assert_eq!(
            found,
            [10, 1, 2, 6, 3, 0, 2, 8, 5, 3, 7, 0, 1, 4, 3, 2, 0, 9, 4, 1],
            "resumed and repeated runs depend on it"
        );
    }

    #[test]
    fn any_position_is_found_at_once() {
        let mixed =
            mixed(1000, &[(0, vec![0.7, 0.2, 0.1]), (1 << 40, vec![1.0, 1.0, 1.0])], &[240_000, 169_000, 7], 1, 3);
        for position in [0, 1_000_000_000, (1 << 40) - 1, 1 << 40, u64::MAX - 1, u64::MAX] {
            let draw = mixed.draw(position).unwrap();
            assert!(mixed.source_of(draw.sample).contains(&draw.sample));
            assert_eq!(mixed.counts(position).iter().map(|&n| u128::from(n)).sum::<u128>(), u128::from(position));
        }
        assert_eq!(mixed.counts(1_000_000_000), [700_000_000, 200_000_000, 100_000_000]);
        assert_eq!(mixed.in_epoch(u64::MAX, 0).map(|draw| draw.source), mixed.draw(u64::MAX).map(|draw| draw.source));
    }

    #[test]
    fn sources_have_orders_and_seeds_of_their_own() {
        let of = |mixed: &Mixed, source: usize, start: u64| -> Vec<u64> {
            let draws = stream(mixed, 400).into_iter().filter(|draw| draw.source == source);
            draws.map(|draw| draw.sample - start).take(100).collect()
        };
        let same = mixed(10, &[(0, vec![1.0, 1.0])], &[100, 100], 20, 42);
        assert_ne!(of(&same, 0, 0), of(&same, 1, 100));
        let other = mixed(10, &[(0, vec![1.0, 1.0])], &[100, 100], 20, 43);
        assert_ne!(of(&same, 0, 0), of(&other, 0, 0));
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_name() {
        let shares = || Shares::new(10, &[(0, vec![("a", 1.0), ("b", 1.0)])]).unwrap();
        let sources = |a, b| vec![(a, SourceOrder::Shuffled), (b, SourceOrder::Shuffled)];
        let refused = |sources, epoch| Mixed::new(shares(), sources, epoch, 0).unwrap_err().to_string();
        assert!(refused(sources(1, 0), 1).contains("\"b\" has no samples"));
        assert!(refused(sources(1, 1), 0).contains("samples_per_epoch"));
        assert!(refused(vec![(1, SourceOrder::Shuffled)], 1).contains("is not the number of names"));
        assert!(refused(sources(1, u64::MAX), 1).contains("64 bits"));
        let none = SourceOrder::Blocks { block: 0, window: 1 };
        assert!(refused(vec![(1, SourceOrder::Shuffled), (1, none)], 1).contains("block"));
    }
}
