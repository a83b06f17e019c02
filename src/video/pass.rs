//! One pass over the stream: count the frames, take the wanted ones, gather the facts.

use std::time::Instant;

use ffmpeg_next::frame;

use crate::{Error, Planes};

use super::claims::{check_pixels, decoder_pixels};
use super::colour::Conversion;
use super::decode::{Decoder, Halt};
use super::facts::VideoFacts;
use super::geometry::{Orientation, Size, display_size, fit, odd_angle, target_size};
use super::input::{StreamInfo, matrix_from_bytes};
use super::needed::{Expected, Plan};
use super::packets::Packets;
use super::picture::Picture;
use super::scale::Scaler;
use super::{FrameSize, SampledFrame, SampledVideo, Stage, Timeline, VideoError, VideoOptions};

/// Which frames count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// Those without damage.
    Intact,
    /// All.
    Any,
}

/// What every pass over one stream has in common.
pub(super) struct Pass<'a> {
    pub stream: &'a StreamInfo,
    pub packets: &'a Packets,
    pub options: &'a VideoOptions,
    pub deadline: Instant,
}

/// What the caller makes of a chosen frame.
pub(super) type Make<'a, T> = &'a mut dyn FnMut(SampledFrame) -> T;

/// What a pass found, and what was made of the frames that it took: whoever drops a pass drops both.
pub(super) struct Found<T> {
    frames: Vec<T>,
    /// Time and key flag of the frames that count.
    counted: Vec<(i64, bool)>,
    /// The same of those that do not: the damaged ones, when only intact ones count.
    left_out: Vec<(i64, bool)>,
    damaged: u32,
    interlaced: u32,
    format_changes: u32,
    size_changes: u32,
    undecoded: u32,
    errors: u64,
    logged: u64,
    pub first_error: Option<String>,
    look: Option<Look>,
}

/// What the first frame settles for all.
#[derive(Clone)]
struct Look {
    picture: Picture,
    sar: (u32, u32),
    orientation: Orientation,
    odd_angle: Option<f64>,
    /// Size of the pictures before they are turned.
    target: Size,
}

impl Pass<'_> {
    /// Decodes the whole stream and takes the `wanted` ordinals, which ascend without repeats.
    pub fn run<T>(&self, wanted: &[u32], keep: Keep, make: Make<'_, T>) -> Result<Found<T>, VideoError> {
        let mut taker = Taker::new(self, wanted, keep, make);
        let decoder = Decoder::open(self.stream, decoder_pixels(self.options.max_pixels), self.deadline)?;
        let tally = match decoder.run(self.packets, None, &mut |frame, damaged| Ok(taker.see(frame, damaged)?)) {
            Ok(tally) => tally,
            Err(Halt::Failed(e)) => return Err(e),
            Err(Halt::Unexpected) => {
                return Err(VideoError::new(Stage::Decode, Error::decode("a halt without a plan")));
            }
        };
        let mut found = taker.found;
        (found.errors, found.logged) = (tally.errors, tally.logged);
        found.first_error = tally.first_error;
        Ok(found)
    }

    /// Decodes what `plan` names and takes the `wanted` ordinals; `None` if anything else comes out than planned.
    pub fn run_plan<T>(&self, wanted: &[u32], plan: &Plan, make: Make<'_, T>) -> Result<Option<Found<T>>, VideoError> {
        let mut taker = Taker::new(self, wanted, Keep::Intact, make);
        let mut expected = plan.expected.iter();
        let decoder = Decoder::open(self.stream, decoder_pixels(self.options.max_pixels), self.deadline)?;
        let run = decoder.run(self.packets, Some(&plan.feed), &mut |frame, damaged| {
            taker.see_expected(frame, damaged, *expected.next().ok_or(Halt::Unexpected)?)
        });
        match run {
            Ok(tally) if tally.is_clean() && expected.len() == 0 => {
                taker.found.undecoded = plan.undecoded;
                Ok(Some(taker.found))
            }
            Ok(_) | Err(Halt::Unexpected) => Ok(None),
            Err(Halt::Failed(e)) => Err(e),
        }
    }

    fn look(&self, frame: &frame::Video, picture: Picture) -> Result<Look, VideoError> {
        check_pixels((picture.size.width, picture.size.height), self.options.max_pixels)?;
        let matrix = frame
            .side_data(frame::side_data::Type::DisplayMatrix)
            .and_then(|d| matrix_from_bytes(d.data()))
            .or(self.stream.display_matrix);
        let orientation = matrix.as_ref().map(Orientation::from_matrix).unwrap_or_default();
        let sar = if self.stream.sar.0 > 0 { self.stream.sar } else { own_sar(frame) };
        let shown = orientation.apply(display_size(picture.size, sar));
        let target = target_size(shown, self.options.size).map_err(|e| VideoError::new(Stage::Scale, e))?;
        let odd_angle = matrix.as_ref().and_then(odd_angle);
        Ok(Look { picture, sar, orientation, odd_angle, target: orientation.apply(target) })
    }
}

