//! A track that comes with the batches: which of its values.

use super::gather;
use super::times::{Pick, Times, frame_ns, nearest_step, steps_ns};
use crate::dataset::{Clip, ClipTracks, Dataset, TrackView};
use crate::error::Hint;
use crate::format::track::schema::{TrackSchema, TrackTiming, TrackType};
use crate::loader::options::{Missing, TrackAnchor, TrackHow, TrackWindow};
use crate::loader::track_batch::TrackData;
use crate::{Error, Result};

/// Most bytes that a sample may have of one track.
const MOST_SAMPLE_BYTES: u128 = 1 << 31;

/// A track, and what samples have of it.
#[derive(Debug)]
pub(super) struct Wanted {
    pub schema: TrackSchema,
    options: TrackWindow,
    what: What,
}

/// Which values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// The one at each frame.
    AtFrames,
    /// Those in steps of `1 / rate`, from `first` nanoseconds after an anchor.
    Steps { first: i64, rate: (u32, u32), count: usize },
    /// Those of this rate that are stored, from the nearest to `first` nanoseconds after an anchor.
    Run { first: i64, rate: (u32, u32), count: usize },
    /// Texts of a time.
    Texts,
}

/// What a sample has of a track.
pub struct Piece {
    pub values: TrackData,
    /// One for each value, or one for all texts.
    pub mask: Vec<bool>,
}

/// The frames of a sample, and how many it has with its padding.
pub(super) struct Drawn<'a> {
    pub clip: &'a Clip<'a>,
    pub frames: &'a [u32],
    pub length: usize,
}

impl Wanted {
    pub fn new(dataset: &Dataset, schema: TrackSchema, options: TrackWindow) -> Result<Self> {
        let refuse = |what: &str, help: &str| {
            let name = &schema.name;
            Err(Error::usage(format!("loader option tracks[{name:?}]: {what}")).found(schema.words()).help(help))
        };
        let TrackWindow { rate, how, anchor, .. } = options;
        let is_text = schema.kind == TrackType::Utf8;
        if is_text && (how != TrackHow::Nearest || rate.is_some() || anchor == TrackAnchor::Each) {
            return refuse(
                "texts have no rate, no how, and no window at each frame",
                "give a window alone, or nothing",
            );
        }
        if how == TrackHow::Linear && schema.timing == TrackTiming::Spans {
            return refuse("nothing lies between two spans", "leave how as it is");
        }
        let what = match (options.nanoseconds(), rate) {
            _ if is_text => What::Texts,
            (None, _) => What::AtFrames,
            (Some((first, end)), Some(rate)) => {
                let (den, num) = rate.frame_seconds();
                let steps = i128::from(end - first) * i128::from(num) / (i128::from(den) * 1_000_000_000);
                What::Steps { first, rate: (num, den), count: steps as usize + 1 }
            }
            (Some(_), None) if schema.timing != TrackTiming::Rate => {
                return refuse("a window of it needs a rate", "say how many values a second the window has: rate");
            }
            (Some((first, end)), None) => {
                if how == TrackHow::Linear {
                    return refuse("its stored values have nothing between them", "give a rate, or leave how as it is");
                }
                let rate = stored_rate(dataset, &schema.name)?;
                What::Run { first, rate, count: nearest_step((end - first).into(), rate) as usize }
            }
        };
        if matches!(what, What::Run { count: 0, .. }) {
            return refuse("the window is shorter than a value", "make it longer, or give a rate");
        }
        Ok(Wanted { schema, options, what })
    }

