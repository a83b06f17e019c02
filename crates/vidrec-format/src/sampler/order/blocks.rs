//! A shuffle for slow disks. It puts blocks of neighbors in a new order and mixes them within a window of blocks.

use super::Permutation;

/// Blocks of `block` neighbors in a new order each epoch, mixed within each `window` blocks of that order.
///
/// ```text
/// n = 10, block 2, window 2    blocks, permuted   [8 9] [6 7] | [2 3] [0 1] | [4 5]
///                              mixed in windows    7 9 6 8    |  0 1 3 2    |  5 4
/// ```
///
/// This is a pure function of (`n`, `block`, `window`, seed, epoch) in constant memory, and a bijection. Only
/// `block * window` samples are read within a window, so a loader that reads one window ahead takes each block in
/// sequence.
#[derive(Debug, Clone)]
pub struct Blocks {
    n: u64,
    block: u64,
    window: u64,
    order: Permutation,
    /// The number of samples that the last block lacks, and the place of that block in the order of blocks.
    lacking: u64,
    short_at: u64,
    seed: u64,
    epoch: u64,
}

impl Blocks {
    /// Creates the order of `n` samples in `epoch` under `seed`. A `block` or `window` of 0 counts as 1.
    pub fn new(n: u64, block: u32, window: u32, seed: u64, epoch: u64) -> Self {
        let (block, window) = (u64::from(block.max(1)), u64::from(window.max(1)));
        let blocks = n.div_ceil(block);
        let order = Permutation::new(blocks, seed, epoch);
        let short_at = blocks.checked_sub(1).and_then(|last| order.position(last)).unwrap_or(0);
        // The result is less than `block`, which fits 32 bits. No multiple of `block` that exceeds 64 bits is ever
        // formed.
        let lacking = (block - n % block) % block;
        Blocks { n, block, window, order, lacking, short_at, seed, epoch }
    }

    /// The number of samples.
    pub fn len(&self) -> u64 {
        self.n
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The sample at `position`; `None` past the end.
    pub fn get(&self, position: u64) -> Option<u64> {
        if position >= self.n {
            return None;
        }
        let window = self.block_at(position).0 / self.window;
        let (begin, end) = (self.begin(window * self.window), self.begin((window + 1).saturating_mul(self.window)));
        let mixed = Permutation::within(end - begin, self.seed, self.epoch, window).get(position - begin)?;
        let (at, offset) = self.block_at(begin + mixed);
        Some(self.order.get(at)? * self.block + offset)
    }

    /// The first position of the block at `at` in the order of blocks.
    fn begin(&self, at: u64) -> u64 {
        let at = at.min(self.order.len());
        let full = u128::from(at) * u128::from(self.block);
        (full - u128::from(if at > self.short_at { self.lacking } else { 0 })) as u64
    }

    /// The place of a position's block in the order of blocks, and the offset of the position in that block.
    fn block_at(&self, position: u64) -> (u64, u64) {
        let after_short = position >= self.begin(self.short_at + 1);
        let even = u128::from(position) + u128::from(if after_short { self.lacking } else { 0 });
        ((even / u128::from(self.block)) as u64, (even % u128::from(self.block)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(blocks: &Blocks) -> Vec<u64> {
        (0..blocks.len()).map(|i| blocks.get(i).unwrap()).collect()
    }

    #[test]
    fn an_order_never_changes() {
        let order = all(&Blocks::new(10, 2, 2, 42, 0));
        assert_eq!(order, [7, 9, 6, 8, 0, 1, 3, 2, 5, 4], "resumed and repeated runs depend on it");
    }

    #[test]
    fn the_largest_sets_do_not_overflow() {
        let blocks = Blocks::new(u64::MAX, u32::MAX, u32::MAX, 1, 2);
        for position in [0, 1, u64::MAX / 2, u64::MAX - 1] {
            assert!(blocks.get(position).unwrap() < u64::MAX);
        }
        assert_eq!(blocks.get(u64::MAX), None);
    }

    proptest! {
        /// Compares with a list of all blocks, split into windows: each window has exactly the samples of its
        /// blocks.
        #[test]
        fn every_window_has_the_samples_of_its_blocks(
            n in 0u64..400, block in 1u32..20, window in 1u32..8, seed: u64, epoch in 0u64..3,
        ) {
            let order = all(&Blocks::new(n, block, window, seed, epoch));
            let size = u64::from(block);
            let permuted = Permutation::new(n.div_ceil(size), seed, epoch);
            let blocks: Vec<u64> = (0..permuted.len()).map(|i| permuted.get(i).unwrap()).collect();
            let mut left = &order[..];
            for blocks in blocks.chunks(window as usize) {
                let mut expected: Vec<u64> = blocks.iter().flat_map(|b| b * size..(b * size + size).min(n)).collect();
                let (found, rest) = left.split_at(expected.len());
                let mut found = found.to_vec();
                expected.sort_unstable();
                found.sort_unstable();
                prop_assert_eq!(found, expected);
                left = rest;
            }
            prop_assert!(left.is_empty());
        }
    }
}
