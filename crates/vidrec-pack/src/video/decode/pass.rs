//! Makes one pass over the stream: counts the frames, takes the wanted ones, and gathers the facts.

use std::time::Instant;

use ffmpeg_next::frame;

use super::decoder::{DecodeStop, PacketDecoder};
use super::needed::{ExpectedFrame, PacketChoice};
use super::times::{Clock, FrameTime, Presentation, PresentedFrame, TimeFlaws};
use crate::video::container::{Packets, StreamInfo, matrix_from_bytes};
use crate::video::error::{Stage, VideoError};
use crate::video::facts::VideoFacts;
use crate::video::options::{FrameSize, VideoOptions};
use crate::video::picture::{
    ColorConversion, Orientation, PictureFormat, Scaler, Size, display_size, fit, numbers, odd_angle, target_size,
};
use crate::video::timeline::Timeline;
use crate::video::timeline::{SampledFrame, SampledVideo};
use vidrec_format::error::{Error, Result};
use vidrec_jpeg::Planes;

/// The data that all passes over one stream share.
pub(crate) struct DecodePass<'a> {
    pub stream: &'a StreamInfo,
    pub packets: &'a Packets,
    pub options: &'a VideoOptions,
    pub deadline: Instant,
}

impl DecodePass<'_> {
    /// Decodes the whole stream and takes the `wanted` ordinals, which ascend without repeats.
    ///
    /// The ordinals are those of `presentation`, if it is known. Without it, frames count as shown when they come
    /// out.
    pub fn run<T>(
        &self,
        wanted: &[u32],
        (keep, presentation): (FrameFilter, Option<&Presentation>),
        mut make: FrameHandler<'_, T>,
    ) -> Result<PassResult<T>, VideoError> {
        let mut taker = FrameCollector::new(self.stream, self.options, wanted, keep, presentation, make.again());
        let decoder = PacketDecoder::open(self.stream, self.options.decoder_pixels(), self.deadline)?;
        let tally = match decoder.run(self.packets, None, &mut |frame, damaged| Ok(taker.see(frame, damaged)?)) {
            Ok(tally) => tally,
            Err(DecodeStop::Failed(e)) => return Err(e),
            Err(DecodeStop::Unexpected) => {
                return Err(VideoError::new(Stage::Decode, Error::decode("a halt without a plan")));
            }
        };
        let mut found = taker.found;
        found.flaws = presentation.map(|shown| shown.flaws).unwrap_or_default();
        (found.facts.decode_errors, found.facts.logged_errors) = (tally.errors, tally.logged);
        found.facts.first_error = tally.first_error;
        Ok(found)
    }

    /// Decodes the packets that `plan` selects and takes the `wanted` ordinals; returns `None` if other frames
    /// come out than planned.
    pub fn run_plan<T>(
        &self,
        wanted: &[u32],
        plan: &PacketChoice,
        mut make: FrameHandler<'_, T>,
    ) -> Result<Option<PassResult<T>>, VideoError> {
        let mut taker = FrameCollector::new(self.stream, self.options, wanted, FrameFilter::Intact, None, make.again());
        let mut expected = plan.expected.iter();
        let decoder = PacketDecoder::open(self.stream, self.options.decoder_pixels(), self.deadline)?;
        let run = decoder.run(self.packets, Some(&plan.feed), &mut |frame, damaged| {
            taker.see_expected(frame, damaged, *expected.next().ok_or(DecodeStop::Unexpected)?)
        });
        match run {
            Ok(tally) if tally.is_clean() && expected.len() == 0 => {
                taker.found.facts.undecoded_frames = plan.undecoded;
                Ok(Some(taker.found))
            }
            Ok(_) | Err(DecodeStop::Unexpected) => Ok(None),
            Err(DecodeStop::Failed(e)) => Err(e),
        }
    }
}

/// Which frames count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameFilter {
    /// Only frames without damage.
    Intact,
    /// All frames.
    Any,
}