    /// Refuses windows of absurd size, of a sample of `length` frames. Returns the bytes of a sample.
    pub fn sample_bytes(&self, length: usize) -> Result<usize> {
        let values: u128 = self.dimensions(length).iter().map(|&n| n as u128).product();
        let each = self.schema.value_bytes().unwrap_or(1).max(4 * self.schema.numbers_per_value() as u64);
        let bytes = values * u128::from(each);
        if self.what != What::Texts && bytes > MOST_SAMPLE_BYTES {
            let e = Error::usage(format!("loader option tracks[{:?}]: too many values in a sample", self.schema.name));
            let e = e.expected(format!("at most {MOST_SAMPLE_BYTES} bytes")).found(format!("{bytes} bytes"));
            return Err(e.help("make the window shorter or its rate lower"));
        }
        Ok(bytes as usize)
    }

    /// The dimensions of the mask, but for the first, in a batch of samples of `length` frames.
    pub fn dimensions(&self, length: usize) -> Vec<usize> {
        match self.what {
            What::Texts => Vec::new(),
            What::AtFrames => vec![length],
            What::Steps { count, .. } | What::Run { count, .. } => match self.options.anchor {
                TrackAnchor::Each => vec![length, count],
                TrackAnchor::First | TrackAnchor::Last => vec![count],
            },
        }
    }

    /// The type of the values in a batch.
    pub fn kind(&self) -> TrackType {
        match (self.options.how, self.schema.kind) {
            (TrackHow::Linear, TrackType::F64) => TrackType::F64,
            (TrackHow::Linear, _) => TrackType::F32,
            (_, kind) => kind,
        }
    }

    /// What a sample has of the track.
    ///
    /// # Errors
    ///
    /// The clip lacks it (unless that is masked), or it is damaged.
    pub fn read(&self, tracks: &ClipTracks<'_>, drawn: &Drawn<'_>) -> Result<Piece> {
        let name = &self.schema.name;
        let Some(track) = tracks.get(name)? else {
            if self.options.missing == Missing::Mask {
                return self.nothing(drawn.length);
            }
            let e = Error::usage(format!("the clip has no track {name:?}")).in_clip(drawn.clip.ordinal());
            return Err(e.help("mask the values of such clips (the option missing of the track), or leave them out"));
        };
        if !track.schema().is_like(&self.schema) {
            let e = Error::usage("the track is another one than elsewhere").in_clip(drawn.clip.ordinal());
            return Err(e.in_track(name).expected(self.schema.words()).found(track.schema().words()));
        }
        let piece = self.read_track(&track, drawn)?;
        track.prove_still_there()?;
        Ok(piece)
    }

    fn nothing(&self, length: usize) -> Result<Piece> {
        let values: usize = self.dimensions(length).iter().product();
        let numbers = values.saturating_mul(self.schema.numbers_per_value());
        Ok(Piece { values: TrackData::zeros(self.kind(), numbers)?, mask: vec![false; values] })
    }

    fn read_track(&self, track: &TrackView<'_>, drawn: &Drawn<'_>) -> Result<Piece> {
        match self.what {
            What::Texts => self.texts(track, drawn),
            What::AtFrames if self.schema.timing == TrackTiming::Frames => {
                let picks = drawn.frames.iter().map(|&t| Some(t as usize)).chain(std::iter::repeat(None));
                stored(track, picks.take(drawn.length).collect())
            }
            What::AtFrames => self.at(track, drawn, drawn.times()?.into_iter()),
            What::Steps { first, rate, count } => {
                let mut times = Vec::new();
                for anchor in self.anchors(drawn)? {
                    let time = |i| i64::try_from(i128::from(anchor?) + i128::from(first) + steps_ns(i, rate)).ok();
                    times.extend((0..count as i128).map(time));
                }
                self.at(track, drawn, times.into_iter())
            }
            What::Run { first, rate, count } => {
                let (start, found) = track.rate().unwrap_or((0, rate));
                if u64::from(found.0) * u64::from(rate.1) != u64::from(rate.0) * u64::from(found.1) {
                    let e = Error::usage("the track has another rate than elsewhere").in_clip(drawn.clip.ordinal());
                    let e = e.in_track(track.name()).expected(format!("{}/{} a second", rate.0, rate.1));
                    return Err(e.found(format!("{}/{} a second", found.0, found.1)).help("give the option rate"));
                }
                let mut picks = Vec::new();
                for anchor in self.anchors(drawn)? {
                    let from = |ns: i64| nearest_step(i128::from(ns) + i128::from(first) - i128::from(start), rate);
                    let from = anchor.map(from);
                    let at = |i: usize| usize::try_from(from? + i as i128).ok().filter(|&at| at < track.len());
                    picks.extend((0..count).map(at));
                }
                stored(track, picks)
            }
        }
    }

