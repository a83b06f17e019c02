//! Exact quantiles without sorting: each pass over the numbers finds the next digit of the keys of all of them.

use super::number::Number;

/// The quantiles, in percent.
const PERCENT: [u8; 5] = [1, 10, 50, 90, 99];
/// Bits of a digit.
const DIGIT: u32 = 11;
const DIGITS: usize = 1 << DIGIT;

/// The quantiles of the numbers at some places of a value.
pub(super) struct Quantiles {
    /// The number of digits that are known.
    known: u32,
    places: Vec<[Quantile; 5]>,
    /// For each place, the known digits of its quantiles, each once and in order.
    prefixes: Vec<Vec<u64>>,
    /// For each place, the number of rows of counts before its own.
    rows: Vec<usize>,
}

/// What is known of a quantile.
#[derive(Clone)]
struct Quantile {
    /// Its first digits.
    prefix: u64,
    /// For each source, the number of numbers that have smaller digits.
    below: Vec<u64>,
}

/// For each of the known digits and each next digit, the number of numbers that have them.
pub(super) struct Counts(Vec<u64>);

impl Counts {
    pub fn add(&mut self, other: &Counts) {
        self.0.iter_mut().zip(&other.0).for_each(|(to, from)| *to += from);
    }
}

impl Quantiles {
    pub fn new(places: usize, sources: usize) -> Self {
        let quantile = Quantile { prefix: 0, below: vec![0; sources] };
        let places = vec![std::array::from_fn(|_| quantile.clone()); places];
        let mut new = Quantiles { known: 0, places, prefixes: Vec::new(), rows: Vec::new() };
        new.arrange();
        new
    }

    /// Whether all digits are known.
    pub fn are_found<T: Number>(&self) -> bool {
        self.known * DIGIT >= T::BITS
    }

    pub fn no_counts(&self) -> Counts {
        let rows: usize = self.prefixes.iter().map(Vec::len).sum();
        Counts(vec![0; rows * DIGITS])
    }

    /// Counts a number.
    pub fn count<T: Number>(&self, counts: &mut Counts, place: usize, number: T) {
        let (prefix, digit) = self.digits::<T>(number.key());
        if let Ok(row) = self.prefixes[place].binary_search(&prefix) {
            counts.0[(self.rows[place] + row) * DIGITS + digit] += 1;
        }
    }

    /// The known digits of a key, and the next one.
    fn digits<T: Number>(&self, key: u64) -> (u64, usize) {
        let after = |digits: u32| T::BITS.saturating_sub(digits * DIGIT);
        let (before, rest) = (after(self.known), after(self.known + 1));
        let prefix = key.checked_shr(before).unwrap_or(0);
        (prefix, ((key >> rest) & ((1 << (before - rest)) - 1)) as usize)
    }

    /// Takes the counts of each source, and finds the next digit of each quantile. Each place of each source has a
    /// share, and a number of numbers.
    pub fn find<T: Number>(&mut self, counts: &[Counts], shares: &[Vec<(f64, u64)>]) {
        let bits = T::BITS.saturating_sub(self.known * DIGIT).min(DIGIT);
        if bits == 0 {
            return;
        }
        for (place, quantiles) in self.places.iter_mut().enumerate() {
            for (quantile, percent) in quantiles.iter_mut().zip(PERCENT) {
                let row = self.prefixes[place].binary_search(&quantile.prefix).unwrap_or(0);
                let from = (self.rows[place] + row) * DIGITS;
                let next = |digit: usize| counts.iter().map(move |counts| counts.0[from + digit]);
                let mut below = quantile.below.clone();
                let (mut found, mut before) = (0, below.clone());
                for digit in 0..1usize << bits {
                    if next(digit).all(|n| n == 0) {
                        continue;
                    }
                    (found, before) = (digit, below.clone());
                    below.iter_mut().zip(next(digit)).for_each(|(below, n)| *below += n);
                    if share(&below, &shares[place]) >= f64::from(percent) / 100.0 {
                        break;
                    }
                }
                *quantile = Quantile { prefix: quantile.prefix << bits | found as u64, below: before };
            }
        }
        self.known += 1;
        self.arrange();
    }

    /// Arranges the counts for the next digit.
    fn arrange(&mut self) {
        let prefixes = |quantiles: &[Quantile; 5]| {
            let mut prefixes: Vec<u64> = quantiles.iter().map(|quantile| quantile.prefix).collect();
            prefixes.sort_unstable();
            prefixes.dedup();
            prefixes
        };
        self.prefixes = self.places.iter().map(prefixes).collect();
        self.rows =
            self.prefixes.iter().scan(0, |rows, all| Some(std::mem::replace(rows, *rows + all.len()))).collect();
    }

    /// The quantiles of each place, which mean nothing where there are no numbers.
    pub fn of<T: Number>(&self) -> Vec<[f64; 5]> {
        self.places.iter().map(|quantiles| quantiles.each_ref().map(|quantile| T::of_key(quantile.prefix))).collect()
    }
}

/// The share of all numbers that these are, if each source has `numbers` of its share of them.
fn share(numbers: &[u64], shares: &[(f64, u64)]) -> f64 {
    let of_source = |(&n, &(share, count)): (&u64, &(f64, u64))| share * (n as f64 / count.max(1) as f64);
    numbers.iter().zip(shares).map(of_source).sum()
}