/// The result of a pass, with what the caller made of the frames that were taken. Dropping the result drops both.
pub(crate) struct PassResult<T> {
    /// The results of the caller by ordinal, in the order in which the decoder returned the frames.
    pub frames: Vec<(u32, T)>,
    /// The frames that count.
    pub counted: Vec<FrameTime>,
    /// The frames that do not count: the damaged ones, if only intact ones count.
    pub left_out: Vec<FrameTime>,
    /// The flaws in the times of the frames that count.
    pub flaws: TimeFlaws,
    /// The facts about the video so far.
    pub facts: VideoFacts,
    pub look: Option<OutputShape>,
}

impl<T> PassResult<T> {
    pub fn new() -> Self {
        PassResult {
            frames: Vec::new(),
            counted: Vec::new(),
            left_out: Vec::new(),
            flaws: TimeFlaws::default(),
            facts: VideoFacts::default(),
            look: None,
        }
    }

    /// Returns the number of frames that count or were not decoded.
    pub fn count(&self) -> u32 {
        u32::try_from(self.counted.len()).unwrap_or(u32::MAX).saturating_add(self.facts.undecoded_frames)
    }

    /// Returns which frames to keep and when they are shown: the intact ones if there are any, otherwise the
    /// damaged ones.
    pub fn what_to_keep(&self, stream: &StreamInfo, packets: &Packets) -> (FrameFilter, Presentation) {
        let (keep, frames) = if self.counted.is_empty() {
            (FrameFilter::Any, &self.left_out)
        } else {
            (FrameFilter::Intact, &self.counted)
        };
        let mut presentation = Presentation::of(frames, packets.clock());
        if !stream.intra_only
            && let Some(key_times) = packets.key_times()
        {
            presentation.mark_keys(frames, &key_times);
        }
        (keep, presentation)
    }

    pub fn into_video(mut self, stream: &StreamInfo, packets: &Packets, timeline: Timeline) -> SampledVideo<T> {
        let frame_count = self.count();
        self.frames.sort_by_key(|&(ordinal, _)| ordinal);
        let frames = self.frames.into_iter().map(|(_, frame)| frame).collect();
        let mut facts = VideoFacts {
            codec: stream.codec.to_owned(),
            container: stream.container.clone(),
            claimed_frames: stream.claimed_frames,
            claimed_seconds: stream.claimed_seconds,
            creation_year: stream.creation_year,
            stream_seconds: packets.seconds(stream),
            corrupt_packets: packets.corrupt,
            failed_checksums: packets.checksums.failed,
            guessed_times: self.flaws.guessed,
            unordered_times: self.flaws.unordered,
            ..self.facts
        };
        facts.decode_errors += u64::from(packets.read_error.is_some());
        facts.logged_errors += packets.logged.errors;
        facts.first_error = facts.first_error.or_else(|| packets.first_error());
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
        SampledVideo { frame_count, frames, time_base: stream.time_base, timeline, facts }
    }
}

/// The caller's function that turns a chosen frame into its result: its picture, or its numbers as they are stored.
pub(crate) enum FrameHandler<'a, T> {
    Picture(&'a mut dyn FnMut(SampledFrame) -> T),
    Numbers(&'a mut dyn FnMut((Vec<u16>, [usize; 2])) -> T),
}

impl<T> FrameHandler<'_, T> {
    /// Returns the same function, for another pass.
    pub fn again(&mut self) -> FrameHandler<'_, T> {
        match self {
            FrameHandler::Picture(make) => FrameHandler::Picture(make),
            FrameHandler::Numbers(make) => FrameHandler::Numbers(make),
        }
    }
}

/// Looks at each frame as it comes out of the decoder.
pub(crate) struct FrameCollector<'a, T> {
    stream: &'a StreamInfo,
    options: &'a VideoOptions,
    wanted: &'a [u32],
    keep: FrameFilter,
    presentation: Option<&'a Presentation>,
    make: FrameHandler<'a, T>,
    scaler: Option<(Scaler, ColorConversion)>,
    clock: Clock,
    last: Option<PictureFormat>,
    pub found: PassResult<T>,
}

