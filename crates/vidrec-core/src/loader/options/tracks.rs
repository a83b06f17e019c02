//! The values of a track that come with a sample.

use serde::{Deserialize, Serialize};

use super::geometry::{CoordinateSize, Geometry};
use super::values::{require, steps};
use crate::dataset::TrackStats;
use vidrec_format::error::{Error, Result};
use vidrec_format::sampler::Rate;
use vidrec_format::words::unknown_variant;

/// The value of a track that stands for a time between two of its values.
///
/// A time within a microsecond of a value counts as the time of that value where it matters: at the first and the
/// last value, and for [`Previous`](Self::Previous).
///
/// As a word (serde): `nearest`, `linear` or `previous`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TrackHow {
    /// The value whose time is nearest. If two are equally near, it is the earlier one. The default.
    #[default]
    Nearest,
    /// Interpolated between the value before and the one after, in proportion to time. Whole numbers become `f32`;
    /// other types do not change. Not for lists.
    Linear,
    /// The latest value at or before the time.
    Previous,
}

/// The frame from which the time of a window counts.
///
/// As a word (serde): `current`, `last` or `each`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TrackAnchor {
    /// The current frame of the sample: the one at offset 0 of [`Frames::Windows`](super::Frames::Windows), and the first of all
    /// other samples. The default.
    #[default]
    Current,
    /// The last frame of the sample.
    Last,
    /// Each frame of the sample, with a window of its own.
    Each,
}

/// The handling of a clip without a track, or of an episode without a camera.
///
/// As a word (serde): `error` or `mask`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Missing {
    /// An error names what is missing where. The default.
    #[default]
    Error,
    /// The values are 0 and the mask is false.
    Mask,
}

/// The choice of a track's values for a sample: one for each of its frames, those of a window in time, those of a
/// range of steps, or those at given times. At most one of [`window`](Self::window), [`steps`](Self::steps) and
/// [`times`](Self::times) is given.
///
/// | Choice | Values |
/// | --- | --- |
/// | none | the value at the time of each frame; for timing `frames`, the value of the frame |
/// | `window` without a rate | for timings other than `rate`: all stored values from `a` to `b`, however many, with their times ([`TrackBatch::times`](crate::loader::TrackBatch::times)) |
/// | `window` from `a` to `b` | those at `a + k / rate` for k = 0, 1, 2, … as long as `a + k / rate <= b + 1e-6` seconds: both ends count |
/// | `steps` from `a` to `b` | those at `k / rate` for k = a, …, b - 1: exactly `b - a` values, and `b` is not among them |
/// | `times` | those at these offsets |
///
/// The rate is [`rate`](Self::rate). Without it, it is that of a track of timing `rate`, and the values are the
/// stored ones from the one nearest to the start on. A second of sound at 16 kHz therefore has 16,001 values as
/// `window: Some((0.0, 1.0))`, and 16,000 as `steps: Some((0, 16_000))`.
///
/// For timing `spans`, a value is the latest that has started and not ended. Texts come with a window or without
/// any choice: those whose span overlaps the window, or the time from the first to the last frame; for timing
/// `frames`, those of the frames.
///
/// A value that is a list brings all its items: see [`TrackBatch::counts`](crate::loader::TrackBatch::counts).
///
/// Before the first value of a track and after the last, the mask is false and values are 0. With
/// [`WindowPad::Edge`](crate::loader::WindowPad::Edge), they are the first and the last value.
///
/// ```
/// use std::collections::BTreeMap;
/// use vidrec::{LoaderOptions, TrackHow, TrackWindow};
///
/// // The next 50 actions, 30 a second.
/// let action = TrackWindow { steps: Some((0, 50)), rate: Some("30".parse()?), ..TrackWindow::default() };
/// // The state now, and a tenth of a second ago.
/// let state = TrackWindow { times: Some(vec![-0.1, 0.0]), how: TrackHow::Linear, ..TrackWindow::default() };
/// let tracks = BTreeMap::from([("action".to_owned(), action), ("state".to_owned(), state)]);
/// let options = LoaderOptions { tracks, ..LoaderOptions::default() };
/// # drop(options);
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrackWindow {
    /// The start and end in seconds, relative to the frame in [`anchor`](Self::anchor). Default `None`.
    pub window: Option<(f64, f64)>,
    /// The first step and the one after the last, relative to the same frame. Default `None`.
    #[serde(deserialize_with = "steps")]
    pub steps: Option<(i64, i64)>,
    /// Times in seconds, relative to the same frame, in any order. Default `None`.
    pub times: Option<Vec<f64>>,
    /// The number of values per second of a window or of steps. Default `None`: the stored values. Steps of them need a track of
    /// timing `rate`.
    pub rate: Option<Rate>,
    /// The value that stands for a time between two values. Default [`TrackHow::Nearest`].
    pub how: TrackHow,
    /// The frame from which a window counts. Default [`TrackAnchor::Current`].
    pub anchor: TrackAnchor,
    /// The handling of a clip without the track. Default [`Missing::Error`].
    pub missing: Missing,
    /// The normalization of numbers. Default `None`: they are as stored.
    pub normalize: Option<TrackNormalize>,
    /// What the values are in the frames, so that they come in the coordinates of the pictures of the batch. Default `None`:
    /// they come as stored.
    pub geometry: Option<Geometry>,
    /// With a geometry, the camera whose crop, resize and flip the values follow. Default `None`: the first.
    pub camera: Option<String>,
    /// With a geometry that has coordinates, the size of the pictures in whose pixels they are; for [`Geometry::Flow`], the unit
    /// of its numbers. Default `None`: that of the frames, or of the pictures of the flow. If the clip was packed from a video
    /// of another size than its frames, coordinates could be of either, and without this option that is an error.
    pub size: Option<CoordinateSize>,
    /// With [`Geometry::Points`], pairs of points that change places in a flip, such as the left and the right hand. They are
    /// numbers along the last but one dimension of a value.
    pub swap: Vec<(u32, u32)>,
    /// The number of numbers of a value in a batch, of type `f32`: after those of the track, which have one side and may be
    /// normalized, come zeros. [`TrackBatch::dims`](crate::loader::TrackBatch::dims) counts those of the track. With it, sources of a mix
    /// may have values of other lengths and types. Default `None`: the shape and the type of the track.
    pub dims: Option<u32>,
}

