//! The frames of a clip that a sample chooses from: all, or those at a rate.

use crate::dataset::Clip;
use vidrec_format::error::{Error, Result};
use vidrec_format::sampler::{Rate, RateRule, nanoseconds_after_first, unrounded_times};

/// The frames of a clip that a sample chooses from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Clock(pub Option<Rate>);

impl Clock {
    /// The number of frames.
    pub fn length(self, clip: &Clip<'_>) -> Result<u32> {
        Ok(self.ticks(clip)?.map_or(clip.frame_count(), |ticks| ticks.len() as u32))
    }

    /// The stored frame on the screen at each tick. `None` without a rate or frames: each stored frame is then a tick.
    ///
    /// # Errors
    ///
    /// An index entry is damaged, or the rate is higher than that of the stored frames.
    pub fn ticks(self, clip: &Clip<'_>) -> Result<Option<Vec<u32>>> {
        let Some(rate) = self.0.filter(|_| clip.frame_count() > 0) else { return Ok(None) };
        let pts: Vec<i64> = clip.frame_entries()?.iter().map(|entry| entry.pts).collect();
        let stored = frames_per_second(&pts, clip.time_base());
        let (den, num) = rate.frame_seconds();
        // Times are rounded to the units of the stream, so 8 frames a second may appear to be 7.99.
        if f64::from(num) / f64::from(den) > stored * 1.01 {
            return Err(Error::usage("loader option fps: the rate is above that of the stored frames")
                .in_clip(clip.ordinal())
                .expected(format!("at most {stored:.3}"))
                .found(rate));
        }
        let exact = unrounded_times(&pts, clip.time_base(), Some(rate));
        let (pts, time_base) = exact.map_or((pts, clip.time_base()), |exact| (exact.pts, exact.time_base));
        let ticks = RateRule::Fps(rate).choose(&nanoseconds_after_first(&pts, time_base), &[], None, None);
        ticks.map(Some).map_err(|e| e.in_clip(clip.ordinal()))
    }
}

/// The mean rate of frames with these times. NaN for a single frame, infinite if all times are equal.
fn frames_per_second(pts: &[i64], (num, den): (u32, u32)) -> f64 {
    let (first, last) = (pts.first().copied().unwrap_or(0), pts.iter().copied().max().unwrap_or(0));
    let seconds = last.saturating_sub(first) as f64 * f64::from(num) / f64::from(den);
    pts.len().saturating_sub(1) as f64 / seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_the_mean_over_the_clip() {
        assert_eq!(frames_per_second(&[0, 40, 80, 120, 200], (1, 1000)), 20.0);
        assert!(frames_per_second(&[7], (1, 1000)).is_nan());
        assert!(frames_per_second(&[7, 7], (1, 1000)).is_infinite());
    }
}