impl<'a, T> FrameCollector<'a, T> {
    pub fn new(
        stream: &'a StreamInfo,
        options: &'a VideoOptions,
        wanted: &'a [u32],
        keep: FrameFilter,
        presentation: Option<&'a Presentation>,
        make: FrameHandler<'a, T>,
    ) -> Self {
        let (clock, found) = (Clock::default(), PassResult::new());
        let (scaler, last) = (None, None);
        FrameCollector { stream, options, wanted, keep, presentation, make, scaler, clock, last, found }
    }

    /// Checks a frame of a stream that is decoded in part.
    pub fn see_expected(
        &mut self,
        frame: &frame::Video,
        damaged: bool,
        expected: ExpectedFrame,
    ) -> Result<(), DecodeStop> {
        let as_expected = frame.pts() == Some(expected.pts) && frame.is_key() == expected.key;
        if !as_expected || damaged {
            return Err(DecodeStop::Unexpected);
        }
        let time = FrameTime { own: Some(expected.pts), guess: expected.pts, key: expected.key };
        Ok(self.count(frame, time, PresentedFrame { ordinal: expected.ordinal, pts: expected.pts })?)
    }

    /// Looks at a frame of a stream that is decoded whole.
    pub fn see(&mut self, frame: &frame::Video, damaged: bool) -> Result<(), VideoError> {
        let time = self.clock.time(frame, self.stream);
        self.found.facts.damaged_frames += u32::from(damaged);
        if damaged && self.keep == FrameFilter::Intact {
            self.found.left_out.push(time);
            return Ok(());
        }
        let place = u32::try_from(self.found.counted.len()).map_err(|_| too_many_frames())?;
        let as_it_comes = PresentedFrame { ordinal: place, pts: time.guess };
        let shown = self.presentation.and_then(|all| all.at(place)).unwrap_or(as_it_comes);
        self.count(frame, time, shown)
    }

    /// Counts a frame, and takes its picture if it is one of those wanted.
    fn count(&mut self, frame: &frame::Video, time: FrameTime, shown: PresentedFrame) -> Result<(), VideoError> {
        let PresentedFrame { ordinal: index, pts } = shown;
        self.found.counted.push(time);
        self.found.facts.interlaced_frames += u32::from(frame.is_interlaced());
        let picture = PictureFormat::of(frame).ok_or_else(|| {
            VideoError::new(
                Stage::Scale,
                Error::decode("FFmpeg gave a picture in a pixel format without a name").in_frame(index),
            )
        })?;
        let changed = self.last.is_some_and(|last| (last.size, last.format) != (picture.size, picture.format));
        self.found.facts.format_changes += u32::from(changed);
        self.found.facts.size_changes += u32::from(self.last.is_some_and(|last| last.size != picture.size));
        if (changed || self.last.is_none()) && matches!(self.make, FrameHandler::Picture(_)) {
            self.options.check_depth(picture.stored_depth, picture.name)?;
        }
        self.last = Some(picture);
        if self.found.look.is_none() {
            self.found.look = Some(OutputShape::new(frame, picture, self.stream, self.options)?);
        }
        if self.wanted.binary_search(&index).is_ok() {
            let made = self.make(frame, picture, PresentedFrame { ordinal: index, pts });
            self.found.frames.push((index, made.map_err(|e| VideoError::new(Stage::Scale, e.in_frame(index)))?));
        }
        Ok(())
    }

    /// Makes what the caller wants of a frame: with colors at half the resolution and 8 bits, or its numbers as they are.
    fn make(
        &mut self,
        frame: &frame::Video,
        picture: PictureFormat,
        PresentedFrame { ordinal: source_index, pts }: PresentedFrame,
    ) -> Result<T> {
        if let FrameHandler::Numbers(make) = &mut self.make {
            let Size { width, height } = picture.size;
            return Ok(make((numbers(frame, picture)?, [height as usize, width as usize])));
        }
        let image = self.image(frame, picture)?;
        match &mut self.make {
            FrameHandler::Picture(make) => Ok(make(SampledFrame { image, pts, source_index })),
            FrameHandler::Numbers(_) => Err(Error::internal("numbers of a picture")),
        }
    }

