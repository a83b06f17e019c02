//! Exact quotas: the source of each position of a stream, and the number of positions that each source has had
//! before.

use super::Permutation;
use crate::random::Random;

/// The number of parts into which the share of one sample of a window is divided.
pub(super) const PARTS: u64 = 1000;

/// A stream in which any `window` consecutive positions have each source as often as its share says, rounded down
/// or up.
///
/// A source with a share of `units / PARTS` samples of a window has `units / PARTS`, rounded down, places of its
/// own in it. They are the same in each window, so a window that slides over the stream contains each of them
/// once. Each window has `slots` places left. The sources take turns in these slots, for the rest of their shares:
///
/// ```text
/// tape    each source has units % PARTS cells in a row; all together have slots x PARTS cells
/// slot s  in window m belongs to the source at cell s x PARTS + m of the tape, which is a circle
/// ```
///
/// Slots are `PARTS` cells apart, and no source has that many cells. No source therefore has two slots of a
/// window, or another slot in the next window: it keeps its slot, then has none for a while. A sliding window thus
/// contains at most one slot of each source. In `PARTS` windows, the slots pass every cell once, and shares are
/// then exact.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quotas {
    window: u64,
    /// For each place of a window, its source or its slot.
    owners: Vec<Owner>,
    /// For each source, its own places, in ascending order.
    places: Vec<Vec<u64>>,
    /// The place of each slot.
    slots: Vec<u64>,
    /// For each source, the end of its cells on the tape.
    ends: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Owner {
    Source(usize),
    Slot(usize),
}

impl Quotas {
    /// Creates quotas. `units` must have a sum of `window * PARTS`.
    pub fn new(units: &[u64], window: u64, random: Random) -> Self {
        let own: Vec<u64> = units.iter().map(|units| units / PARTS).collect();
        let mut all = own.iter().enumerate().flat_map(|(i, &n)| std::iter::repeat_n(Owner::Source(i), n as usize));
        let mut all: Vec<Owner> = all.by_ref().collect();
        all.extend((0..(window as usize).saturating_sub(all.len())).map(Owner::Slot));
        let shuffle = Permutation::keyed(window, random);
        let owners: Vec<Owner> = (0..window).filter_map(|i| all.get(shuffle.get(i)? as usize).copied()).collect();
        let mut places = vec![Vec::new(); units.len()];
        let mut slots = vec![0; all.iter().filter(|owner| matches!(owner, Owner::Slot(_))).count()];
        for (place, owner) in (0..).zip(&owners) {
            match *owner {
                Owner::Source(i) => places[i].push(place),
                Owner::Slot(s) => slots[s] = place,
            }
        }
        let mut end = 0;
        let mut ends = Vec::with_capacity(units.len());
        for units in units {
            end += units % PARTS;
            ends.push(end);
        }
        Quotas { window, owners, places, slots, ends }
    }

    /// The source at a position, and the number of its positions before that.
    pub fn at(&self, position: u64) -> (usize, u64) {
        let (number, place) = (position / self.window, position % self.window);
        let source = match self.owners[place as usize] {
            Owner::Source(source) => source,
            Owner::Slot(slot) => {
                let tape = self.slots.len() as u64 * PARTS;
                let cell = (slot as u64 * PARTS + number % tape) % tape;
                self.ends.partition_point(|&end| end <= cell)
            }
        };
        (source, self.before(source, position))
    }

    /// The number of positions of a source before this one.
    pub fn before(&self, source: usize, position: u64) -> u64 {
        let (number, place) = (position / self.window, position % self.window);
        let own = &self.places[source];
        let whole = number * own.len() as u64 + self.extras(source, number);
        let slot = self.slot_of(source, number).filter(|&slot| self.slots[slot] < place);
        whole + own.partition_point(|&own| own < place) as u64 + u64::from(slot.is_some())
    }

    /// The cells of a source: the first, and the one after the last.
    fn cells(&self, source: usize) -> (u64, u64) {
        (source.checked_sub(1).map_or(0, |last| self.ends[last]), self.ends[source])
    }

    /// The number of slots of a source in the first `windows` windows.
    fn extras(&self, source: usize, windows: u64) -> u64 {
        let (begin, end) = self.cells(source);
        let (whole, rest) = (windows / PARTS, windows % PARTS);
        // In `rest` windows, each slot passes this many cells. Together, the slots pass the first `rest` of each
        // `PARTS` cells.
        let passed = |cells: u64| cells / PARTS * rest + (cells % PARTS).min(rest);
        whole * (end - begin) + passed(end) - passed(begin)
    }

