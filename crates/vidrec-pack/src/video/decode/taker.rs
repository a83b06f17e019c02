//! Counts the frames that come out of the decoder, and takes the wanted ones.

use std::time::Instant;

use ffmpeg_next::frame;

use super::decoder::Halt;
use super::look::{Look, with_bars};
use super::needed::Expected;
use super::result::{Keep, PassResult};
use super::times::{Clock, FrameTime, Presentation, Shown};
use crate::video::container::StreamInfo;
use crate::video::error::{Stage, VideoError};
use crate::video::frames::{FullColor, NumberFrame, SampledFrame};
use crate::video::options::VideoOptions;
use crate::video::picture::{ColorConversion, Deep, Orientation, PictureFormat, Scaler, Size, numbers};
use vidrec_format::error::Error;
use vidrec_jpeg::Planes;

/// The caller's function that turns a chosen frame into its result: its picture, or its numbers as they are stored.
pub(crate) enum Make<'a, T> {
    Picture(&'a mut dyn FnMut(SampledFrame) -> T),
    Numbers(&'a mut dyn FnMut(NumberFrame) -> T),
}

impl<T> Make<'_, T> {
    /// Returns the same function, for another pass.
    pub fn again(&mut self) -> Make<'_, T> {
        match self {
            Make::Picture(make) => Make::Picture(make),
            Make::Numbers(make) => Make::Numbers(make),
        }
    }
}

/// Looks at each frame as it comes out of the decoder.
pub(crate) struct Taker<'a, T> {
    stream: &'a StreamInfo,
    options: &'a VideoOptions,
    wanted: &'a [u32],
    keep: Keep,
    presentation: Option<&'a Presentation>,
    make: Make<'a, T>,
    scaler: Option<(Scaler, ColorConversion)>,
    full_scaler: Option<Scaler>,
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
        presentation: Option<&'a Presentation>,
        make: Make<'a, T>,
    ) -> Self {
        let (clock, found) = (Clock::default(), PassResult::new());
        let (scaler, full_scaler, last) = (None, None, None);
        Taker { stream, options, wanted, keep, presentation, make, scaler, full_scaler, clock, last, found }
    }

    /// Checks a frame of a stream that is decoded in part.
    pub fn see_expected(&mut self, frame: &frame::Video, damaged: bool, expected: Expected) -> Result<(), Halt> {
        let as_expected = frame.pts() == Some(expected.pts) && frame.is_key() == expected.key;
        if !as_expected || damaged {
            return Err(Halt::Unexpected);
        }
        let time = FrameTime { own: Some(expected.pts), guess: expected.pts, key: expected.key };
        Ok(self.count(frame, time, Shown { ordinal: expected.ordinal, pts: expected.pts })?)
    }

    /// Looks at a frame of a stream that is decoded whole.
    pub fn see(&mut self, frame: &frame::Video, damaged: bool) -> Result<(), VideoError> {
        let time = self.clock.time(frame, self.stream);
        self.found.damaged += u32::from(damaged);
        if damaged && self.keep == Keep::Intact {
            self.found.left_out.push(time);
            return Ok(());
        }
        let place = u32::try_from(self.found.counted.len()).map_err(|_| too_many_frames())?;
        let as_it_comes = Shown { ordinal: place, pts: time.guess };
        let shown = self.presentation.and_then(|all| all.at(place)).unwrap_or(as_it_comes);
        self.count(frame, time, shown)
    }

    /// Counts a frame, and takes its picture if it is one of those wanted.
    fn count(&mut self, frame: &frame::Video, time: FrameTime, shown: Shown) -> Result<(), VideoError> {
        let Shown { ordinal: index, pts } = shown;
        self.found.counted.push(time);
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
        if (changed || self.last.is_none()) && matches!(self.make, Make::Picture(_)) {
            self.options.check_depth(picture.stored_depth, picture.name)?;
        }
        self.last = Some(picture);
        if self.found.look.is_none() {
            self.found.look = Some(Look::new(frame, picture, self.stream, self.options)?);
        }
        if self.wanted.binary_search(&index).is_ok() {
            let made = self.make(frame, picture, Shown { ordinal: index, pts });
            self.found.frames.push((index, made.map_err(|e| VideoError::new(Stage::Scale, e.in_frame(index)))?));
        }
        Ok(())
    }

    fn make(
        &mut self,
        frame: &frame::Video,
        picture: PictureFormat,
        Shown { ordinal: source_index, pts }: Shown,
    ) -> vidrec_format::error::Result<T> {
        let taken = match &self.make {
            Make::Picture(_) => Some(self.take(frame, picture)?),
            Make::Numbers(_) => None,
        };
        match (&mut self.make, taken) {
            (Make::Picture(make), Some((image, full_color))) => {
                Ok(make(SampledFrame { image, full_color, pts, source_index }))
            }
            (Make::Numbers(make), _) => {
                let Size { width, height } = picture.size;
                Ok(make(NumberFrame { numbers: numbers(frame, picture)?, width, height }))
            }
            (Make::Picture(_), None) => Err(Error::internal("no picture was made of a frame")),
        }
    }

    /// Returns the picture of a frame, and what [`VideoOptions::full_color`] asks for.
    fn take(
        &mut self,
        frame: &frame::Video,
        picture: PictureFormat,
    ) -> vidrec_format::error::Result<(Planes, Option<FullColor>)> {
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
        let (image, conversion, only_read) = (conversion.run(&deep)?, *conversion, scaler.only_reads());
        if size != target {
            return Ok((with_bars(&image, orientation.apply(target))?, None));
        }
        if !self.options.full_color {
            return Ok((image, None));
        }
        let started = Instant::now();
        // A frame of this size has no more color than its picture.
        let deep = if only_read { deep } else { self.in_full_color(frame, picture, (size, orientation))? };
        Ok((image, Some(FullColor { rgb: conversion.rgb(&deep)?, took: started.elapsed() })))
    }

    fn in_full_color(
        &mut self,
        frame: &frame::Video,
        picture: PictureFormat,
        (size, orientation): (Size, Orientation),
    ) -> vidrec_format::error::Result<Deep> {
        let scaler = match &mut self.full_scaler {
            Some(ready) if ready.fits(&picture, size) => ready,
            slot => slot.insert(Scaler::in_full_color(picture, size)?),
        };
        let mut deep = scaler.run(frame)?;
        deep.turn(orientation)?;
        Ok(deep)
    }
}

fn too_many_frames() -> VideoError {
    VideoError::new(Stage::Decode, Error::limit(format!("the video has more than {} frames", u32::MAX)))
}
