//! What makes a sample: which clip, which frames, which view, which colors.

use super::schedule::Seat;
use super::unequal::unequal;
use crate::dataset::{Clip, Dataset};
use crate::loader::batch::SampleParams;
use crate::loader::draw::{Augmentation, ColorDraw, Temporal, view};
use crate::loader::kernel::Kernel;
use crate::loader::options::{LoaderOptions, Pictures};
use crate::{Error, Result};

/// What all samples of a run are made from.
#[derive(Debug)]
pub(super) struct Planner {
    pub dataset: Dataset,
    temporal: Temporal,
    augmentation: Augmentation,
    pictures: Pictures,
    /// Frames that each sample has.
    pub frames: u32,
    /// Frames that each clip must have, where samples rely on it.
    clip_frames: Option<u32>,
}

/// A sample of a batch: which frames it has, and how they become pictures.
pub(super) struct SamplePlan<'a> {
    pub seat: Seat,
    pub clip: Clip<'a>,
    pub frames: Vec<u32>,
    pub params: SampleParams,
    /// For frames of the size that the clip's entry gives; `None` if the entry says that frames differ in size.
    pub kernel: Option<Kernel>,
}

impl Planner {
    pub fn new(dataset: &Dataset, options: &LoaderOptions, frames: u32, clip_frames: Option<u32>) -> Self {
        let LoaderOptions { temporal, augmentation, pictures, .. } = *options;
        Planner { dataset: dataset.clone(), temporal, augmentation, pictures, frames, clip_frames }
    }

    /// The clip and the frames of a sample.
    pub fn choose(&self, seat: &Seat) -> Result<(Clip<'_>, Vec<u32>)> {
        let clip = self.dataset.clip(seat.place.clip)?;
        if let Some(expected) = self.clip_frames.filter(|&expected| expected != clip.frame_count()) {
            return Err(unequal(&clip, expected));
        }
        let run = (seat.place.view, seat.place.start);
        let frames = self.temporal.frames(clip.frame_count(), self.frames, run, seat.key);
        if frames.len() != self.frames as usize {
            return Err(Error::usage("the clip has no frames").in_clip(seat.place.clip));
        }
        Ok((clip, frames))
    }

    /// Frames, view and colors of a sample.
    pub fn plan(&self, seat: Seat) -> Result<SamplePlan<'_>> {
        let (clip, frames) = self.choose(&seat)?;
        let size = (clip.width(), clip.height());
        let known = size.0 > 0 && size.1 > 0;
        let view = view(&self.augmentation, self.pictures.size, seat.key, if known { size } else { (1, 1) });
        let color = ColorDraw::new(&self.augmentation.color, seat.key);
        let params = SampleParams {
            sample: seat.sample,
            view: seat.place.view * self.augmentation.crop.count() + seat.place.crop,
            frames: Vec::new(),
            window: known.then(|| view.window(self.pictures.size)),
            flip: view.flip,
            color,
            instead_of: None,
        };
        let kernel = known.then(|| Kernel::new(&self.pictures.spec(color.matrix()), &view, size));
        Ok(SamplePlan { seat, clip, frames, params, kernel })
    }

    /// The tables for a frame of another size than its clip's entry gives.
    pub fn kernel(&self, plan: &SamplePlan<'_>, frame: (u32, u32)) -> Kernel {
        let view = view(&self.augmentation, self.pictures.size, plan.seat.key, frame);
        Kernel::new(&self.pictures.spec(plan.params.color.matrix()), &view, frame)
    }
}
