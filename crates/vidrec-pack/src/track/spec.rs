//! Which column of a manifest becomes which track.

use std::fmt;
use std::str::FromStr;

use vidrec_format::error::{Error, Result};
use vidrec_format::sampler::Rate;
use vidrec_format::track::schema::{TrackTiming, TrackType};
use vidrec_format::words::{serde_by_text, unknown_variant};

/// The default tolerance: half a second between the start or end of a track and that of the video.
const TOLERANCE_US: u64 = 500_000;

/// A track to pack from a column of manifests.
///
/// The text form (`FromStr`, `Display`) is `NAME=COLUMN`, followed by words that are separated by commas. One of
/// `rate=RATE`, `times=NAME`, `spans`, `frames` and `every-frame` says how the values lie in time. The other words
/// are optional.
///
/// ```
/// use vidrec::pack::{TrackSpec, TrackSpecTiming};
///
/// let spec: TrackSpec = "action=action_file,rate=50,type=f32".parse()?;
/// assert_eq!((spec.name.as_str(), spec.column.as_str()), ("action", "action_file"));
/// assert!(matches!(spec.timing, TrackSpecTiming::Rate(_)));
/// assert_eq!(spec.to_string(), "action=action_file,rate=50,type=f32");
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrackSpec {
    /// The name of the track in the data set.
    pub name: String,
    /// The manifest column that names a file for each video, or contains a list.
    pub column: String,
    /// The timing of the values.
    pub timing: TrackSpecTiming,
    /// `values=NAME` or `values=A+B`: the array of an `.npz` file, or the columns of a table that together are one
    /// value. Empty: the only array, or all columns of a table except those of the times.
    pub values: Vec<String>,
    /// `type=TYPE`: the type to store. Default `None`: the type of the first file, or `f64` for numbers that are
    /// text.
    pub kind: Option<TrackType>,
    /// `size=WIDTHxHEIGHT`: the width and height of pictures, which those in videos need. Default `None`: the size of the
    /// first picture.
    pub size: Option<(u32, u32)>,
    /// `unit=UNIT`: the unit of times. Default `None`: seconds, if the times are floats. Whole numbers need a
    /// unit.
    pub unit: Option<TimeUnit>,
    /// `clock=CLOCK`: the zero of the times. Default: the clock of the video.
    pub clock: TrackClock,
    /// `tolerance=SECONDS`: how far the start and end of the track may be from those of the video, in
    /// microseconds. Default: half a second.
    pub tolerance_us: u64,
    /// `partial`: the track may begin later and end earlier than the video. Off by default.
    pub partial: bool,
    /// `nan`: numbers may be infinite or not a number (NaN). Off by default.
    pub nan: bool,
    /// `list`: each value is a list of any number of items of one shape, such as the boxes of a frame. Off by default.
    pub list: bool,
}

/// The timing of the values of a track, as a [`TrackSpec`] says it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrackSpecTiming {
    /// `rate=RATE`: this many values a second, from 0 on the track's clock.
    Rate(Rate),
    /// `times=NAME`: each value has a time, in this array or column of the same file. For files without names and
    /// for lists, the times are in this column of the manifest.
    Times(String),
    /// `spans`: each value has a `start` and an `end`.
    Spans,
    /// `frames`: one value for each frame of the video. Only those of the packed frames are stored.
    Frames,
    /// `every-frame`: one value for each frame of the video. All are stored, with the times of their frames.
    EveryFrame,
}

/// The unit of times.
///
/// The text form (`FromStr`, `Display`) is `s`, `ms`, `us` or `ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum TimeUnit {
    /// Seconds.
    #[strum(serialize = "s")]
    Seconds,
    /// Thousandths of a second.
    #[strum(serialize = "ms")]
    Milliseconds,
    /// Millionths of a second.
    #[strum(serialize = "us")]
    Microseconds,
    /// Billionths of a second.
    #[strum(serialize = "ns")]
    Nanoseconds,
}

impl TimeUnit {
    /// Returns its length in nanoseconds.
    pub(crate) fn nanoseconds(self) -> i64 {
        match self {
            TimeUnit::Seconds => 1_000_000_000,
            TimeUnit::Milliseconds => 1_000_000,
            TimeUnit::Microseconds => 1000,
            TimeUnit::Nanoseconds => 1,
        }
    }
}

/// The zero of the times of a track.
///
/// The text form (`FromStr`, `Display`) is `video` or `segment`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum TrackClock {
    /// The zero of `start` and `end` in a manifest: see [`SegmentClock`](crate::SegmentClock).
    #[default]
    Video,
    /// The start of the row's segment.
    Segment,
}

impl TrackSpec {
    /// Returns the timing in the data set.
    pub(crate) fn stored_timing(&self) -> TrackTiming {
        match self.timing {
            TrackSpecTiming::Rate(_) => TrackTiming::Rate,
            TrackSpecTiming::Times(_) | TrackSpecTiming::EveryFrame => TrackTiming::Times,
            TrackSpecTiming::Spans => TrackTiming::Spans,
            TrackSpecTiming::Frames => TrackTiming::Frames,
        }
    }

    /// Returns the manifest columns that the track may use.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &str> {
        let times = match &self.timing {
            TrackSpecTiming::Times(name) => Some(name.as_str()),
            _ => None,
        };
        [self.column.as_str()].into_iter().chain(times)
    }
}

