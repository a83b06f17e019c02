//! A track that comes with the batches, and the choice of its values.

use std::ops::Range;

use super::gather::PickedValues;
use super::geometry::Placement;
use super::times::{Grid, Pick, SLACK_NS, Times, slack_ns};
use crate::dataset::{ClipTracks, Dataset, TrackView, Values};
use crate::loader::batch::{ListItems, TrackBuffer, TrackBufferValues, check_sample_bytes};
use crate::loader::draw::ChosenFrames;
use crate::loader::feed::sample_spec::{SampleSpec, frame_ns};
use crate::loader::options::{Geometry, Missing, TrackAnchor, TrackHow, TrackWindow};
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::sampler::Rate;
use vidrec_format::track::schema::{TrackSchema, TrackTiming, TrackType};

/// The sample of the camera of this number, whose frames a track follows. `None` if the episode does not have the camera.
pub(crate) type OfCamera<'a> = &'a dyn Fn(u32) -> Result<Option<SampleSpec<'a>>>;

/// What the values of a track with a geometry follow: the sample of a camera, and where they are in its pictures.
type Followed<'a, 's> = Option<(Placement<'a>, SampleSpec<'s>)>;

/// A track, and the values that samples have of it.
#[derive(Debug)]
pub(crate) struct TrackPlan {
    pub schema: TrackSchema,
    pub options: TrackWindow,
    /// The number of the camera whose frames its values follow, if they have a geometry.
    camera: u32,
    choice: TrackChoice,
}

/// The choice of values.
#[derive(Debug, Clone, PartialEq, Eq)]
enum TrackChoice {
    /// The value at each frame.
    AtFrames,
    /// Values in steps of `1 / rate`, counted from `from` nanoseconds after an anchor.
    Steps { from: i64, rate: (u32, u32), steps: Range<i64> },
    /// Stored values of this rate, in steps that are counted from the value nearest to `from` nanoseconds after an
    /// anchor.
    Run { from: i64, rate: (u32, u32), steps: Range<i64> },
    /// Values at these nanoseconds after an anchor.
    Times(Vec<i64>),
    /// All stored values of a time range: a list for each sample.
    Events,
    /// The texts of a time range.
    Texts,
}

/// The steps of `1 / rate` from `from` nanoseconds to `to`, counted from 0. Both ends count, and so does a step at the end that
/// rounding has moved beyond it.
fn steps_of_window((from, to): (i64, i64), rate: (u32, u32)) -> Range<i64> {
    let count = Grid::of(rate).until(i128::from(to) - i128::from(from) + i128::from(SLACK_NS));
    0..i64::try_from(count).unwrap_or(i64::MAX)
}

