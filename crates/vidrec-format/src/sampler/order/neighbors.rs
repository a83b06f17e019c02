//! The chance that neighbors share a batch, which tells how well an order mixes.

use super::Order;

impl Order {
    /// The chance that two clips stored next to each other share a batch of `batch_size`, over all epochs, in an
    /// epoch of `n` samples. Clips that are stored together often have much in common, so a smaller chance is
    /// better. The exact shuffle has the smallest.
    ///
    /// | order | chance |
    /// | --- | --- |
    /// | sequential | `(B - 1) / B`, or 1 if the batch holds everything |
    /// | shuffled | `(B - 1) / (n - 1)` |
    /// | blocks | for two clips of a block, about `(B - 1) / (M - 1)`, where `M = block * window`: both are in the same window, which is shuffled |
    /// | homes | the same with `n / homes` samples, for ranks that each read one home |
    ///
    /// If a batch holds parts of two windows, this counts the chance of each part. A block or home that is shorter
    /// than others counts as a part of one. `None` for orders that do not know neighbors ([`Order::List`],
    /// [`Order::Weighted`]), and if the number of homes is not given. 0 if there are fewer than two samples.
    ///
    /// ```
    /// use vidrec::order::Order;
    ///
    /// // A million clips of 180 kB in blocks of 8 MiB, of which 2 GiB are mixed at a time.
    /// let chance = |order: Order| order.neighbors_share_a_batch(1_000_000, 64).unwrap();
    /// let blocks = chance(Order::Blocks { block: 46, window: 256 });
    /// assert!((0.0053..0.0054).contains(&blocks), "one pair in 187");
    /// assert!((0.000062..0.000064).contains(&chance(Order::Shuffled)), "one pair in 15,873");
    /// ```
    pub fn neighbors_share_a_batch(&self, n: u64, batch_size: u32) -> Option<f64> {
        let batch = u64::from(batch_size.max(1));
        Some(match *self {
            // All pairs of neighbors count, except those on two sides of a border.
            Order::Sequential if n >= 2 => ((n - 1) - (n - 1) / batch) as f64 / (n - 1) as f64,
            Order::Sequential => 0.0,
            Order::Shuffled => in_one_batch(0, n, batch),
            Order::Blocks { block, window } => in_windows(n, block, window, batch),
            Order::Homes { homes: Some(homes), block, window, .. } => {
                in_windows(n / u64::from(homes.max(1)), block, window, batch)
            }
            _ => return None,
        })
    }
}

/// The fraction of all pairs of samples in the same block that share a batch.
fn in_windows(n: u64, block: u32, window: u32, batch: u64) -> f64 {
    let length = u64::from(block.max(1)) * u64::from(window.max(1));
    let (whole, rest) = (n / length, n % length);
    // The place of windows in a batch repeats after at most `batch` windows.
    let counted = whole.min(batch);
    let begins = (0..counted).map(|i| u128::from(i) * u128::from(length) % u128::from(batch));
    let of_whole: f64 = begins.map(|begin| in_one_batch(begin as u64, length, batch)).sum();
    let of_rest = in_one_batch((n - rest) % batch, rest, batch);
    let mean = if counted > 0 { of_whole / counted as f64 } else { 0.0 };
    if n == 0 { 0.0 } else { (mean * (n - rest) as f64 + of_rest * rest as f64) / n as f64 }
}