impl FromStr for TrackSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |what: String| {
            Error::usage(format!("track {text:?}: {what}"))
                .help("write it as NAME=COLUMN,rate=50 or NAME=COLUMN,times=TIMES; also spans, frames, every-frame")
        };
        let mut words = text.split(',');
        let named = words.next().unwrap_or_default().split_once('=');
        let (name, column) = named
            .filter(|(name, column)| !name.is_empty() && !column.is_empty())
            .ok_or_else(|| wrong("it must begin with the name of the track, \"=\" and the column".into()))?;
        let mut timings = Vec::new();
        let mut spec = TrackSpec {
            name: name.to_owned(),
            column: column.to_owned(),
            timing: TrackSpecTiming::Frames,
            values: Vec::new(),
            kind: None,
            size: None,
            unit: None,
            clock: TrackClock::Video,
            tolerance_us: TOLERANCE_US,
            partial: false,
            nan: false,
            list: false,
        };
        for word in words {
            let (key, value) = word.split_once('=').map_or((word, None), |(key, value)| (key, Some(value)));
            let bad = |e: Error| wrong(format!("{key}: {e}"));
            match (key, value.filter(|value| !value.is_empty())) {
                ("rate", Some(rate)) => timings.push(TrackSpecTiming::Rate(rate.parse().map_err(bad)?)),
                ("times", Some(name)) => timings.push(TrackSpecTiming::Times(name.to_owned())),
                ("spans", None) => timings.push(TrackSpecTiming::Spans),
                ("frames", None) => timings.push(TrackSpecTiming::Frames),
                ("every-frame", None) => timings.push(TrackSpecTiming::EveryFrame),
                ("values", Some(names)) => spec.values = names.split('+').map(str::to_owned).collect(),
                ("type", Some(kind)) => spec.kind = Some(kind.parse().map_err(bad)?),
                ("size", Some(size)) => spec.size = Some(sides(size).map_err(wrong)?),
                ("unit", Some(unit)) => spec.unit = Some(unit.parse().map_err(bad)?),
                ("clock", Some(clock)) => spec.clock = clock.parse().map_err(bad)?,
                ("tolerance", Some(seconds)) => spec.tolerance_us = microseconds(seconds).map_err(wrong)?,
                ("partial", None) => spec.partial = true,
                ("nan", None) => spec.nan = true,
                ("list", None) => spec.list = true,
                _ => return Err(wrong(format!("{word:?} is not a word of a track's description"))),
            }
        }
        match <[TrackSpecTiming; 1]>::try_from(timings) {
            Ok([timing]) => spec.timing = timing,
            Err(_) => {
                let what = "it needs one of rate=RATE, times=NAME, spans, frames and every-frame, and only one";
                return Err(wrong(what.into()));
            }
        }
        let has_times = matches!(spec.timing, TrackSpecTiming::Times(_) | TrackSpecTiming::Spans);
        if spec.unit.is_some() && !has_times {
            return Err(wrong("a unit has a meaning only with times or spans".into()));
        }
        Ok(spec)
    }
}

fn sides(size: &str) -> Result<(u32, u32), String> {
    let side = |side: &str| side.parse().ok().filter(|&side: &u32| side > 0);
    let sides = size.split_once('x').and_then(|(width, height)| side(width).zip(side(height)));
    sides.ok_or_else(|| format!("expected a size such as 640x480, found {size:?}"))
}

fn microseconds(seconds: &str) -> Result<u64, String> {
    let parsed = seconds.parse::<f64>().ok().filter(|s| (0.0..=1e9).contains(s));
    parsed.map(|s| (s * 1e6).round() as u64).ok_or_else(|| format!("expected seconds such as 0.5, found {seconds:?}"))
}

impl fmt::Display for TrackSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.column)?;
        match &self.timing {
            TrackSpecTiming::Rate(rate) => write!(f, ",rate={rate}")?,
            TrackSpecTiming::Times(name) => write!(f, ",times={name}")?,
            TrackSpecTiming::Spans => f.write_str(",spans")?,
            TrackSpecTiming::Frames => f.write_str(",frames")?,
            TrackSpecTiming::EveryFrame => f.write_str(",every-frame")?,
        }
        if !self.values.is_empty() {
            write!(f, ",values={}", self.values.join("+"))?;
        }
        self.kind.map_or(Ok(()), |kind| write!(f, ",type={kind}"))?;
        self.size.map_or(Ok(()), |(width, height)| write!(f, ",size={width}x{height}"))?;
        self.unit.map_or(Ok(()), |unit| write!(f, ",unit={unit}"))?;
        if self.clock != TrackClock::default() {
            write!(f, ",clock={}", self.clock)?;
        }
        if self.tolerance_us != TOLERANCE_US {
            write!(f, ",tolerance={}", self.tolerance_us as f64 / 1e6)?;
        }
        f.write_str(if self.partial { ",partial" } else { "" })?;
        f.write_str(if self.nan { ",nan" } else { "" })?;
        f.write_str(if self.list { ",list" } else { "" })
    }
}

serde_by_text!(TrackSpec);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_read_back_as_themselves() {
        for text in [
            "action=a,rate=50",
            "action=a,rate=30000/1001,values=x+y,type=f32,clock=segment,tolerance=0.25,partial,nan",
            "gaze=g,times=t,unit=us",
            "caption=c,spans,unit=ms",
            "state=s,frames",
            "depth=d,frames,type=u16,size=640x480",
            "boxes=b,every-frame,type=f32,nan,list",
            "state=s,every-frame,tolerance=0",
        ] {
            assert_eq!(text.parse::<TrackSpec>().unwrap().to_string(), text);
        }
    }
}
