//! Random numbers that are a pure function of a key and a counter: Philox4x32-10.
//!
//! Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011. The same key produces the
//! same numbers on every platform, with any number of threads, and in every release of vidrec. Packed data sets,
//! epochs and augmentations depend on this, so a change here is a change of format.

/// The first id of a stream. Each use has its own, so that no two parts of the library share random numbers.
pub mod stream {
    /// Frames chosen at pack time. Next ids: the ordinal of the video, then the number of the draw unless it is the
    /// first.
    pub const FRAMES: u64 = 1;
    /// The order of an epoch. Next ids: the epoch, then the window if samples are shuffled within windows.
    pub const ORDER: u64 = 2;
    /// Crop and flip. Next ids: the epoch and the sample.
    pub const AUGMENT: u64 = 3;
    /// Sampling in proportion to weights. Next ids: the epoch and the position.
    pub const WEIGHTED: u64 = 4;
    /// Frames chosen when loading. Next ids: the epoch and the sample.
    pub const TEMPORAL: u64 = 5;
    /// Color jitter of a clip. Next ids: the epoch and the sample.
    pub const COLOR: u64 = 6;
    /// The substitute for a sample that cannot be read. Next ids: the epoch, the sample and the number of the attempt.
    pub const SUBSTITUTE: u64 = 7;
    /// Which blocks a home has. There are no next ids for the home's own blocks. For the seed of its order, the next
    /// id is the home. For the choice of the blocks to exchange, the next ids are the epoch and 0. For the exchange
    /// itself, they are the epoch and 1.
    pub const HOMES: u64 = 8;
    /// A mix of data sets. For the places of sources in the windows of a stretch, the next ids are 0 and the first
    /// sample of the stretch. For the seed of a source's order, the next id is the number of the source, from 1.
    pub const MIX: u64 = 9;
    /// Which clips of a class go to which part of a split. Next id: the class.
    pub const SPLIT: u64 = 20;
    /// Which clips are in a random subset of a data set.
    pub const SAMPLE: u64 = 21;
    /// Which clips a page about data sets shows. Next id: the number of the data set.
    pub const REPORT: u64 = 22;
}

/// A stream of random numbers for one key: a seed, and ids that say what the numbers are for.
#[derive(Debug, Clone)]
pub struct Random {
    key: [u32; 2],
    /// Words 0 and 1 count blocks; words 2 and 3 distinguish streams.
    counter: [u32; 4],
    block: [u32; 4],
    used: usize,
}

impl Random {
    /// The stream named by `ids` (for example epoch and clip) under `seed`.
    ///
    /// The generator itself folds in one id after another, so that lists that differ in value, order or length
    /// produce unrelated streams.
    pub fn new(seed: u64, ids: &[u64]) -> Self {
        let mut state = [0, 0, seed as u32, (seed >> 32) as u32];
        for (i, &id) in ids.iter().enumerate() {
            let [_, _, low, high] = state;
            let mixed = philox([id as u32, (id >> 32) as u32, i as u32, 1], [low, high]);
            state = [mixed[0], mixed[1], mixed[2], mixed[3]];
        }
        let [a, b, low, high] = state;
        Random { key: [low, high], counter: [0, 0, a, b], block: [0; 4], used: 4 }
    }

    /// 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        if self.used == 4 {
            self.block = philox(self.counter, self.key);
            let count = (u64::from(self.counter[1]) << 32 | u64::from(self.counter[0])).wrapping_add(1);
            (self.counter[0], self.counter[1]) = (count as u32, (count >> 32) as u32);
            self.used = 0;
        }
        self.used += 1;
        self.block[self.used - 1]
    }

    /// 64 random bits: two draws, the low half first.
    pub fn next_u64(&mut self) -> u64 {
        let low = u64::from(self.next_u32());
        u64::from(self.next_u32()) << 32 | low
    }

    /// Uniform in [0, 1), on a grid of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [0, n), without bias; 0 if `n` is 0.
    ///
    /// Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 2019.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        let reject_under = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(n);
            if product as u64 >= reject_under {
                return (product >> 64) as u64;
            }
        }
    }

    /// The shuffle of Fisher and Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

/// Ten rounds of Philox4x32 on one counter.
pub(crate) fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let left = u64::from(counter[0]) * 0xD251_1F53;
        let right = u64::from(counter[2]) * 0xCD9E_8D57;
        let (left_high, right_high) = ((left >> 32) as u32, (right >> 32) as u32);
        counter = [right_high ^ counter[1] ^ key[0], right as u32, left_high ^ counter[3] ^ key[1], left as u32];
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the authors' Random123 library, `tests/kat_vectors`.
    #[test]
    fn philox_gives_the_published_answers() {
        let ones = [u32::MAX; 4];
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox(ones, [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        let pi = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        assert_eq!(philox(pi, [0xa409_3822, 0x299f_31d0]), [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
    }

    #[test]
    fn streams_differ_in_seed_value_order_and_length_of_their_ids() {
        let keys: [(u64, &[u64]); 9] = [
            (0, &[]),
            (1, &[]),
            (1 << 32, &[]),
            (0, &[0]),
            (0, &[0, 0]),
            (0, &[0, 1]),
            (0, &[1, 0]),
            (0, &[1]),
            (0, &[1 << 32]),
        ];
        let mut firsts: Vec<u64> = keys.iter().map(|(seed, ids)| Random::new(*seed, ids).next_u64()).collect();
        firsts.sort_unstable();
        firsts.dedup();
        assert_eq!(firsts.len(), keys.len());
    }

    #[test]
    fn units_and_belows_are_evenly_spread() {
        let mut random = Random::new(3, &[1, 4]);
        let mean = (0..100_000).map(|_| random.unit()).sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
        let mut counts = [0u32; 7];
        (0..70_000).for_each(|_| counts[random.below(7) as usize] += 1);
        let chi2: f64 = counts.iter().map(|&c| (f64::from(c) - 1e4).powi(2) / 1e4).sum();
        assert!(chi2 < 22.5, "6 degrees of freedom, p = 0.001: {chi2}");
    }

    #[test]
    fn below_stays_below_at_the_edges() {
        let mut random = Random::new(3, &[]);
        assert_eq!((random.below(0), random.below(1)), (0, 0));
        for n in [2, 3, (1 << 63) + 1, u64::MAX] {
            assert!((0..100).all(|_| random.below(n) < n));
        }
    }
}