/// Looks at each frame as it comes out of the decoder.
struct Taker<'a, T> {
    pass: &'a Pass<'a>,
    wanted: &'a [u32],
    keep: Keep,
    make: Make<'a, T>,
    scaler: Option<(Scaler, Conversion)>,
    clock: Clock,
    last: Option<Picture>,
    found: Found<T>,
}

impl<'a, T> Taker<'a, T> {
    fn new(pass: &'a Pass<'a>, wanted: &'a [u32], keep: Keep, make: Make<'a, T>) -> Self {
        Taker { pass, wanted, keep, make, scaler: None, clock: Clock::default(), last: None, found: Found::new() }
    }

    /// Looks at a frame of a stream that is decoded in part.
    fn see_expected(&mut self, frame: &frame::Video, damaged: bool, expected: Expected) -> Result<(), Halt> {
        let as_expected = frame.timestamp() == Some(expected.pts) && frame.is_key() == expected.key;
        if !as_expected || damaged {
            return Err(Halt::Unexpected);
        }
        Ok(self.count(frame, expected.ordinal, expected.pts)?)
    }

    /// Looks at a frame of a stream that is decoded whole.
    fn see(&mut self, frame: &frame::Video, damaged: bool) -> Result<(), VideoError> {
        let pts = self.clock.time(frame, self.pass.stream);
        self.found.damaged += u32::from(damaged);
        if damaged && self.keep == Keep::Intact {
            self.found.left_out.push((pts, frame.is_key()));
            return Ok(());
        }
        let index = u32::try_from(self.found.counted.len()).map_err(|_| too_many_frames())?;
        self.count(frame, index, pts)
    }

    /// Counts the frame with ordinal `index`, and takes its picture if it is the next one wanted.
    fn count(&mut self, frame: &frame::Video, index: u32, pts: i64) -> Result<(), VideoError> {
        self.found.counted.push((pts, frame.is_key()));
        self.found.interlaced += u32::from(frame.is_interlaced());
        let picture = Picture::of(frame).ok_or_else(|| {
            VideoError::new(
                Stage::Scale,
                Error::decode("FFmpeg gave a picture in a pixel format without a name").in_frame(index),
            )
        })?;
        let changed = self.last.is_some_and(|last| (last.size, last.format) != (picture.size, picture.format));
        self.found.format_changes += u32::from(changed);
        self.found.size_changes += u32::from(self.last.is_some_and(|last| last.size != picture.size));
        self.last = Some(picture);
        if self.found.look.is_none() {
            self.found.look = Some(self.pass.look(frame, picture)?);
        }
        if self.wanted.get(self.found.frames.len()) == Some(&index) {
            let image = self.take(frame, picture).map_err(|e| VideoError::new(Stage::Scale, e.in_frame(index)))?;
            let made = (self.make)(SampledFrame { image, pts, source_index: index });
            self.found.frames.push(made);
        }
        Ok(())
    }

    fn take(&mut self, frame: &frame::Video, picture: Picture) -> crate::Result<Planes> {
        let Some(look) = &self.found.look else {
            return Err(Error::decode("a frame without a size"));
        };
        let (target, orientation) = (look.target, look.orientation);
        let size = look.size_of(frame, picture, self.pass.options.size);
        let (scaler, conversion) = match &mut self.scaler {
            Some(ready) if ready.0.fits(&picture, size) => ready,
            slot => {
                let scaler = Scaler::new(picture, size, !orientation.is_identity())?;
                slot.insert((scaler, Conversion::new(picture.matrix, picture.range)))
            }
        };
        let mut deep = scaler.run(frame)?;
        deep.turn(orientation)?;
        let image = conversion.run(&deep)?;
        if size == target { Ok(image) } else { with_bars(&image, orientation.apply(target)) }
    }
}

impl Look {
    /// The size for a frame before it is turned: all of the target, if the picture is as large as the first one.
    ///
    /// A later one of another size has a shape of its own, which is kept as a player keeps it. Whoever asks for an exact size
    /// wants it filled, whatever the shape.
    fn size_of(&self, frame: &frame::Video, picture: Picture, wanted: FrameSize) -> Size {
        if picture.size == self.picture.size || matches!(wanted, FrameSize::Exact { .. }) {
            return self.target;
        }
        let own = own_sar(frame);
        fit(display_size(picture.size, if own.0 > 0 { own } else { self.sar }), self.target)
    }
}

/// The shape of a pixel that the frame names; 0:1 if it does not.
fn own_sar(frame: &frame::Video) -> (u32, u32) {
    let own = frame.aspect_ratio();
    (u32::try_from(own.numerator()).unwrap_or(0), u32::try_from(own.denominator()).unwrap_or(0))
}

