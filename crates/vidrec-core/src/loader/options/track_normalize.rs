//! The normalization of the numbers of a track.

use serde::{Deserialize, Serialize};

use crate::dataset::TrackStats;
use crate::loader::require::require;
use vidrec_format::error::{Error, Result};
use vidrec_format::words::unknown_variant;

/// How a [`TrackNormalize`] follows from statistics.
///
/// As a word (`FromStr`, `Display`, serde): `mean_std`, `min_max` or `quantiles`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "snake_case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum TrackScaling {
    /// The mean becomes 0, and a standard deviation 1. The default.
    #[default]
    MeanStd,
    /// The smallest number becomes -1, and the largest 1.
    MinMax,
    /// The 1st percentile becomes -1, and the 99th 1. Numbers beyond them are beyond -1 and 1.
    Quantiles,
}

/// The normalization of the numbers of a track: `(x - shift) / scale`, computed with 64 bits and rounded once. There is
/// a shift and a scale for each number of a value, in row-major order.
///
/// Values of type `f64` stay `f64`, and all others become `f32`. Values that do not exist stay 0.
///
/// ```
/// use vidrec::{TrackNormalize, TrackScaling, TrackStats};
///
/// let stats = TrackStats { min: vec![0.0, 4.0], max: vec![10.0, 4.0], ..TrackStats::default() };
/// let normalize = TrackNormalize::of(&stats, TrackScaling::MinMax);
/// assert_eq!((&normalize.shift[..], &normalize.scale[..]), (&[5.0, 4.0][..], &[5.0, 1.0][..]));
/// let mut action = [0.5, 0.0];
/// normalize.undo(&mut action)?;
/// assert_eq!(action, [7.5, 4.0]);
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrackNormalize {
    /// What is subtracted from each number.
    pub shift: Vec<f64>,
    /// What each difference is divided by; not 0.
    pub scale: Vec<f64>,
}

impl TrackNormalize {
    /// The normalization by these statistics. Where all numbers are equal, the scale is 1.
    pub fn of(stats: &TrackStats, scaling: TrackScaling) -> Self {
        let to_bounds = |low: &[f64], high: &[f64]| {
            let half = |of: fn(f64, f64) -> f64| low.iter().zip(high).map(|(&low, &high)| of(low, high)).collect();
            (half(|low, high| low / 2.0 + high / 2.0), half(|low, high| high / 2.0 - low / 2.0))
        };
        let (shift, mut scale): (Vec<f64>, Vec<f64>) = match scaling {
            TrackScaling::MeanStd => (stats.mean.clone(), stats.std.clone()),
            TrackScaling::MinMax => to_bounds(&stats.min, &stats.max),
            TrackScaling::Quantiles => to_bounds(&stats.q01, &stats.q99),
        };
        scale.iter_mut().filter(|scale| !scale.is_normal()).for_each(|scale| *scale = 1.0);
        TrackNormalize { shift, scale }
    }

    /// Turns normalized values, such as the actions that a policy predicts, back into values of the track.
    ///
    /// # Errors
    ///
    /// The numbers are not whole values.
    pub fn undo(&self, numbers: &mut [f64]) -> Result<()> {
        let each = self.shift.len().max(1);
        if !numbers.len().is_multiple_of(each) {
            let e = Error::usage("the numbers are not whole values of the track");
            return Err(e.expected(format!("a multiple of {each} numbers")).found(numbers.len()));
        }
        for value in numbers.chunks_exact_mut(each) {
            let factors = self.scale.iter().zip(&self.shift);
            value.iter_mut().zip(factors).for_each(|(n, (scale, shift))| *n = *n * scale + shift);
        }
        Ok(())
    }

    /// The normalized number at a place of a value.
    pub(crate) fn apply(&self, place: usize, n: f64) -> f64 {
        (n - self.shift[place]) / self.scale[place]
    }

    /// Returns an error that names the option if a value makes no sense.
    pub(super) fn check(&self, option: &str) -> Result<()> {
        let all = |numbers: &[f64], fits: fn(f64) -> bool| numbers.iter().copied().all(fits);
        let (shift, scale) = (format_args!("{:?}", self.shift), format_args!("{:?}", self.scale));
        require(all(&self.shift, f64::is_finite), &format!("{option}: shift"), shift, "finite numbers")?;
        require(all(&self.scale, f64::is_normal), &format!("{option}: scale"), scale, "finite numbers other than 0")?;
        let equal = format!("as many as shift has: {}", self.shift.len());
        require(self.shift.len() == self.scale.len(), &format!("{option}: scale"), self.scale.len(), &equal)
    }
}