impl TrackPlan {
    pub fn new(dataset: &Dataset, schema: TrackSchema, options: TrackWindow, camera: u32) -> Result<Self> {
        let TrackWindow { rate, how, anchor, dims, .. } = options;
        let (is_text, is_linear) = (schema.kind == TrackType::Utf8, how == TrackHow::Linear);
        let has_window = options.window.is_some() || options.steps.is_some();
        let of_numbers = rate.is_some() || options.steps.is_some() || options.times.is_some();
        let takes_stored = !is_text && has_window && rate.is_none();
        let has_events = takes_stored && options.window.is_some() && schema.timing != TrackTiming::Rate;
        let shift = options.normalize.as_ref().map(|normalize| normalize.shift.len());
        let has_room = |dims| !is_text && schema.shape.len() == 1 && schema.shape[0] <= dims;
        let refusals = [
            (
                is_text && (how != TrackHow::Nearest || of_numbers || anchor == TrackAnchor::Each),
                "a track of texts takes no rate, no steps, no times, no how, and no window at each frame".into(),
                "give only a window, or nothing",
            ),
            (
                shift.is_some_and(|shift| is_text || shift != schema.numbers_per_value()),
                format!("normalize has {} numbers for a value", shift.unwrap_or(0)),
                "take the statistics of this track; texts have none",
            ),
            (
                dims.is_some_and(|dims| !has_room(dims)),
                format!("dims is {}, and there is no room for a value", dims.unwrap_or(0)),
                "give dims to a track of numbers whose values have one side, and at most so many numbers",
            ),
            (
                is_linear && (schema.timing == TrackTiming::Spans || schema.list),
                "there are no values between two spans or two lists".into(),
                "omit how",
            ),
            (
                takes_stored && !has_events && schema.timing != TrackTiming::Rate,
                "steps of this track need a rate".into(),
                "set rate to the number of values per second",
            ),
            (
                has_events && (anchor == TrackAnchor::Each || schema.list),
                "all values of a window come once a sample, and not of lists".into(),
                "give a rate, or omit anchor=each",
            ),
            (
                takes_stored && is_linear,
                "without a rate, there are no values between the stored ones".into(),
                "give a rate, or omit how",
            ),
        ];
        if let Some((_, what, help)) = refusals.into_iter().find(|(is_refused, ..)| *is_refused) {
            let e = Error::usage(format!("loader option tracks[{:?}]: {what}", schema.name));
            return Err(e.found(schema.words()).help(help));
        }
        let choice = if is_text {
            TrackChoice::Texts
        } else if let Some(times) = options.times_ns() {
            TrackChoice::Times(times)
        } else if has_events {
            TrackChoice::Events
        } else if !has_window {
            TrackChoice::AtFrames
        } else {
            let window = options.nanoseconds();
            let from = window.map_or(0, |(from, _)| from);
            let steps = |rate| match (window, options.steps) {
                (Some(window), _) => steps_of_window(window, rate),
                (None, steps) => steps.map_or(0..1, |(first, end)| first..end),
            };
            match rate.map(Rate::frame_seconds) {
                Some((den, num)) => TrackChoice::Steps { from, rate: (num, den), steps: steps((num, den)) },
                None => {
                    let rate = stored_rate(dataset, &schema.name)?;
                    TrackChoice::Run { from, rate, steps: steps(rate) }
                }
            }
        };
        Ok(TrackPlan { schema, options, camera, choice })
    }

    /// The shape of what has a flag of its own in the mask, in a batch whose pictures have this width and height.
    pub fn value_shape(&self, size: (u32, u32)) -> Vec<u32> {
        let mut shape = self.options.dims.map_or_else(|| self.item().to_vec(), |dims| vec![dims]);
        if let ([height, width, ..], true) = (&mut shape[..], self.copies_pixels()) {
            (*width, *height) = size;
        }
        shape
    }

    /// The shape of what has a flag of its own in the mask.
    fn item(&self) -> &[u32] {
        let shape = &self.schema.shape[..];
        self.options.geometry.map_or(shape, |geometry| geometry.item(shape))
    }

    /// The number of sides of a value, or of an item of lists, that are dimensions of the mask.
    pub fn mask_sides(&self) -> usize {
        self.schema.shape.len() - self.item().len()
    }

    /// Whether a value in a batch has pixels of the stored one.
    fn copies_pixels(&self) -> bool {
        self.options.geometry.is_some_and(Geometry::is_picture)
    }

    /// Returns the number of bytes of a sample of `length` frames whose pictures have this size, and whose lists have one
    /// item, or an error if the window
    /// is absurdly large.
    pub fn sample_bytes(&self, length: usize, size: (u32, u32)) -> Result<usize> {
        let values: u128 = self.dimensions(length).iter().map(|&n| n as u128).product();
        // Normalized numbers take 4 bytes or more.
        let each = self.schema.kind.number_bytes().unwrap_or(1).max(if self.copies_pixels() { 1 } else { 4 });
        let numbers: u128 = self.value_shape(size).iter().map(|&side| u128::from(side)).product();
        let bytes = values * numbers * u128::from(each);
        if self.choice != TrackChoice::Texts {
            check_sample_bytes(&self.schema.name, bytes)?;
        }
        Ok(bytes as usize)
    }