    /// The times from which windows count; `None` for those of frames that only pad the sample.
    fn anchors(&self, drawn: &Drawn<'_>) -> Result<Vec<Option<i64>>> {
        let frame = match self.options.anchor {
            TrackAnchor::Each => return drawn.times(),
            TrackAnchor::First => drawn.frames.first(),
            TrackAnchor::Last => drawn.frames.last(),
        };
        Ok(vec![frame.map(|&t| frame_ns(drawn.clip, t)).transpose()?])
    }

    /// What stands for each of these times.
    fn at(&self, track: &TrackView<'_>, drawn: &Drawn<'_>, times: impl Iterator<Item = Option<i64>>) -> Result<Piece> {
        let of_track = Times::of(drawn.clip, track)?;
        let how = self.options.how;
        let picks: Vec<Option<Pick>> = times.map(|t| of_track.pick(how, t?)).collect();
        if how != TrackHow::Linear {
            return stored(track, picks.iter().map(|pick| pick.map(|pick| pick.at)).collect());
        }
        let mask = picks.iter().map(Option::is_some).collect();
        Ok(Piece { values: gather::blended(track, &picks)?, mask })
    }

    fn texts(&self, track: &TrackView<'_>, drawn: &Drawn<'_>) -> Result<Piece> {
        let chosen = match self.options.nanoseconds() {
            None if self.schema.timing == TrackTiming::Frames => drawn.frames.iter().map(|&t| t as usize).collect(),
            None => {
                let times = drawn.times()?;
                let (from, to) = (times.iter().flatten().min(), times.iter().flatten().max());
                let times = Times::of(drawn.clip, track)?;
                from.zip(to).map(|(&from, &to)| times.within(from, to)).unwrap_or_default()
            }
            Some((first, end)) => {
                let anchor = self.anchors(drawn)?.first().copied().flatten().unwrap_or(0);
                Times::of(drawn.clip, track)?.within(anchor.saturating_add(first), anchor.saturating_add(end))
            }
        };
        let texts = chosen.into_iter().filter_map(|i| track.text(i)).map(str::to_owned).collect();
        Ok(Piece { values: TrackData::Texts(vec![texts]), mask: vec![true] })
    }
}

impl Drawn<'_> {
    /// The time of each frame of the sample; `None` for those that only pad it.
    fn times(&self) -> Result<Vec<Option<i64>>> {
        let mut times = Vec::with_capacity(self.length);
        for &t in self.frames {
            times.push(Some(frame_ns(self.clip, t)?));
        }
        times.resize(self.length, None);
        Ok(times)
    }
}

fn stored(track: &TrackView<'_>, picks: Vec<Option<usize>>) -> Result<Piece> {
    let values = gather::stored(track, &picks)?;
    Ok(Piece { values, mask: picks.iter().map(Option::is_some).collect() })
}

/// The rate of a track in the first clip that has it.
fn stored_rate(dataset: &Dataset, name: &str) -> Result<(u32, u32)> {
    for ordinal in 0..dataset.len() {
        if let Some((_, rate)) = dataset.clip(ordinal)?.track(name)?.and_then(|track| track.rate()) {
            return Ok(rate);
        }
    }
    let e = Error::usage(format!("loader option tracks[{name:?}]: no clip has it, so its rate is not known"));
    Err(e.hint(Hint::Unset("tracks")))
}
