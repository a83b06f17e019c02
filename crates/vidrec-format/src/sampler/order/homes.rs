//! A shuffle for clusters. Each home mostly reads blocks of its own, which its cache holds after the first epoch.

use super::{Blocks, Permutation};
use crate::random::{Random, stream};

/// An order in which `homes` share blocks of `block` neighbors. Each epoch deals a fraction `exchange` of the
/// blocks again. Each home has its blocks in a new order each epoch, mixed within a window as by [`Blocks`].
///
/// ```text
/// n = 13, block 2, homes 2    by the seed, blocks    [6 7] [0 1] [10 11] | [4 5] [2 3] [8 9] [12]
/// exchange 0.5                this epoch, blocks     [2 3] [0 1] [10 11] | [4 5] [6 7] [8 9] [12]
/// window 2                    mixed in each home     3 2 11 10 | 0 1     | 7 4 6 5 | 8 12 9
/// homes in turn, leftover     3 7 2 4 11 6 10 5 0 8 1 12, 9
/// ```
///
/// * The seed alone permutes all whole blocks. Each home owns a run of whole slots, as many as every home can
///   have. It also owns an equal share of the samples of the remaining blocks. The last of these may be short.
/// * Each epoch except the first draws `round(exchange U)` of the `U` slots and permutes their blocks. The
///   exchange starts from the owned blocks each time. If a home keeps on disk what it read in the first epoch, it
///   later reads only the blocks that were exchanged.
/// * Position `p` is sample `p / homes` of home `p % homes`. Some homes have one sample more than others. These
///   samples come at the end, home after home, and any rank may get them.
///
/// This is a pure function of (`n`, `homes`, `exchange`, `block`, `window`, seed, epoch) in constant memory, and a
/// bijection.
///
/// Exchanging a part of the data between epochs is *partial local shuffling*. In the experiments of Nguyen et al. ("Why
/// Globally Re-shuffle? Revisiting Data Shuffling in Large Scale Deep Learning", IPDPS 2022, pages 1085 to 1096) on up
/// to 4,096 nodes, validation accuracy stayed that of a global shuffle when the fraction was tuned with care.
///
/// ```
/// use vidrec::order::Homes;
///
/// let order = Homes::new(1000, 4, 0.1, 10, 8, 7, 0);
/// let mut clips: Vec<u64> = (0..order.len()).map(|i| order.get(i).unwrap()).collect();
/// assert_eq!([order.home(0), order.home(6)], [Some(0), Some(2)]);
/// clips.sort_unstable();
/// assert!(clips.into_iter().eq(0..1000));
/// ```
#[derive(Debug, Clone)]
pub struct Homes {
    n: u64,
    homes: u64,
    block: u32,
    window: u32,
    seed: u64,
    epoch: u64,
    /// The whole block in each slot, before an exchange.
    owned: Permutation,
    /// The slots. Those that exchange their blocks come first.
    slots: Permutation,
    /// The exchanging slot from which each exchanging slot takes its block.
    exchange: Permutation,
}

impl Homes {
    /// Creates the order of `n` samples in `epoch` under `seed`. A `homes`, `block` or `window` of 0 counts as 1.
    /// An `exchange` outside 0 to 1 counts as the nearer of both, and NaN as 0.
    pub fn new(n: u64, homes: u32, exchange: f64, block: u32, window: u32, seed: u64, epoch: u64) -> Self {
        let block = block.max(1);
        let blocks = n / u64::from(block);
        // In epoch 0, no home has read anything, and the seed has dealt all blocks. In later epochs, both
        // operations round the same on every platform (IEEE 754), and the cast saturates.
        let exchanged = if epoch == 0 { 0 } else { (exchange.clamp(0.0, 1.0) * blocks as f64).round() as u64 };
        let keyed = |n, ids: &[u64]| Permutation::keyed(n, Random::new(seed, ids));
        Homes {
            n,
            homes: homes.max(1).into(),
            block,
            window,
            seed,
            epoch,
            owned: keyed(blocks, &[stream::HOMES]),
            slots: keyed(blocks, &[stream::HOMES, epoch, 0]),
            exchange: keyed(exchanged.min(blocks), &[stream::HOMES, epoch, 1]),
        }
    }