    /// The dimensions of the mask except the first, in a batch of samples of `length` frames.
    pub fn dimensions(&self, length: usize) -> Vec<usize> {
        let steps = |count: usize| match self.options.anchor {
            TrackAnchor::Each => vec![length, count],
            TrackAnchor::Current | TrackAnchor::Last => vec![count],
        };
        let mut dimensions = match &self.choice {
            TrackChoice::Texts => return Vec::new(),
            TrackChoice::Events => Vec::new(),
            TrackChoice::AtFrames => vec![length],
            TrackChoice::Steps { steps: range, .. } | TrackChoice::Run { steps: range, .. } => {
                steps((range.end - range.start) as usize)
            }
            TrackChoice::Times(times) => steps(times.len()),
        };
        dimensions.extend(self.schema.shape[..self.mask_sides()].iter().map(|&side| side as usize));
        dimensions
    }

    /// Whether values are padded to the longest list of a batch, and whether they have times of their own.
    pub fn is_list(&self) -> (bool, bool) {
        let has_events = self.choice == TrackChoice::Events;
        (self.schema.list || has_events, has_events)
    }

    /// The type of the values in a batch.
    pub fn kind(&self) -> TrackType {
        match self.schema.kind {
            _ if self.options.dims.is_some() => TrackType::F32,
            TrackType::F64 => TrackType::F64,
            _ if self.is_computed() => TrackType::F32,
            kind => kind,
        }
    }

    /// Whether values are not simply those that are stored.
    fn is_computed(&self) -> bool {
        let is_other = self.options.dims.is_some() && self.schema.kind != TrackType::F32;
        let is_moved = self.options.geometry.is_some_and(|geometry| !geometry.is_picture());
        self.options.how == TrackHow::Linear || self.options.normalize.is_some() || is_other || is_moved
    }

    /// Writes a sample's values of the track to its place in the batch, and fills all of that place.
    ///
    /// # Errors
    ///
    /// The clip does not have the track (unless it is then masked), or the track is damaged.
    pub fn read(
        &self,
        tracks: &ClipTracks<'_>,
        sample: &SampleSpec<'_>,
        slot: &mut TrackBuffer<'_>,
        of_camera: OfCamera<'_>,
    ) -> Result<()> {
        let name = &self.schema.name;
        let Some(track) = tracks.unproven(name)? else {
            if self.options.missing == Missing::Mask {
                nothing(slot);
                return Ok(());
            }
            let e = Error::usage(format!("the clip has no track {name:?}")).in_clip(sample.clip.ordinal());
            return Err(e.help("mask the values of such clips (the option missing of the track), or leave them out"));
        };
        if !track.schema().is_like(&self.schema) {
            let e = Error::usage("the track does not have the same type, shape and timing in all clips")
                .in_clip(sample.clip.ordinal());
            return Err(e.in_track(name).expected(self.schema.words()).found(track.schema().words()));
        }
        if let Some(dims) = &mut slot.dims {
            **dims = self.schema.numbers_per_value() as u32;
        }
        match &mut slot.values {
            TrackBufferValues::Texts { texts, times } => {
                track.prove()?;
                self.texts(&track, sample, texts, times)?;
                slot.mask.fill(true);
            }
            TrackBufferValues::Numbers(out) => {
                let Some(followed) = self.followed(of_camera)? else {
                    nothing(slot);
                    return Ok(());
                };
                let picks = self.picks(&track, sample)?;
                // The next value counts only if it has a weight. A value after the last one would be an error of
                // its own.
                let used = |pick: &Pick| pick.at..=pick.at + usize::from(pick.toward > 0.0);
                let values = track.values_at(picks.iter().flatten().flat_map(used))?;
                self.write(&values, &picks, &followed, out, slot.mask)?;
            }
            TrackBufferValues::Lists { items, counts, times } => {
                let Some(followed) = self.followed(of_camera)? else {
                    nothing(slot);
                    return Ok(());
                };
                match times {
                    Some(times) => {
                        **times = self.events(&track, sample, &followed, items)?;
                        counts.fill(times.len() as i64);
                    }
                    None => self.lists(&track, &self.picks(&track, sample)?, &followed, items, counts)?,
                }
            }
        }
        track.prove_still_there()
    }