/// The fraction of all pairs among `length` shuffled samples that share a batch. The first sample is at place
/// `begin` of a batch.
fn in_one_batch(begin: u64, length: u64, batch: u64) -> f64 {
    if length < 2 {
        return 0.0;
    }
    let first = (batch - begin).min(length);
    let (middle, last) = ((length - first) / batch, (length - first) % batch);
    let pairs = |samples: u64| samples as f64 * samples.saturating_sub(1) as f64;
    (pairs(first) + middle as f64 * pairs(batch) + pairs(last)) / pairs(length)
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::sampler::order::{LastBatch, Ranks};

    /// Counts the fraction of all pairs of samples of the same block, or of adjacent samples without blocks, that
    /// share a batch of a rank.
    fn counted(order: &Order, n: u64, batch_size: u32, world: u32, seeds: u64) -> f64 {
        let block = match order {
            Order::Blocks { block, .. } | Order::Homes { block, .. } => u64::from(*block),
            _ => 0,
        };
        let ranks = Ranks::new(n, batch_size, world, LastBatch::Pad).unwrap();
        let ranks = order.homes().map_or(ranks, |homes| ranks.by_homes(homes));
        let (mut pairs, mut shared) = (0u64, 0u64);
        for seed in 0..seeds {
            let epoch = order.epoch(n, seed, 0).unwrap();
            let mut batch_of = vec![None; n as usize];
            for (k, rank) in (0..ranks.batches()).flat_map(|k| (0..world).map(move |rank| (k, rank))) {
                let slots = (0..batch_size).map(|i| ranks.slot(k, rank, i).unwrap()).filter(|slot| slot.counts);
                slots.for_each(|slot| batch_of[epoch.get(slot.position).unwrap() as usize] = Some((k, rank)));
            }
            let neighbor = |a: u64, b: u64| match a.checked_div(block) {
                Some(of_a) => b.checked_div(block) == Some(of_a),
                None => a + 1 == b,
            };
            for (a, b) in (0..n).flat_map(|a| (a + 1..n.min(a + block.max(2))).map(move |b| (a, b))) {
                pairs += u64::from(neighbor(a, b));
                shared += u64::from(neighbor(a, b) && batch_of[a as usize] == batch_of[b as usize]);
            }
        }
        shared as f64 / pairs as f64
    }

    /// The tolerance is 6 %, about three standard deviations of the smallest counts.
    #[test]
    fn the_chance_is_what_counting_finds() {
        let blocks = |block, window| Order::Blocks { block, window };
        let homes = |homes, exchange| Order::Homes { homes: Some(homes), exchange, block: 10, window: 5 };
        for (order, n, batch_size, world, seeds) in [
            (Order::Sequential, 600, 16, 1, 1),
            (Order::Shuffled, 600, 16, 1, 400),
            (blocks(10, 5), 600, 16, 1, 60),
            (blocks(10, 5), 600, 10, 1, 60),
            (blocks(10, 5), 600, 64, 1, 30),
            (blocks(20, 1), 600, 7, 1, 30),
            (blocks(8, 40), 600, 16, 1, 100),
            (homes(4, 0.3), 2400, 16, 4, 30),
            (homes(1, 1.0), 600, 16, 1, 60),
            (homes(3, 0.0), 1800, 12, 3, 30),
        ] {
            let (said, found) =
                (order.neighbors_share_a_batch(n, batch_size).unwrap(), counted(&order, n, batch_size, world, seeds));
            assert!(
                (said / found - 1.0).abs() < 0.06,
                "{order:?} with batches of {batch_size}: {said}, counted {found}"
            );
        }
    }

    #[test]
    fn few_samples_and_huge_sets_have_a_chance_of_0_to_1() {
        let homes = Order::Homes { homes: Some(u32::MAX), exchange: 1.0, block: u32::MAX, window: u32::MAX };
        for order in [Order::Sequential, Order::Shuffled, Order::Blocks { block: 2, window: 3 }, homes] {
            for (n, batch_size) in [(0, 1), (1, 4), (2, 0), (2, 4), (u64::MAX, 4096), (u64::MAX, 1)] {
                let chance = order.neighbors_share_a_batch(n, batch_size).unwrap();
                assert!((0.0..=1.0).contains(&chance), "{order:?}, {n}, {batch_size}: {chance}");
            }
        }
        assert_eq!(Order::Shuffled.neighbors_share_a_batch(2, 4), Some(1.0));
    }
}