    /// The number of samples.
    pub fn len(&self) -> u64 {
        self.n
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The home that has `position`, counted from 0; `None` past the end.
    pub fn home(&self, position: u64) -> Option<u64> {
        self.place(position).map(|(home, _)| home)
    }

    /// The sample at `position`; `None` past the end.
    pub fn get(&self, position: u64) -> Option<u64> {
        let (home, number) = self.place(position)?;
        let block = u64::from(self.block);
        let seed = Random::new(self.seed, &[stream::HOMES, home]).next_u64();
        let stored = Blocks::new(self.size(home), self.block, self.window, seed, self.epoch).get(number)?;
        // The home's own slots come first, then its share of the rest.
        let (slot, offset) = match stored.checked_sub(self.slots_each() * block) {
            None => (home * self.slots_each() + stored / block, stored % block),
            Some(of_rest) => {
                let at = self.share(home) + of_rest;
                (self.homes * self.slots_each() + at / block, at % block)
            }
        };
        // The short block at the end is in the slot after the last.
        Some(self.block_in(slot).unwrap_or(self.owned.len()) * block + offset)
    }

    /// The whole block in a slot, in this epoch; `None` past the last slot.
    fn block_in(&self, slot: u64) -> Option<u64> {
        let from = match self.slots.position(slot).and_then(|place| self.exchange.get(place)) {
            Some(place) => self.slots.get(place)?,
            None => slot,
        };
        self.owned.get(from)
    }

    /// The number of whole slots that each home owns.
    fn slots_each(&self) -> u64 {
        self.owned.len() / self.homes
    }

    /// The start of a home's share among the samples that are in no home's own slots.
    fn share(&self, home: u64) -> u64 {
        let rest = self.n - self.homes * self.slots_each() * u64::from(self.block);
        (u128::from(home) * u128::from(rest) / u128::from(self.homes)) as u64
    }

    /// The number of samples of a home.
    fn size(&self, home: u64) -> u64 {
        self.slots_each() * u64::from(self.block) + self.share(home + 1) - self.share(home)
    }

    /// The home that has a position, and the number of its sample among those of the home.
    fn place(&self, position: u64) -> Option<(u64, u64)> {
        if position >= self.n {
            return None;
        }
        let (least, more) = (self.n / self.homes, self.n % self.homes);
        let Some(beyond) = position.checked_sub(least * self.homes) else {
            return Some((position % self.homes, position / self.homes));
        };
        // h M / homes of the M homes with one sample more come before home h.
        let home = (u128::from(beyond + 1) * u128::from(self.homes)).div_ceil(u128::from(more)) - 1;
        Some((home as u64, least))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    const EXCHANGES: [f64; 3] = [0.0, 0.3, 1.0];

    fn all(order: &Homes) -> Vec<u64> {
        (0..order.len()).map(|i| order.get(i).unwrap()).collect()
    }

    /// The samples of each home.
    fn by_home(order: &Homes) -> Vec<BTreeSet<u64>> {
        let mut found = vec![BTreeSet::new(); order.homes as usize];
        (0..order.len()).for_each(|p| assert!(found[order.home(p).unwrap() as usize].insert(order.get(p).unwrap())));
        found
    }

    #[test]
    fn an_order_never_changes() {
        let order = |exchange, epoch| all(&Homes::new(13, 2, exchange, 2, 2, 42, epoch));
        let why = "resumed and repeated runs depend on it";
        assert_eq!(order(0.0, 0), [0, 5, 1, 4, 6, 12, 7, 3, 11, 9, 10, 2, 8], "{why}");
        assert_eq!(order(0.5, 3), [3, 7, 2, 4, 11, 6, 10, 5, 0, 8, 1, 12, 9], "{why}");
        let shared = all(&Homes::new(15, 4, 0.5, 2, 2, 42, 1));
        assert_eq!(shared, [7, 3, 9, 1, 6, 8, 11, 4, 2, 12, 10, 14, 13, 0, 5], "{why}");
        assert_eq!(order(1.0, 2), [9, 7, 4, 0, 8, 1, 5, 6, 10, 3, 11, 12, 2], "{why}");
    }

    #[test]
    fn the_largest_sets_do_not_overflow() {
        for (homes, block) in [(u32::MAX, u32::MAX), (u32::MAX, 1), (1, 1), (3, 7)] {
            let order = Homes::new(u64::MAX, homes, 1.0, block, u32::MAX, 1, 2);
            for position in [0, 1, u64::MAX / 2, u64::MAX - 1] {
                assert!(order.get(position).unwrap() < u64::MAX);
                assert!(order.home(position).unwrap() < u64::from(homes));
            }
            assert_eq!((order.get(u64::MAX), order.home(u64::MAX)), (None, None));
        }
    }

    /// The number of blocks that change homes over many epochs: all that are exchanged, except those that return
    /// home.
    #[test]
    fn the_exchanged_part_is_as_stated() {
        for exchange in [0.0, 0.1, 0.5, 1.0] {
            let own = by_home(&Homes::new(4000, 4, 0.0, 10, 4, 3, 0));
            let foreign = |epoch| -> usize {
                let order = Homes::new(4000, 4, exchange, 10, 4, 3, epoch);
                by_home(&order).iter().zip(&own).map(|(now, own)| now.difference(own).count() / 10).sum()
            };
            let mean = (1..21).map(foreign).sum::<usize>() as f64 / 20.0;
            let expected = exchange * 400.0 * 0.75;
            assert!((mean - expected).abs() <= 0.06 * expected, "exchange {exchange}: {mean} blocks for {expected}");
        }
    }

    proptest! {
        #[test]
        fn every_sample_comes_once_and_homes_have_equal_shares(
            n in 0u64..400, homes in 1u32..9, exchange in prop::sample::select(&EXCHANGES[..]), block in 1u32..20,
            window in 1u32..8, seed: u64, epoch in 0u64..3,
        ) {
            let order = Homes::new(n, homes, exchange, block, window, seed, epoch);
            let mut found = all(&order);
            found.sort_unstable();
            prop_assert!(found.into_iter().eq(0..n));
            let sizes: Vec<u64> = by_home(&order).iter().map(|samples| samples.len() as u64).collect();
            let least = n / u64::from(homes);
            prop_assert!(sizes.iter().all(|&size| size == least || size == least + 1), "{sizes:?}");
            // Homes take turns until only those with one sample more are left.
            let turns = least * u64::from(homes);
            prop_assert!((0..turns).all(|p| order.home(p) == Some(p % u64::from(homes))));
            prop_assert!((turns..n).map(|p| order.home(p)).is_sorted());
        }

        #[test]
        fn a_home_reads_whole_blocks_and_no_more_of_others_than_is_exchanged(
            n in 0u64..400, homes in 1u32..9, exchange in prop::sample::select(&EXCHANGES[..]), block in 1u32..20,
            window in 1u32..8, seed: u64, epoch in 1u64..4,
        ) {
            let order = |exchange, epoch| Homes::new(n, homes, exchange, block, window, seed, epoch);
            let (first, now) = (order(0.0, 0), order(exchange, epoch));
            let (own, read) = (by_home(&first), by_home(&now));
            let exchanged = (exchange * (n / u64::from(block)) as f64).round() as usize * block as usize;
            let foreign = read.iter().zip(&own).map(|(read, own)| read.difference(own).count());
            prop_assert!(foreign.sum::<usize>() <= exchanged);
            // A home has parts of whole blocks only where the rest is shared: at most one block at each end of its
            // share.
            for (read, home) in read.iter().zip(0..) {
                let size = u64::from(block);
                let whole = |b: &u64| (b * size..(b + 1) * size).all(|sample| read.contains(&sample));
                let found: BTreeSet<u64> = read.iter().map(|sample| sample / u64::from(block)).collect();
                prop_assert!(found.iter().filter(|b| !whole(b)).count() <= 2, "home {home}");
            }
            if exchange == 0.0 {
                prop_assert_eq!(read, own, "the same samples in every epoch");
            }
        }
    }
}
