//! What makes a sample: which clip, which frames, which view, which colors.

use super::schedule::Seat;
use super::space::SamplePlace;
use super::unequal::unequal;
use crate::dataset::{Clip, Dataset};
use crate::jpeg::Scale;
use crate::loader::batch::SampleParams;
use crate::loader::draw::{Augmentation, Clock, ColorDraw, DrawKey, Frames, ShortClips, Temporal, together, view};
use crate::loader::kernel::{Kernel, View, scale};
use crate::loader::options::{CamerasCrop, LoaderOptions, Pictures};
use crate::{Error, Result};

/// What all samples of a run are made from.
#[derive(Debug)]
pub(super) struct Planner {
    pub dataset: Dataset,
    temporal: Temporal,
    frames: Frames,
    short: ShortClips,
    clock: Clock,
    augmentation: Augmentation,
    pictures: Pictures,
    cameras_crop: CamerasCrop,
    /// Frames that each clip must have, where samples rely on it.
    clip_frames: Option<u32>,
}

/// A sample of a batch: which frames it has, and how they become pictures.
pub(super) struct SamplePlan<'a> {
    pub seat: Seat,
    pub clip: Clip<'a>,
    /// The frames to decode; the pictures behind them pad the sample.
    pub frames: Vec<u32>,
    /// Which pictures of the sample are frames that were asked for.
    pub meant: Vec<bool>,
    pub params: SampleParams,
    /// Whether there is a clip of this camera; else the pictures are zeros.
    pub is_there: bool,
    /// What the pictures are.
    pub pictures: Pictures,
}

impl SamplePlan<'_> {
    /// Width and height of the frames by the clip's entry; `None` if it says that they differ.
    pub fn frame_size(&self) -> Option<(u32, u32)> {
        frame_size(&self.clip)
    }
}

fn frame_size(clip: &Clip<'_>) -> Option<(u32, u32)> {
    let (width, height) = (clip.width(), clip.height());
    (width > 0 && height > 0).then_some((width, height))
}

/// The frames of a sample, and which of its pictures are frames that were asked for.
type Chosen = (Vec<u32>, Vec<bool>);

impl Planner {
    pub fn new(dataset: &Dataset, options: &LoaderOptions, clip_frames: Option<u32>) -> Self {
        let LoaderOptions { temporal, frames, short, fps, augmentation, pictures, .. } = *options;
        let (dataset, clock) = (dataset.clone(), Clock(fps));
        let cameras_crop = options.cameras.crop;
        Planner { dataset, temporal, frames, short, clock, augmentation, pictures, cameras_crop, clip_frames }
    }

    /// Frames of a sample of any length, at most `most`.
    pub fn length(&self, seat: &Seat, most: u32) -> Result<u32> {
        Ok(self.temporal.length(self.clock.length(&self.dataset.clip(seat.place.clip)?)?, most))
    }

    /// The clip and the frames of a sample in a batch of `length` frames. Of a camera that is not the first one, those at
    /// the times of the first one's.
    pub fn choose(&self, seat: &Seat, length: u32) -> Result<(Clip<'_>, Chosen)> {
        let camera = seat.place.camera;
        if camera == 0 {
            return self.choose_freely(seat, length);
        }
        let place = SamplePlace { clip: seat.place.clip - u64::from(camera), camera: 0, ..seat.place };
        let (first, (frames, meant)) = self.choose_freely(&Seat { place, ..*seat }, length)?;
        let clip = self.dataset.clip(seat.place.clip)?;
        let frames = together(&first, &frames, &clip)?;
        Ok((clip, (frames, meant)))
    }

    /// What decides crop, flip and colors of a sample.
    fn look(&self, seat: &Seat) -> DrawKey {
        match self.cameras_crop {
            CamerasCrop::Own => seat.key.of_camera(seat.place.camera),
            CamerasCrop::Same => seat.key,
        }
    }

    fn choose_freely(&self, seat: &Seat, length: u32) -> Result<(Clip<'_>, Chosen)> {
        let clip = self.dataset.clip(seat.place.clip)?;
        if let Some(expected) = self.clip_frames.filter(|&expected| expected != clip.frame_count()) {
            return Err(unequal(clip.ordinal(), expected, clip.frame_count()));
        }
        let ticks = self.clock.ticks(&clip)?;
        let n = ticks.as_ref().map_or(clip.frame_count(), |ticks| ticks.len() as u32);
        if n == 0 {
            return Err(Error::usage("the clip has no frames").in_clip(seat.place.clip));
        }
        let (mut frames, mut meant) = self.among(n, length, seat);
        meant.resize(length as usize, false);
        if let Some(ticks) = ticks {
            frames.iter_mut().for_each(|frame| *frame = ticks[*frame as usize]);
        }
        Ok((clip, (frames, meant)))
    }

    /// The frames of a sample among `n`.
    fn among(&self, n: u32, length: u32, seat: &Seat) -> Chosen {
        let any = matches!(self.frames, Frames::Any { .. });
        let count = if any { self.temporal.length(n, length) } else { length };
        let is_short = self.temporal.needs(count) > n.into();
        if is_short && self.short == ShortClips::Pad {
            // As many as the clip has; the rest of the sample is padding.
            let count = self.temporal.length(n, count);
            let frames = self.temporal.frames(n, count, 0, seat.key);
            let meant = vec![true; frames.len()];
            return (frames, meant);
        }
        let frames = self.temporal.frames(n, count, seat.place.number, seat.key);
        let meant = self.temporal.meant(n, &frames);
        (frames, meant)
    }

    /// Frames, view and colors of a sample in a batch of `length` frames of `size` pixels.
    pub fn plan(&self, seat: Seat, length: u32, size: (u32, u32)) -> Result<SamplePlan<'_>> {
        let (clip, (frames, meant)) = self.choose(&seat, length)?;
        let pictures = Pictures { size, ..self.pictures };
        let frame = frame_size(&clip);
        let key = self.look(&seat);
        let view = view(&self.augmentation, size, key, frame.unwrap_or((1, 1)));
        let color = ColorDraw::new(&self.augmentation.color, key);
        // One allocation, whatever their number.
        let mut times = Vec::with_capacity(frames.len());
        for &t in &frames {
            times.push(clip.seconds(t)?);
        }
        let params = SampleParams {
            sample: seat.sample,
            view: self.temporal.view(seat.place.number) * self.augmentation.crop.count() + seat.place.crop,
            frames: Vec::new(),
            times,
            window: frame.map(|_| view.window(size)),
            flip: view.flip,
            color,
            instead_of: None,
        };
        Ok(SamplePlan { seat, clip, frames, meant, params, is_there: true, pictures })
    }

    /// Which part of a frame of this size becomes the picture.
    pub fn view(&self, plan: &SamplePlan<'_>, frame: (u32, u32)) -> View {
        view(&self.augmentation, plan.pictures.size, self.look(&plan.seat), frame)
    }

    /// The scale of the planes that a sample needs of frames of the size that its clip's entry gives, if it gives one.
    pub fn scale(&self, seat: &Seat, clip: &Clip<'_>, size: (u32, u32)) -> Option<Scale> {
        let frame = (clip.width(), clip.height());
        let view = (frame.0 > 0 && frame.1 > 0).then(|| view(&self.augmentation, size, self.look(seat), frame))?;
        Some(scale(&view, self.pictures.reducing_gap))
    }

    /// The tables for a frame of this size.
    pub fn kernel(&self, plan: &SamplePlan<'_>, frame: (u32, u32)) -> Kernel {
        Kernel::new(&plan.pictures.spec(plan.params.color.matrix()), &self.view(plan, frame), frame)
    }
}
