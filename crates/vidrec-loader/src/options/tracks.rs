//! The values of a track that come with a sample.

use crate::require::require;
use vidrec_format::error::{Error, Result};
use vidrec_format::words::words;
use vidrec_sampler::Rate;

/// The value of a track that stands for a time between two of its values.
///
/// A time within a microsecond of a value counts as the time of that value where it matters: at the first and the
/// last value, and for [`Previous`](Self::Previous).
///
/// As a word (`FromStr`, `Display`): `nearest`, `linear` or `previous`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum TrackHow {
    /// The value whose time is nearest. If two are equally near, it is the earlier one. The default.
    #[default]
    Nearest,
    /// Interpolated between the value before and the one after, in proportion to time. Whole numbers become `f32`;
    /// other types do not change.
    Linear,
    /// The latest value at or before the time.
    Previous,
}

words!(TrackHow, "how", { "nearest" => Nearest, "linear" => Linear, "previous" => Previous });

/// The frame from which the time of a window counts.
///
/// As a word (`FromStr`, `Display`): `first`, `last` or `each`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum TrackAnchor {
    /// The first frame of the sample. The default.
    #[default]
    First,
    /// The last frame of the sample.
    Last,
    /// Each frame of the sample, with a window of its own.
    Each,
}

words!(TrackAnchor, "anchor", { "first" => First, "last" => Last, "each" => Each });

/// What happens if a clip does not have a track, or an episode does not have a camera.
///
/// As a word (`FromStr`, `Display`): `error` or `mask`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Missing {
    /// An error names what is missing where. The default.
    #[default]
    Error,
    /// The values are 0 and the mask is false.
    Mask,
}

words!(Missing, "missing", { "error" => Error, "mask" => Mask });

/// The choice of a track's values for a sample: one for each of its frames, or those of a window in time.
///
/// | Track | Without a window | With a window |
/// | --- | --- | --- |
/// | numbers | the value at the time of each frame; for timing `frames`, the value of the frame | the values at `window.0`, and so on in steps of `1 / rate`, up to and including `window.1` |
/// | numbers of timing `rate`, without `rate` | as above | the stored values from the one nearest to `window.0`, as many as last until `window.1` |
/// | numbers of timing `spans` | the latest value that has started and not ended | the latest value that has started and not ended, at each step |
/// | texts | those whose span overlaps the time from the first to the last frame; for timing `frames`, those of the frames | those whose span overlaps the window |
///
/// Before the first value of a track and after the last, the mask is false and values are 0.
///
/// ```
/// # mod vidrec { pub use vidrec_format::error::Error; pub use vidrec_loader::{LoaderOptions, TrackHow, TrackWindow}; }
/// use std::collections::BTreeMap;
/// use vidrec::{LoaderOptions, TrackHow, TrackWindow};
///
/// // Eleven actions, from half a second before the first frame to half a second after it.
/// let action = TrackWindow {
///     window: Some((-0.5, 0.5)),
///     rate: Some("10".parse()?),
///     how: TrackHow::Linear,
///     ..TrackWindow::default()
/// };
/// let tracks = BTreeMap::from([("action".to_owned(), action), ("state".to_owned(), TrackWindow::default())]);
/// let options = LoaderOptions { tracks, ..LoaderOptions::default() };
/// # drop(options);
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TrackWindow {
    /// The start and end in seconds, relative to the frame in [`anchor`](Self::anchor). Default `None`: a value
    /// for each frame.
    pub window: Option<(f64, f64)>,
    /// The number of values per second of a window. Default `None`: the stored values, which only tracks of timing
    /// `rate` allow.
    pub rate: Option<Rate>,
    /// The value that stands for a time between two values. Default [`TrackHow::Nearest`].
    pub how: TrackHow,
    /// The frame from which a window counts. Default [`TrackAnchor::First`].
    pub anchor: TrackAnchor,
    /// What happens if a clip does not have the track. Default [`Missing::Error`].
    pub missing: Missing,
}

/// The maximum distance of a window's start or end from a frame in seconds: a year.
const MOST_SECONDS: f64 = 366.0 * 86_400.0;

impl TrackWindow {
    /// Returns an error that names the track if a value makes no sense for any track.
    pub(super) fn check(&self, name: &str) -> Result<()> {
        let option = format!("tracks[{name:?}]");
        let Some((start, end)) = self.window else {
            if self.rate.is_some() {
                let e = Error::usage(format!("loader option {option}: a rate needs a window"));
                return Err(e.help("give a window, or omit the rate to get one value at each frame"));
            }
            return Ok(());
        };
        let fits = |seconds: f64| seconds.abs() <= MOST_SECONDS;
        require(
            fits(start) && fits(end) && start <= end,
            &format!("{option}.window"),
            format_args!("{start} to {end}"),
            "seconds from a start to an end that is not before it",
        )
    }

    /// The start and end of the window in nanoseconds.
    pub(crate) fn nanoseconds(&self) -> Option<(i64, i64)> {
        let of = |seconds: f64| (seconds * 1e9).round() as i64;
        self.window.map(|(start, end)| (of(start), of(end)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_makes_no_sense_is_refused_by_name() {
        let of = |window: Option<(f64, f64)>, rate: Option<&str>| {
            let rate = rate.map(|rate| rate.parse().unwrap());
            TrackWindow { window, rate, ..TrackWindow::default() }.check("action")
        };
        of(Some((0.0, 0.0)), None).unwrap();
        of(Some((-0.5, 0.5)), Some("29.97")).unwrap();
        for window in [(0.5, 0.4), (f64::NAN, 1.0), (0.0, f64::NAN), (0.0, f64::INFINITY), (-1e12, 0.0)] {
            let e = of(Some(window), Some("10")).unwrap_err().to_string();
            assert!(e.contains("tracks[\"action\"].window"), "{e}");
        }
        assert!(of(None, Some("10")).unwrap_err().to_string().contains("tracks[\"action\"]: a rate"));
    }
}
