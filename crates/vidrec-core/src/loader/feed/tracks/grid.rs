//! Times in even steps.

/// Steps of `1 / rate` seconds, counted from 0. The time of each step is exact to the nearest nanosecond, whatever
/// its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grid {
    /// The time of `steps` steps in nanoseconds, in lowest terms.
    ns: u64,
    steps: u64,
}

impl Grid {
    /// Creates a grid for a number of values per second, as numerator and denominator.
    pub fn of((numerator, denominator): (u32, u32)) -> Self {
        let (ns, steps) = (u64::from(denominator.max(1)) * 1_000_000_000, u64::from(numerator.max(1)));
        let common = common_divisor(ns, steps);
        Grid { ns: ns / common, steps: steps / common }
    }

    /// The time of step `i`.
    pub fn ns(self, i: i64) -> i128 {
        let (ns, steps) = self.terms();
        match steps {
            1 => i128::from(i) * ns,
            steps => floor(2 * i128::from(i) * ns + steps, 2 * steps),
        }
    }

    /// The step nearest to a time of at most 66 bits.
    pub fn nearest(self, t: i128) -> i128 {
        let (ns, steps) = self.terms();
        floor(2 * t * steps + ns, 2 * ns)
    }

    /// The first step after a time of at most 66 bits. This is also the number of steps from 0 on that are at or
    /// before it.
    pub fn until(self, t: i128) -> i128 {
        let (ns, steps) = self.terms();
        // Step i is at or before t if 2 * i * ns / (2 * steps), which is rounded, is below t + 1/2.
        -floor(-(steps * (2 * t + 1)), 2 * ns)
    }

    fn terms(self) -> (i128, i128) {
        (self.ns.into(), self.steps.into())
    }
}

/// A quotient, rounded down. The division takes a fraction of the time if the numbers fit 64 bits.
fn floor(a: i128, b: i128) -> i128 {
    match (i64::try_from(a), i64::try_from(b)) {
        (Ok(a), Ok(b)) => a.div_euclid(b).into(),
        _ => a.div_euclid(b),
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn steps_are_rounded_to_the_nearest_nanosecond() {
        let ns = |rate, i| Grid::of(rate).ns(i);
        assert_eq!([0, 1, 2, 3].map(|i| ns((3, 1), i)), [0, 333_333_333, 666_666_667, 1_000_000_000]);
        assert_eq!(ns((30_000, 1001), 30_000), 1_001_000_000_000);
        assert_eq!(ns((16_000, 1), -1), -62_500);
        assert_eq!(ns((u32::MAX, 1), i64::MAX), i128::from(i64::MAX) * 1_000_000_000 / i128::from(u32::MAX) + 1);
    }

    proptest! {
        #[test]
        fn steps_and_times_are_inverse(
            i in prop_oneof![-1_000_003i64..1_000_003, Just(i64::MIN / 4), Just(i64::MAX / 4)],
            rate in prop::sample::select(vec![(16_000, 1), (30_000, 1001), (1, 7), (1_000_000, 3), (999_999_937, 2)]),
        ) {
            let (grid, i128) = (Grid::of(rate), i128::from(i));
            let t = grid.ns(i);
            prop_assert_eq!(grid.nearest(t), i128);
            prop_assert_eq!(grid.until(t), i128 + 1);
            prop_assert_eq!(grid.until(t - 1), i128);
        }
    }
}
