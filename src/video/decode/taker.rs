//! Counts the frames that come out of the decoder, and takes the wanted ones.

use ffmpeg_next::frame;

use super::decoder::Halt;
use super::look::{Look, with_bars};
use super::needed::Expected;
use super::result::{Keep, PassResult};
use crate::video::container::StreamInfo;
use crate::video::error::{Stage, VideoError};
use crate::video::frames::SampledFrame;
use crate::video::options::VideoOptions;
use crate::video::picture::{ColorConversion, PictureFormat, Scaler};
use crate::{Error, Planes};

/// What the caller makes of a chosen frame.
pub(crate) type Make<'a, T> = &'a mut dyn FnMut(SampledFrame) -> T;

/// Looks at each frame as it comes out of the decoder.
pub(crate) struct Taker<'a, T> {
    stream: &'a StreamInfo,
    options: &'a VideoOptions,
    wanted: &'a [u32],
    keep: Keep,
    make: Make<'a, T>,
    scaler: Option<(Scaler, ColorConversion)>,
    clock: Clock,
    last: Option<PictureFormat>,
    pub found: PassResult<T>,
}

impl<'a, T> Taker<'a, T> {
    pub fn new(
        stream: &'a StreamInfo,
        options: &'a VideoOptions,
        wanted: &'a [u32],
        keep: Keep,
        make: Make<'a, T>,
    ) -> Self {
        let (clock, found) = (Clock::default(), PassResult::new());
        Taker { stream, options, wanted, keep, make, scaler: None, clock, last: None, found }
    }

    /// Checks a frame of a stream that is decoded in part.
    pub fn see_expected(&mut self, frame: &frame::Video, damaged: bool, expected: Expected) -> Result<(), Halt> {
        let as_expected = frame.timestamp() == Some(expected.pts) && frame.is_key() == expected.key;
        if !as_expected || damaged {
            return Err(Halt::Unexpected);
        }
        Ok(self.count(frame, expected.ordinal, expected.pts)?)
    }

    /// Looks at a frame of a stream that is decoded whole.
    pub fn see(&mut self, frame: &frame::Video, damaged: bool) -> Result<(), VideoError> {
        let pts = self.clock.time(frame, self.stream);
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
        let picture = PictureFormat::of(frame).ok_or_else(|| {
            VideoError::new(
                Stage::Scale,
                Error::decode("FFmpeg gave a picture in a pixel format without a name").in_frame(index),
            )
        })?;
        let changed = self.last.is_some_and(|last| (last.size, last.format) != (picture.size, picture.format));
        self.found.format_changes += u32::from(changed);
        self.found.size_changes += u32::from(self.last.is_some_and(|last| last.size != picture.size));
        if changed || self.last.is_none() {
            self.options.check_depth(picture.stored_depth, picture.name)?;
        }
        self.last = Some(picture);
        if self.found.look.is_none() {
            self.found.look = Some(Look::new(frame, picture, self.stream, self.options)?);
        }
        if self.wanted.get(self.found.frames.len()) == Some(&index) {
            let image = self.take(frame, picture).map_err(|e| VideoError::new(Stage::Scale, e.in_frame(index)))?;
            let made = (self.make)(SampledFrame { image, pts, source_index: index });
            self.found.frames.push(made);
        }
        Ok(())
    }

    fn take(&mut self, frame: &frame::Video, picture: PictureFormat) -> crate::Result<Planes> {
        let Some(look) = &self.found.look else {
            return Err(Error::decode("a frame without a size"));
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
    VideoError::new(Stage::Decode, Error::limit(format!("more than {} frames", u32::MAX)))
}

/// Gives each frame a time, even if the file does not.
#[derive(Default)]
struct Clock {
    /// The time of the next frame, if it has none of its own.
    next: i64,
}

impl Clock {
    fn time(&mut self, frame: &frame::Video, stream: &StreamInfo) -> i64 {
        let pts = frame.timestamp().unwrap_or(self.next);
        let duration = match frame.packet().duration {
            d if d > 0 => d,
            _ => stream.nominal_duration(),
        };
        self.next = pts.saturating_add(duration);
        pts
    }
}