    /// What the values follow, if they have a geometry; `None` if the episode does not have the camera.
    fn followed<'a, 's>(&'a self, of_camera: OfCamera<'s>) -> Result<Option<Followed<'a, 's>>> {
        let Some(geometry) = self.options.geometry else { return Ok(Some(None)) };
        let Some(sample) = of_camera(self.camera)? else { return Ok(None) };
        Ok(Some(Some((Placement::new(geometry, &self.options, &self.schema, &sample)?, sample))))
    }

    /// Writes values, or the items of a list, and their flags.
    fn write(
        &self,
        all: &Values<'_>,
        picks: &[Option<Pick>],
        followed: &Followed<'_, '_>,
        out: &mut [u8],
        mask: &mut [bool],
    ) -> Result<()> {
        let dims = self.options.dims.map_or(self.schema.numbers_per_value(), |dims| dims as usize);
        let picked = PickedValues { schema: &self.schema, all, picks, dims };
        match followed {
            Some((_, sample)) if self.copies_pixels() => picked.seen(sample, out)?,
            _ if self.is_computed() => picked.computed(self.options.normalize.as_ref(), self.kind(), out)?,
            _ => picked.stored(out)?,
        }
        let items = mask.len() / picks.len().max(1);
        for (mask, pick) in mask.chunks_exact_mut(items.max(1)).zip(picks) {
            mask.fill(pick.is_some_and(|pick| pick.exists));
        }
        followed.as_ref().map_or(Ok(()), |(place, _)| place.apply(self.kind(), out, mask, picks))
    }

    /// Writes the items of the lists of a sample, one list after the other, and the number of items of each.
    fn lists(
        &self,
        track: &TrackView<'_>,
        picks: &[Option<Pick>],
        followed: &Followed<'_, '_>,
        out: &mut ListItems,
        counts: &mut [i64],
    ) -> Result<()> {
        track.prove_times()?;
        let lists = || picks.iter().map(|pick| pick.and_then(|pick| Some((pick, track.items(pick.at)?))));
        counts.iter_mut().zip(lists()).for_each(|(to, list)| *to = list.map_or(-1, |(_, items)| items.len() as i64));
        let total = lists().flatten().map(|(_, items)| items.len()).sum::<usize>();
        let (room, flags) = self.item_room(followed);
        check_sample_bytes(&self.schema.name, total as u128 * room as u128)?;
        let (mut out, mut mask) = out.reserve((total * room, total * flags))?;
        let (all, each) = (track.number_bytes().unwrap_or_default(), self.schema.value_bytes().unwrap_or(1) as usize);
        for (pick, items) in lists().flatten() {
            let of_list = Values::of(all.get(items.start * each..items.end * each).unwrap_or_default());
            let item = |at| Some(Pick { exists: pick.exists, ..Pick::whole(at) });
            let picks: Vec<Option<Pick>> = (0..items.len()).map(item).collect();
            let numbers = out.split_off_mut(..picks.len() * room).unwrap_or_default();
            let mask = mask.split_off_mut(..picks.len() * flags).unwrap_or_default();
            self.write(&of_list, &picks, followed, numbers, mask)?;
        }
        Ok(())
    }

    /// The bytes and the flags of an item of a list in a batch.
    fn item_room(&self, followed: &Followed<'_, '_>) -> (usize, usize) {
        let flags = self.schema.shape[..self.mask_sides()].iter().product::<u32>() as usize;
        let size = followed.as_ref().map_or((0, 0), |(_, sample)| sample.size);
        let numbers = self.value_shape(size).iter().map(|&side| side as usize).product::<usize>() * flags;
        (numbers * self.kind().number_bytes().unwrap_or(1) as usize, flags)
    }

    /// Writes all values of the time range of a sample. Returns the start and the end of each.
    fn events(
        &self,
        track: &TrackView<'_>,
        sample: &SampleSpec<'_>,
        followed: &Followed<'_, '_>,
        out: &mut ListItems,
    ) -> Result<Vec<(f64, f64)>> {
        track.prove_times()?;
        let spans = self.spans(track, sample)?;
        let (room, flags) = self.item_room(followed);
        check_sample_bytes(&self.schema.name, spans.len() as u128 * room as u128)?;
        let (out, mask) = out.reserve((spans.len() * room, spans.len() * flags))?;
        let values = track.values_at(spans.iter().map(|(at, _)| *at))?;
        let picks: Vec<Option<Pick>> = spans.iter().map(|(at, _)| Some(Pick::whole(*at))).collect();
        self.write(&values, &picks, followed, out, mask)?;
        let seconds = seconds_from_current(sample)?;
        Ok(spans.into_iter().map(|(_, (start, end))| (seconds(start), seconds(end))).collect())
    }

