//! Deals items to parts by shares, so that rounding does not starve a small part.

/// Deals classes to parts. Each count is the exact one, rounded down or up. If rounding takes something from a part
/// in one class, the part gets it in the next, so that many small classes do not starve a small part.
pub(super) struct Dealer<'a> {
    shares: &'a [u64],
    whole: i128,
    /// How much each part has missed so far, in units of 1/whole.
    owed: Vec<i128>,
}

impl<'a> Dealer<'a> {
    pub fn new(shares: &'a [u64]) -> Self {
        let whole = shares.iter().map(|&s| i128::from(s)).sum::<i128>().max(1);
        Dealer { shares, whole, owed: vec![0; shares.len()] }
    }

    /// How many of the `n` items of a class go to each part.
    pub fn deal(&mut self, n: u64) -> Vec<u64> {
        let exact: Vec<i128> = self.shares.iter().map(|&s| i128::from(n) * i128::from(s)).collect();
        let mut counts: Vec<i128> = exact.iter().map(|e| e / self.whole).collect();
        let rest = i128::from(n) - counts.iter().sum::<i128>();
        // A part whose exact count is a whole number gets exactly that.
        let mut open: Vec<usize> = (0..counts.len()).filter(|&i| exact[i] % self.whole != 0).collect();
        open.sort_by_key(|&i| (-(exact[i] % self.whole + self.owed[i]), i));
        for &i in open.iter().take(usize::try_from(rest).unwrap_or(0)) {
            counts[i] += 1;
        }
        for i in 0..counts.len() {
            self.owed[i] += exact[i] - counts[i] * self.whole;
        }
        counts.into_iter().map(|c| u64::try_from(c).unwrap_or(0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn small_classes_do_not_starve_a_part() {
        let shares = [800_000_000, 100_000_000, 100_000_000];
        let mut dealer = Dealer::new(&shares);
        let mut sums = [0; 3];
        for _ in 0..20 {
            let counts = dealer.deal(5);
            assert!((3..=5).contains(&counts[0]), "{counts:?}");
            sums.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
        }
        assert_eq!(sums, [80, 10, 10]);
        assert_eq!(Dealer::new(&shares).deal(10), [8, 1, 1]);
        assert_eq!(Dealer::new(&[333_333_333; 3]).deal(9), [3, 3, 3]);
    }

    proptest! {
        #[test]
        fn everything_is_dealt_and_counts_are_near(shares in prop::collection::vec(1u64..1_000_000, 1..6),
                                                   classes in prop::collection::vec(0u64..50, 1..30)) {
            let whole: u64 = shares.iter().sum();
            let mut dealer = Dealer::new(&shares);
            let mut sums = vec![0; shares.len()];
            for &n in &classes {
                let counts = dealer.deal(n);
                prop_assert_eq!(counts.iter().sum::<u64>(), n);
                for (i, &count) in counts.iter().enumerate() {
                    let floor = n * shares[i] / whole;
                    prop_assert!(count == floor || count == floor + 1);
                    sums[i] += count;
                }
            }
            for (i, &sum) in sums.iter().enumerate() {
                let exact = classes.iter().sum::<u64>() as f64 * shares[i] as f64 / whole as f64;
                prop_assert!((sum as f64 - exact).abs() < shares.len() as f64, "{sum} for {exact}");
            }
        }
    }
}
