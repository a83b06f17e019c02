//! Decides where samples go: one after another, as long as their times agree within 20 ms. The tolerance exists
//! because containers round times.

/// A position in a steady stream of samples.
#[derive(Debug, Clone)]
pub(super) struct Steady {
    /// The number of samples so far.
    pub next: i64,
    tolerance: i64,
    pub gaps: u64,
    pub silent: u64,
    pub cut: u64,
}

/// What to do before samples are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// The number of silent samples to insert before them.
    pub silence: i64,
    /// How many of them to omit, from the first on.
    pub skip: usize,
}

impl Steady {
    /// Starts a stream of `rate` samples per second.
    pub fn new(rate: u32) -> Self {
        Steady { next: 0, tolerance: i64::from(rate / 50), gaps: 0, silent: 0, cut: 0 }
    }

    /// Takes `count` samples. The first should be sample `at`, if its time is known.
    pub fn take(&mut self, at: Option<i64>, count: usize) -> Step {
        let off = at.map_or(0, |at| at.saturating_sub(self.next));
        let step = if off > self.tolerance {
            self.gaps += 1;
            Step { silence: off, skip: 0 }
        } else if off < -self.tolerance {
            Step { silence: 0, skip: usize::try_from(off.unsigned_abs()).unwrap_or(usize::MAX).min(count) }
        } else {
            Step { silence: 0, skip: 0 }
        };
        self.silent += step.silence.unsigned_abs();
        self.cut += step.skip as u64;
        self.next = self.next.saturating_add(step.silence).saturating_add((count - step.skip) as i64);
        step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_filled_and_overlaps_cut() {
        let mut steady = Steady::new(1000);
        let none = Step { silence: 0, skip: 0 };
        assert_eq!(steady.take(Some(0), 100), none);
        assert_eq!(steady.take(Some(119), 100), none, "rounded");
        assert_eq!(steady.take(None, 100), none);
        assert_eq!(steady.take(Some(400), 100), Step { silence: 100, skip: 0 });
        assert_eq!(steady.take(Some(450), 100), Step { silence: 0, skip: 50 });
        assert_eq!(steady.take(Some(0), 100), Step { silence: 0, skip: 100 }, "all of it was there");
        assert_eq!((steady.next, steady.gaps, steady.silent, steady.cut), (550, 1, 100, 150));
    }
}