    /// The values of a sample, one for each place in the mask, or in that of lists without their items.
    fn picks(&self, track: &TrackView<'_>, sample: &SampleSpec<'_>) -> Result<Vec<Option<Pick>>> {
        match &self.choice {
            TrackChoice::Texts | TrackChoice::Events => Err(Error::internal("a time range as single values")),
            TrackChoice::AtFrames if self.schema.timing == TrackTiming::Frames => {
                let pick =
                    |(&t, &meant): (&Option<u32>, &bool)| Some(Pick { exists: meant, ..Pick::whole(t? as usize) });
                Ok(sample.chosen.places.iter().zip(&sample.chosen.meant).map(pick).collect())
            }
            TrackChoice::AtFrames => self.at(track, sample, sample.anchors(TrackAnchor::Each)?.into_iter()),
            TrackChoice::Times(offsets) => self.at_offsets(track, sample, offsets.iter().map(|&ns| ns.into())),
            TrackChoice::Steps { from, rate, steps } => {
                let (from, grid) = (i128::from(*from), Grid::of(*rate));
                self.at_offsets(track, sample, steps.clone().map(move |i| from + grid.ns(i)))
            }
            TrackChoice::Run { from, rate, steps } => {
                let (from, rate) = (*from, *rate);
                let (start, found) = track.rate().unwrap_or((0, rate));
                if u64::from(found.0) * u64::from(rate.1) != u64::from(rate.0) * u64::from(found.1) {
                    let e = Error::usage("the track does not have the same rate in all clips")
                        .in_clip(sample.clip.ordinal());
                    let e = e.in_track(track.name()).expected(format!("{}/{} per second", rate.0, rate.1));
                    return Err(e.found(format!("{}/{} per second", found.0, found.1)).help("give the option rate"));
                }
                let mut picks = Vec::with_capacity(steps.clone().count());
                for (anchor, meant) in sample.anchors(self.options.anchor)? {
                    let nearest =
                        |ns: i64| Grid::of(rate).nearest(i128::from(ns) + i128::from(from) - i128::from(start));
                    let nearest = anchor.map(nearest);
                    picks.extend(steps.clone().map(|i| {
                        let wanted = nearest? + i128::from(i);
                        let at = wanted.clamp(0, track.len().checked_sub(1)? as i128);
                        let exists = at == wanted;
                        (exists || sample.holds_edges())
                            .then(|| Pick { exists: exists && meant, ..Pick::whole(at as usize) })
                    }));
                }
                Ok(picks)
            }
        }
    }

    /// The values for the times at these nanoseconds after each anchor.
    fn at_offsets(
        &self,
        track: &TrackView<'_>,
        sample: &SampleSpec<'_>,
        offsets: impl Iterator<Item = i128> + Clone,
    ) -> Result<Vec<Option<Pick>>> {
        let time = |anchor: Option<i64>, offset: i128| i64::try_from(i128::from(anchor?) + offset).ok();
        let anchors = sample.anchors(self.options.anchor)?.into_iter();
        let window = |(anchor, meant)| offsets.clone().map(move |offset| (time(anchor, offset), meant));
        self.at(track, sample, anchors.flat_map(window))
    }

