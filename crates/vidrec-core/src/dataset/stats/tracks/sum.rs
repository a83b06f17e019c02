//! A sum that keeps what rounding loses.

/// A sum of floats with the error of its rounding (Neumaier, ZAMM 54, 1974).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    pub const ZERO: Sum = Sum { sum: 0.0, lost: 0.0 };

    pub fn add(&mut self, n: f64) {
        let sum = self.sum + n;
        self.lost += if self.sum.abs() >= n.abs() { (self.sum - sum) + n } else { (n - sum) + self.sum };
        self.sum = sum;
    }

    /// Adds another sum.
    pub fn join(&mut self, other: Sum) {
        self.add(other.sum);
        self.lost += other.lost;
    }

    pub fn total(self) -> f64 {
        self.sum + self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_beside_large_ones_are_not_lost() {
        let sum = |numbers: &[f64]| {
            let mut sum = Sum::default();
            numbers.iter().for_each(|&n| sum.add(n));
            sum
        };
        assert_eq!(sum(&[1.0, 1e100, 1.0, -1e100]).total(), 2.0);
        let mut joined = sum(&[1e16, 1.0]);
        joined.join(sum(&[-1e16, 1.0]));
        assert_eq!(joined.total(), 2.0);
    }
}