/// The picture in the middle of a black one of `size`, which is at least as large. It lies at even places, as its chroma
/// samples do.
fn with_bars(image: &Planes, size: Size) -> crate::Result<Planes> {
    let mut whole = Planes::new(size.width, size.height)?;
    let left = (size.width.saturating_sub(image.width()) / 2) as usize & !1;
    let top = (size.height.saturating_sub(image.height()) / 2) as usize & !1;
    let (luma, chroma) = (size.width as usize, whole.chroma_width() as usize);
    let (own_luma, own_chroma) = (image.width() as usize, image.chroma_width() as usize);
    for (from, own_row, to, row, left, top) in [
        (&image.y, own_luma, &mut whole.y, luma, left, top),
        (&image.cb, own_chroma, &mut whole.cb, chroma, left / 2, top / 2),
        (&image.cr, own_chroma, &mut whole.cr, chroma, left / 2, top / 2),
    ] {
        for (from, to) in from.chunks_exact(own_row).zip(to.chunks_exact_mut(row).skip(top)) {
            to[left..left + own_row].copy_from_slice(from);
        }
    }
    Ok(whole)
}

impl<T> Found<T> {
    fn new() -> Self {
        Found {
            frames: Vec::new(),
            counted: Vec::new(),
            left_out: Vec::new(),
            damaged: 0,
            interlaced: 0,
            format_changes: 0,
            size_changes: 0,
            undecoded: 0,
            errors: 0,
            logged: 0,
            first_error: None,
            look: None,
        }
    }

    /// Frames that count, and those that were not decoded.
    pub fn count(&self) -> u32 {
        u32::try_from(self.counted.len()).unwrap_or(u32::MAX).saturating_add(self.undecoded)
    }

    /// Intact frames if there are any, else the damaged ones; and which those are.
    pub fn what_to_keep(&self, stream: &StreamInfo) -> (Keep, Timeline) {
        let (keep, frames) =
            if self.counted.is_empty() { (Keep::Any, &self.left_out) } else { (Keep::Intact, &self.counted) };
        let (pts, key) = frames.iter().copied().unzip();
        (keep, Timeline { pts, key, time_base: stream.time_base, player_zero: stream.player_zero })
    }

    pub fn into_video(self, stream: &StreamInfo, packets: &Packets) -> SampledVideo<T> {
        let facts = self.facts(stream, packets);
        SampledVideo { frame_count: self.count(), frames: self.frames, time_base: stream.time_base, facts }
    }

    fn facts(&self, stream: &StreamInfo, packets: &Packets) -> VideoFacts {
        let mut facts = VideoFacts {
            codec: stream.codec.to_owned(),
            container: stream.container.clone(),
            claimed_frames: stream.claimed_frames,
            claimed_seconds: stream.claimed_seconds,
            stream_seconds: stream_seconds(stream, packets),
            format_changes: self.format_changes,
            size_changes: self.size_changes,
            interlaced_frames: self.interlaced,
            decode_errors: self.errors + u64::from(packets.read_error.is_some()),
            corrupt_packets: packets.corrupt,
            logged_errors: self.logged + packets.heard.errors,
            failed_checksums: packets.checksums.failed,
            damaged_frames: self.damaged,
            undecoded_frames: self.undecoded,
            first_error: self.first_error.clone().or_else(|| packets.first_error()),
            ..VideoFacts::default()
        };
        if let Some(look) = &self.look {
            facts.pixel_format = look.picture.name.to_owned();
            (facts.coded_width, facts.coded_height) = (look.picture.size.width, look.picture.size.height);
            facts.sar = look.sar;
            (facts.mirrored, facts.rotation) = look.orientation.as_mirror_and_turn();
            facts.odd_angle = look.odd_angle;
            facts.matrix = look.picture.matrix.name().to_owned();
            facts.range = look.picture.range_name().to_owned();
            facts.chroma_location = look.picture.siting_name().to_owned();
        }
        facts
    }
}

fn too_many_frames() -> VideoError {
    VideoError::new(Stage::Decode, Error::limit(format!("more than {} frames", u32::MAX)))
}

/// Gives each frame a time, also where the file does not.
#[derive(Default)]
struct Clock {
    /// Where the next frame should be, if it does not say.
    next: i64,
}

impl Clock {
    fn time(&mut self, frame: &frame::Video, stream: &StreamInfo) -> i64 {
        let pts = frame.timestamp().unwrap_or(self.next);
        let duration = match frame.packet().duration {
            d if d > 0 => d,
            _ => nominal_duration(stream),
        };
        self.next = pts.saturating_add(duration);
        pts
    }
}

/// Seconds from the first frame to the end of the last.
pub(super) fn stream_seconds(stream: &StreamInfo, packets: &Packets) -> Option<f64> {
    super::claims::stream_seconds(stream, packets, nominal_duration(stream))
}

/// One over the frame rate, in units of the time base; 1 when the rate is unknown.
fn nominal_duration(stream: &StreamInfo) -> i64 {
    let (num, den) = (i64::from(stream.frame_rate.0), i64::from(stream.frame_rate.1));
    let (tick, per_second) = (i64::from(stream.time_base.0), i64::from(stream.time_base.1));
    // Each factor is below 2^32, so products of two fit.
    match (num.checked_mul(tick), den.checked_mul(per_second)) {
        (Some(n), Some(d)) if n > 0 && d > 0 => (d / n).max(1),
        _ => 1,
    }
}