    /// The value for each of these times, each with whether it is one of a frame that was asked for.
    fn at(
        &self,
        track: &TrackView<'_>,
        sample: &SampleSpec<'_>,
        times: impl Iterator<Item = (Option<i64>, bool)>,
    ) -> Result<Vec<Option<Pick>>> {
        if matches!(self.schema.timing, TrackTiming::Times | TrackTiming::Spans) {
            // This check comes before the times are read.
            track.prove_times()?;
        }
        let of_track = Times::of(&sample.clip, track)?;
        let slack = slack_ns(&sample.clip);
        let pick = |(t, meant): (Option<i64>, bool)| {
            let t = t?;
            let found = of_track.pick(self.options.how, slack, t);
            let found = found.or_else(|| of_track.edge(t).filter(|_| sample.holds_edges()))?;
            Some(if meant { found } else { found.instead() })
        };
        Ok(times.map(pick).collect())
    }

    /// Replaces texts by those of a sample, and times by the starts and ends of those texts.
    fn texts(
        &self,
        track: &TrackView<'_>,
        sample: &SampleSpec<'_>,
        texts: &mut Vec<String>,
        times: &mut Vec<(f64, f64)>,
    ) -> Result<()> {
        let seconds = seconds_from_current(sample)?;
        texts.clear();
        times.clear();
        for (i, (start, end)) in self.spans(track, sample)? {
            if let Some(text) = track.text(i) {
                texts.push(text.to_owned());
                times.push((seconds(start), seconds(end)));
            }
        }
        Ok(())
    }

    /// The numbers of the texts or values of the time range of a sample, with their starts and ends.
    fn spans(&self, track: &TrackView<'_>, sample: &SampleSpec<'_>) -> Result<Vec<(usize, (i64, i64))>> {
        let window = self.options.nanoseconds();
        if window.is_none() && self.schema.timing == TrackTiming::Frames {
            let ChosenFrames { places, meant, .. } = &sample.chosen;
            let meant = places.iter().zip(meant).filter_map(|(t, &meant)| t.filter(|_| meant));
            return meant.map(|t| frame_ns(&sample.clip, t).map(|ns| (t as usize, (ns, ns)))).collect();
        }
        let part = match window {
            None if sample.clip.frame_count() == 0 => Some((i64::MIN, i64::MAX)),
            None => {
                let of_frames = sample.times_ns()?;
                of_frames.iter().flatten().min().copied().zip(of_frames.iter().flatten().max().copied())
            }
            Some((first, end)) => {
                let anchors = sample.anchors(self.options.anchor)?;
                let anchor = anchors.first().and_then(|(anchor, _)| *anchor).unwrap_or(0);
                Some((anchor.saturating_add(first), anchor.saturating_add(end)))
            }
        };
        let times = Times::of(&sample.clip, track)?;
        let chosen = part.map(|(from, to)| times.within(from, to)).unwrap_or_default();
        Ok(chosen.into_iter().map(|i| (i, times.span(i))).collect())
    }
}

/// Seconds from the time of the current frame of a sample to a time in nanoseconds.
fn seconds_from_current(sample: &SampleSpec<'_>) -> Result<impl Fn(i64) -> f64> {
    let zero = sample.current_ns()?.unwrap_or(0);
    Ok(move |ns: i64| (i128::from(ns) - i128::from(zero)) as f64 / 1e9)
}

/// Fills the place of a sample that does not have a track.
fn nothing(slot: &mut TrackBuffer<'_>) {
    slot.mask.fill(false);
    slot.dims.iter_mut().for_each(|dims| **dims = 0);
    match &mut slot.values {
        TrackBufferValues::Numbers(out) => out.fill(0),
        TrackBufferValues::Lists { items, counts, times } => {
            **items = ListItems::default();
            counts.fill(-1);
            times.iter_mut().for_each(|times| times.clear());
        }
        TrackBufferValues::Texts { texts, times } => {
            texts.clear();
            times.clear();
        }
    }
}

/// The rate of a track in the first clip that has the track.
fn stored_rate(dataset: &Dataset, name: &str) -> Result<(u32, u32)> {
    for ordinal in 0..dataset.len() {
        if let Some((_, rate)) = dataset.clip(ordinal)?.tracks()?.unproven(name)?.and_then(|track| track.rate()) {
            return Ok(rate);
        }
    }
    let e = Error::usage(format!("loader option tracks[{name:?}]: no clip has the track, so its rate is unknown"));
    Err(e.hint(Hint::Unset("tracks")))
}