    /// The slot of a source in a window.
    fn slot_of(&self, source: usize, number: u64) -> Option<usize> {
        let slots = self.slots.len() as u64;
        let (begin, end) = self.cells(source);
        let (round, at) = (number / PARTS, number % PARTS);
        // The slots are at cells `at`, `PARTS + at`, …. This looks for one of these among the source's cells.
        let stand = begin.saturating_sub(at).div_ceil(PARTS);
        (stand * PARTS + at < end).then(|| ((stand + slots - round % slots) % slots) as usize)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::stream;
    use crate::sampler::order::shares::units;

    fn quotas(weights: &[f64], window: u64, seed: u64) -> (Quotas, Vec<u64>) {
        let units = units(weights, window);
        (Quotas::new(&units, window, Random::new(seed, &[stream::MIX, 0])), units)
    }

    fn weights() -> impl Strategy<Value = Vec<f64>> {
        let some = |weights: &Vec<f64>| weights.iter().any(|&w| w > 0.0);
        prop::collection::vec(prop_oneof![3 => 0.01..1.0f64, 1 => Just(0.0), 1 => Just(0.5)], 1..8)
            .prop_filter("all are 0", some)
    }

    /// Walks from window to window as the rule describes, without a closed form.
    fn walked(quotas: &Quotas, windows: u64) -> Vec<usize> {
        let tape: Vec<usize> = (0..quotas.ends.len())
            .flat_map(|i| {
                let (begin, end) = quotas.cells(i);
                std::iter::repeat_n(i, (end - begin) as usize)
            })
            .collect();
        let mut heads: Vec<usize> = (0..quotas.slots.len()).map(|s| s * PARTS as usize).collect();
        let mut stream = Vec::new();
        for _ in 0..windows {
            stream.extend(quotas.owners.iter().map(|owner| match *owner {
                Owner::Source(i) => i,
                Owner::Slot(s) => tape[heads[s]],
            }));
            heads.iter_mut().for_each(|head| *head = (*head + 1) % tape.len());
        }
        stream
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Checks every window that slides over the stream, more than once around the tape.
        #[test]
        fn any_window_has_the_quotas_at_most_one_off(weights in weights(), window in 1u64..24, seed: u64) {
            let (quotas, units) = quotas(&weights, window, seed);
            let windows = (quotas.slots.len() as u64 + 1) * PARTS + 3;
            let stream = walked(&quotas, windows);
            let mut counts = vec![0u64; weights.len()];
            for (i, &source) in stream.iter().enumerate() {
                counts[source] += 1;
                if let Some(gone) = i.checked_sub(window as usize) {
                    counts[stream[gone]] -= 1;
                }
                if i + 1 >= window as usize {
                    for (count, units) in counts.iter().zip(&units) {
                        prop_assert!((count * PARTS).abs_diff(*units) < PARTS, "{:?} of {:?} at {}", counts, units, i);
                    }
                }
            }
        }

        #[test]
        fn the_closed_form_is_what_walking_finds(weights in weights(), window in 1u64..24, seed: u64) {
            let (quotas, _) = quotas(&weights, window, seed);
            let mut counts = vec![0u64; weights.len()];
            for (position, source) in (0..).zip(walked(&quotas, (quotas.slots.len() as u64 + 1) * PARTS + 3)) {
                prop_assert_eq!(quotas.at(position), (source, counts[source]), "position {}", position);
                counts[source] += 1;
            }
        }

        /// Checks any position that fits 64 bits: the source of a position has one more position after it.
        #[test]
        fn counts_grow_by_one_at_their_positions(
            weights in weights(), window in 1u64..5000, seed: u64, position in 0..u64::MAX - 1,
        ) {
            let (quotas, _) = quotas(&weights, window, seed);
            let (source, before) = quotas.at(position);
            for i in 0..weights.len() {
                let grown = quotas.before(i, position + 1) - quotas.before(i, position);
                prop_assert_eq!(grown, u64::from(i == source));
            }
            prop_assert_eq!(quotas.before(source, position), before);
            let all: u64 = (0..weights.len()).map(|i| quotas.before(i, position)).sum();
            prop_assert_eq!(all, position);
        }

        #[test]
        fn many_windows_have_the_shares_exactly(weights in weights(), window in 1u64..2000, from in 0u64..1 << 30) {
            let (quotas, units) = quotas(&weights, window, 1);
            let from = from * window;
            for (i, units) in units.iter().enumerate() {
                prop_assert_eq!(quotas.before(i, from + window * PARTS) - quotas.before(i, from), *units);
            }
        }
    }
}