/// The maximum distance of a value from a frame in seconds: a year.
const MOST_SECONDS: f64 = 366.0 * 86_400.0;
/// The maximum number of a step.
const MOST_STEPS: i64 = 1 << 40;

impl TrackWindow {
    /// Returns an error that names the track if a value makes no sense for any track.
    pub(super) fn check(&self, name: &str) -> Result<()> {
        let option = format!("tracks[{name:?}]");
        let given = [self.window.is_some(), self.steps.is_some(), self.times.is_some()];
        if given.into_iter().filter(|&given| given).count() > 1 {
            let e = Error::usage(format!("loader option {option}: several choices of values"));
            return Err(e.expected("one of window, steps and times"));
        }
        if self.rate.is_some() && self.window.is_none() && self.steps.is_none() {
            let e = Error::usage(format!("loader option {option}: a rate needs a window or steps"));
            return Err(e.help("give one of them, or omit the rate"));
        }
        self.check_geometry(&option)?;
        self.normalize.iter().try_for_each(|normalize| normalize.check(&format!("{option}.normalize")))?;
        let fits = |seconds: f64| seconds.abs() <= MOST_SECONDS;
        if let Some((start, end)) = self.window {
            let is_right = fits(start) && fits(end) && start <= end;
            let expected = "seconds from a start to an end that is not before it";
            require(is_right, &format!("{option}.window"), format_args!("{start} to {end}"), expected)?;
        }
        if let Some((start, end)) = self.steps {
            let is_right = start < end && start >= -MOST_STEPS && end <= MOST_STEPS;
            let expected = "a first step, and a larger one after the last";
            require(is_right, &format!("{option}.steps"), format_args!("{start} to {end}"), expected)?;
        }
        let Some(times) = &self.times else { return Ok(()) };
        let all_fit = !times.is_empty() && times.iter().copied().all(fits);
        require(all_fit, &format!("{option}.times"), format_args!("{times:?}"), "one or more numbers of seconds")
    }

    /// Returns an error that names the track if its geometry makes no sense for any track.
    fn check_geometry(&self, option: &str) -> Result<()> {
        let TrackWindow { geometry, camera, size, swap, .. } = self;
        let found = geometry.map_or("no geometry".into(), |geometry| format!("geometry {geometry}"));
        let needs = |is_set: bool, name: &str, fits: bool, what: &str| {
            require(!is_set || fits, &format!("{option}.{name}"), &found, what)
        };
        let has_size = geometry.is_some_and(|geometry| geometry != Geometry::Mask);
        needs(camera.is_some(), "camera", geometry.is_some(), "a geometry")?;
        needs(size.is_some(), "size", has_size, "a geometry with coordinates: boxes, points, flow or intrinsics")?;
        needs(!swap.is_empty(), "swap", *geometry == Some(Geometry::Points), "geometry points")?;
        if let Some(CoordinateSize::Of((width, height))) = size {
            let found = format_args!("{height}x{width}");
            require(*width > 0 && *height > 0, &format!("{option}.size"), found, "sides of 1 or more")?;
        }
        let mut numbers: Vec<u32> = swap.iter().flat_map(|&(a, b)| [a, b]).collect();
        numbers.sort_unstable();
        let is_twice = numbers.windows(2).any(|pair| pair[0] == pair[1]);
        require(!is_twice, &format!("{option}.swap"), format_args!("{swap:?}"), "each point at most once")
    }

    /// The start and end of the window in nanoseconds.
    pub(crate) fn nanoseconds(&self) -> Option<(i64, i64)> {
        self.window.map(|(start, end)| (nanoseconds(start), nanoseconds(end)))
    }

    /// The times in nanoseconds.
    pub(crate) fn times_ns(&self) -> Option<Vec<i64>> {
        Some(self.times.as_ref()?.iter().copied().map(nanoseconds).collect())
    }
}

fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

/// The rule by which a [`TrackNormalize`] follows from statistics.
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
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrackNormalize {
    /// The value to subtract from each number.
    pub shift: Vec<f64>,
    /// The divisor of each difference; not 0.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_and_times_that_make_no_sense_are_refused_by_name() {
        let none = TrackWindow::default;
        let (steps, times) = (Some((0, 2)), Some(vec![0.0]));
        for (named, window) in [
            ("steps", TrackWindow { steps: Some((3, 3)), ..none() }),
            ("steps", TrackWindow { steps: Some((0, i64::MAX)), ..none() }),
            ("times", TrackWindow { times: Some(vec![]), ..none() }),
            ("times", TrackWindow { times: Some(vec![0.0, f64::NAN]), ..none() }),
            ("one of window, steps and times", TrackWindow { steps, times: times.clone(), ..none() }),
            ("rate", TrackWindow { times, rate: "10".parse().ok(), ..none() }),
        ] {
            let e = window.check("action").unwrap_err().to_string();
            assert!(e.contains("tracks[\"action\"]") && e.contains(named), "{e}");
        }
    }
}
