//! A shuffle of any length in constant memory: a keyed Feistel network with cycle walking.

use crate::random::{Random, stream};

/// Luby and Rackoff ("How to Construct Pseudorandom Permutations", 1988) need 4 rounds with ideal round functions.
/// Twice that number leaves room for a plain mixer.
const ROUNDS: usize = 8;

/// Narrower halves mix poorly, so short orders walk through a domain of 2^8.
const LEAST_HALF_BITS: u32 = 4;

/// A permutation of 0 to `n - 1` that is a pure function of (`n`, seed, epoch).
///
/// A Feistel network permutes the smallest domain of 2^2h numbers that holds `n`. A result outside is fed in again
/// until one is inside (cycle walking: Black and Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002).
/// This takes fewer than four steps on average if `n` is 256 or more. The same arguments produce the same order on
/// every platform and in every release of this crate.
///
/// ```
/// use vidrec::order::Permutation;
///
/// let order = Permutation::new(1000, 7, 0);
/// let mut clips: Vec<u64> = (0..1000).map(|i| order.get(i).unwrap()).collect();
/// clips.sort_unstable();
/// assert!(clips.into_iter().eq(0..1000));
/// assert_eq!(order.get(1000), None);
/// ```
#[derive(Debug, Clone)]
pub struct Permutation {
    n: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// Creates the order of `n` things in `epoch` under `seed`.
    pub fn new(n: u64, seed: u64, epoch: u64) -> Self {
        Self::keyed(n, Random::new(seed, &[stream::ORDER, epoch]))
    }

    /// Creates the order of `n` things in one window of an epoch.
    pub(super) fn within(n: u64, seed: u64, epoch: u64, window: u64) -> Self {
        Self::keyed(n, Random::new(seed, &[stream::ORDER, epoch, window]))
    }

    /// Creates the order of `n` things from a stream of random numbers.
    pub(super) fn keyed(n: u64, mut random: Random) -> Self {
        let bits = u64::BITS - n.saturating_sub(1).leading_zeros();
        Permutation {
            n,
            half_bits: bits.div_ceil(2).max(LEAST_HALF_BITS),
            keys: std::array::from_fn(|_| random.next_u64()),
        }
    }

    /// The number of things.
    pub fn len(&self) -> u64 {
        self.n
    }

    /// Whether there are no things.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The value at position `i`; `None` past the end.
    pub fn get(&self, i: u64) -> Option<u64> {
        self.walk(i, Self::forward)
    }

    /// The position of `value`, the inverse of [`get`](Self::get); `None` if there is no such value.
    pub fn position(&self, value: u64) -> Option<u64> {
        self.walk(value, Self::backward)
    }

    fn walk(&self, start: u64, step: fn(&Self, u64) -> u64) -> Option<u64> {
        if start >= self.n {
            return None;
        }
        // This loop ends: at the latest, a permutation of the domain comes back to `start`.
        let mut value = step(self, start);
        while value >= self.n {
            value = step(self, value);
        }
        Some(value)
    }

    fn forward(&self, value: u64) -> u64 {
        let (mut left, mut right) = self.split(value);
        for key in self.keys {
            (left, right) = (right, left ^ self.round(right, key));
        }
        self.join(left, right)
    }

    fn backward(&self, value: u64) -> u64 {
        let (mut left, mut right) = self.split(value);
        for key in self.keys.into_iter().rev() {
            (left, right) = (right ^ self.round(left, key), left);
        }
        self.join(left, right)
    }

    fn split(&self, value: u64) -> (u64, u64) {
        (value >> self.half_bits, value & self.mask())
    }

    fn join(&self, left: u64, right: u64) -> u64 {
        left << self.half_bits | right
    }

    /// The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014, constants by Stafford), reduced to half a
    /// domain.
    fn round(&self, half: u64, key: u64) -> u64 {
        let mut x = half ^ key;
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (x ^ x >> 31) & self.mask()
    }

    fn mask(&self) -> u64 {
        (1 << self.half_bits) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(n: u64, seed: u64, epoch: u64) -> Vec<u64> {
        let order = Permutation::new(n, seed, epoch);
        (0..n).map(|i| order.get(i).unwrap()).collect()
    }

    fn is_bijection(n: u64, seed: u64, epoch: u64) -> bool {
        let mut values = all(n, seed, epoch);
        values.sort_unstable();
        values.into_iter().eq(0..n)
    }

    #[test]
    fn the_largest_domains_work_and_invert() {
        for n in [u64::MAX, 1 << 63, (1 << 62) + 1, (1 << 32) + 1, 1 << 32] {
            let order = Permutation::new(n, 1, 2);
            for i in [0, 1, n / 2, n - 1] {
                let value = order.get(i).unwrap();
                assert!(value < n);
                assert_eq!(order.position(value), Some(i));
            }
            assert_eq!((order.get(n), order.position(n)), (None, None));
        }
    }

    #[test]
    fn an_order_never_changes() {
        assert_eq!(all(10, 42, 0), [8, 9, 1, 0, 7, 2, 4, 5, 6, 3], "resumed and repeated runs depend on it");
    }

    /// Over many epochs, each value should come evenly at each position: chi-square on the whole table of value by
    /// position.
    #[test]
    fn every_value_lands_everywhere_equally_often() {
        for n in [2u64, 3, 5, 10, 16, 17] {
            let epochs = 1000 * n;
            let mut counts = vec![0u64; (n * n) as usize];
            for epoch in 0..epochs {
                all(n, 9, epoch).iter().enumerate().for_each(|(i, &v)| counts[i * n as usize + v as usize] += 1);
            }
            let expected = epochs as f64 / n as f64;
            let chi2: f64 = counts.iter().map(|&c| (c as f64 - expected).powi(2) / expected).sum();
            let freedom = ((n - 1) * (n - 1)) as f64;
            // The table's statistic has (n - 1)^2 degrees of freedom. That number is its mean, and twice that its
            // variance.
            assert!(chi2 < freedom + 4.0 * (2.0 * freedom).sqrt() + 4.0, "n = {n}: {chi2} for {freedom}");
        }
    }

    proptest! {
        #[test]
        fn any_length_is_a_bijection_with_an_inverse(n in 0u64..3000, seed: u64, epoch: u64) {
            prop_assert!(is_bijection(n, seed, epoch));
            let order = Permutation::new(n, seed, epoch);
            for i in (0..n).step_by(37) {
                prop_assert_eq!(order.position(order.get(i).unwrap()), Some(i));
            }
        }
    }
}
