//! Which values of a track come with a sample.

use crate::loader::require::require;
use crate::sampler::Rate;
use crate::words::words;
use crate::{Error, Result};

/// Which value of a track stands for a time between two of its values.
///
/// A time that is at most a microsecond from a value counts as the time of that value where it matters: at the first
/// and the last value, and for [`Previous`](Self::Previous).
///
/// As a word (`FromStr`, `Display`): `nearest`, `linear` or `previous`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum TrackHow {
    /// The value whose time is nearest; of two that are as near, the earlier one. The default.
    #[default]
    Nearest,
    /// Between the value before and the one after, in proportion to time. Whole numbers become `f32`, other types stay.
    Linear,
    /// The latest value at or before the time.
    Previous,
}

words!(TrackHow, "how", { "nearest" => Nearest, "linear" => Linear, "previous" => Previous });

/// The frame from whose time a window counts.
///
/// As a word (`FromStr`, `Display`): `first`, `last` or `each`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum TrackAnchor {
    /// The first frame of the sample. The default.
    #[default]
    First,
    /// Its last frame.
    Last,
    /// Each of its frames has a window of its own.
    Each,
}

words!(TrackAnchor, "anchor", { "first" => First, "last" => Last, "each" => Each });

/// What happens where a clip does not have a track, or an episode a camera.
///
/// As a word (`FromStr`, `Display`): `error` or `mask`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Missing {
    /// An error names what lacks what. The default.
    #[default]
    Error,
    /// The values are 0 and the mask is false.
    Mask,
}

words!(Missing, "missing", { "error" => Error, "mask" => Mask });

/// Which values of a track come with a sample: one for each of its frames, or those of a window in time.
///
/// | Track | Without a window | With a window |
/// | --- | --- | --- |
/// | numbers | the value at the time of each frame; of timing `frames` that of the frame | the values at `window.0`, and so on in steps of `1 / rate`, up to and with `window.1` |
/// | numbers of timing `rate`, without `rate` | likewise | the stored values from the one that is nearest to `window.0`, as many as last until `window.1` |
/// | numbers of timing `spans` | the latest that has started and not ended | likewise, at each step |
/// | texts | those whose span overlaps the time from the first to the last frame; of timing `frames` those of the frames | those whose span overlaps the window |
///
/// Before the first value of a track and after the last, the mask is false and values are 0.
///
/// ```
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
    /// Start and end in seconds, from the time of the frame that [`anchor`](Self::anchor) says. Default `None`: a value
    /// for each frame.
    pub window: Option<(f64, f64)>,
    /// Values per second of a window. Default `None`: those that are stored, which only tracks of timing `rate` allow.
    pub rate: Option<Rate>,
    /// What stands for a time between two values. Default [`TrackHow::Nearest`].
    pub how: TrackHow,
    /// The frame from which a window counts. Default [`TrackAnchor::First`].
    pub anchor: TrackAnchor,
    /// What happens where a clip does not have the track. Default [`Missing::Error`].
    pub missing: Missing,
}

/// The most seconds from a frame that a window may begin or end: a year.
const MOST_SECONDS: f64 = 366.0 * 86_400.0;

impl TrackWindow {
    /// Refuses what makes no sense for any track, and names the track.
    pub(super) fn check(&self, name: &str) -> Result<()> {
        let option = format!("tracks[{name:?}]");
        let Some((start, end)) = self.window else {
            if self.rate.is_some() {
                let e = Error::usage(format!("loader option {option}: a rate is for a window"));
                return Err(e.help("give a window, or no rate for one value at each frame"));
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

    /// Start and end of the window in nanoseconds.
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