    fn image(&mut self, frame: &frame::Video, picture: PictureFormat) -> Result<Planes> {
        let Some(look) = &self.found.look else {
            return Err(Error::decode("FFmpeg gave a frame without a size"));
        };
        let (target, orientation) = (look.target, look.orientation);
        let size = look.size_of(frame, picture, self.options.size);
        let (scaler, conversion) = match &mut self.scaler {
            Some(ready) if ready.0.fits(&picture, size) => ready,
            slot => {
                let scaler = Scaler::new(picture, size, !orientation.is_identity())?;
                slot.insert((scaler, ColorConversion::new(picture.matrix, picture.range)))
            }
        };
        let mut deep = scaler.run(frame)?;
        deep.turn(orientation)?;
        let image = conversion.run(&deep)?;
        if size == target { Ok(image) } else { with_bars(&image, orientation.apply(target)) }
    }
}

fn too_many_frames() -> VideoError {
    VideoError::new(Stage::Decode, Error::limit(format!("the video has more than {} frames", u32::MAX)))
}

/// The properties that the first frame determines for all frames.
#[derive(Clone)]
pub(crate) struct OutputShape {
    pub picture: PictureFormat,
    pub sar: (u32, u32),
    pub orientation: Orientation,
    pub odd_angle: Option<f64>,
    /// The size of the pictures before they are turned.
    pub target: Size,
}

impl OutputShape {
    /// Derives the properties from the first frame.
    pub fn new(
        frame: &frame::Video,
        picture: PictureFormat,
        stream: &StreamInfo,
        options: &VideoOptions,
    ) -> Result<Self, VideoError> {
        options.check_pixels((picture.size.width, picture.size.height))?;
        let matrix = frame
            .side_data(frame::side_data::Type::DisplayMatrix)
            .and_then(|d| matrix_from_bytes(d.data()))
            .or(stream.display_matrix);
        let orientation = matrix.as_ref().map(Orientation::from_matrix).unwrap_or_default();
        let sar = if stream.sar.0 > 0 { stream.sar } else { own_sar(frame) };
        let shown = orientation.apply(display_size(picture.size, sar));
        let target = target_size(shown, options.size).map_err(|e| VideoError::new(Stage::Scale, e))?;
        let odd_angle = matrix.as_ref().and_then(odd_angle);
        Ok(OutputShape { picture, sar, orientation, odd_angle, target: orientation.apply(target) })
    }

    /// Returns the size for a frame before it is turned. It is the whole target if the picture is as large as the
    /// first one.
    ///
    /// A later picture of another size keeps its own shape, as in a player. If the options ask for an exact size, the
    /// picture fills it, whatever its shape.
    pub fn size_of(&self, frame: &frame::Video, picture: PictureFormat, wanted: FrameSize) -> Size {
        if picture.size == self.picture.size || matches!(wanted, FrameSize::Exact { .. }) {
            return self.target;
        }
        let own = own_sar(frame);
        fit(display_size(picture.size, if own.0 > 0 { own } else { self.sar }), self.target)
    }
}

/// Returns the pixel shape that the frame states; 0:1 if it states none.
fn own_sar(frame: &frame::Video) -> (u32, u32) {
    let own = frame.aspect_ratio();
    (u32::try_from(own.numerator()).unwrap_or(0), u32::try_from(own.denominator()).unwrap_or(0))
}

/// Centers the picture in a black one of `size`, which is at least as large. The picture starts at an even row and
/// column, because its chroma samples do.
pub(crate) fn with_bars(image: &Planes, size: Size) -> vidrec_format::error::Result<Planes> {
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
