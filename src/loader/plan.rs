//! Which samples a batch has, and for each: which clip, which frames, which view.

use super::batch::SampleParams;
use super::colour::ColorDraw;
use super::engine::{Engine, unequal};
use super::kernel::Kernel;
use super::space::Place;
use super::view::view;
use crate::dataset::Clip;
use crate::disk::advice::Advice;
use crate::order::EpochOrder;
use crate::random::{Random, stream};
use crate::{Error, Result};

/// A place in a batch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seat {
    pub sample: u64,
    /// What random numbers are drawn for: the sample, or where an order may repeat one, this occurrence of it.
    /// Modulo the number of crops of a clip it is the sample's crop.
    pub draw: u64,
    /// Whether it counts.
    pub counts: bool,
}

/// Frames of a clip that make a sample.
pub(super) struct Chosen<'a> {
    pub draw: u64,
    place: Place,
    pub clip: Clip<'a>,
    pub frames: Vec<u32>,
}

/// A sample of a batch: which frames it gives, and how.
pub(super) struct Planned<'a> {
    pub chosen: Chosen<'a>,
    pub counts: bool,
    pub params: SampleParams,
    /// For frames of the size that the clip's entry says; none when it says that they differ.
    pub kernel: Option<Kernel>,
}

impl Engine {
    /// The order of samples in `epoch`.
    pub fn order(&self, epoch: u64) -> EpochOrder {
        self.options.order.proven(self.space.len(), self.options.seed, epoch)
    }

    /// The samples of batch `k`.
    pub fn slots(&self, order: &EpochOrder, epoch: u64, k: u64) -> Result<Vec<Seat>> {
        let ranks = self.ranks(epoch);
        let slot = |i| {
            let slot = ranks.slot(k, self.options.rank, i)?;
            let sample = order.get(slot.position)?;
            // A multiple of the number of crops, which divides the number of samples.
            let occurrence = if order.repeats() { self.space.len().wrapping_mul(slot.position + 1) } else { 0 };
            Some(Seat { sample, draw: sample.wrapping_add(occurrence), counts: slot.counts })
        };
        let slots = if k < ranks.batches() { (0..self.options.batch_size).map(slot).collect() } else { None };
        let none = || Error::usage(format!("there is no batch {k}")).expected(format!("less than {}", ranks.batches()));
        slots.ok_or_else(none)
    }

    /// The clip and the frames of a sample.
    fn choose(&self, epoch: u64, slot: Seat) -> Result<Chosen<'_>> {
        let place = self.space.place(slot.sample, epoch);
        let clip = self.dataset.clip(place.clip)?;
        if let Some(expected) = self.clip_frames.filter(|&expected| expected != clip.frame_count()) {
            return Err(unequal(&clip, expected));
        }
        let random = || Random::new(self.options.seed, &[stream::TEMPORAL, epoch, slot.draw]);
        let frames = self.options.temporal.frames(clip.frame_count(), self.frames, &place, random);
        if frames.len() != self.frames as usize {
            return Err(Error::usage("the clip has no frames").in_clip(place.clip));
        }
        Ok(Chosen { draw: slot.draw, place, clip, frames })
    }

    /// Frames, view and colours of a sample.
    pub fn plan(&self, epoch: u64, slot: Seat) -> Result<Planned<'_>> {
        let chosen = self.choose(epoch, slot)?;
        let size = (chosen.clip.width(), chosen.clip.height());
        let known = size.0 > 0 && size.1 > 0;
        let view = view(&self.options, epoch, slot.draw, if known { size } else { (1, 1) });
        let color = ColorDraw::new(&self.options, epoch, slot.draw);
        let params = SampleParams {
            sample: slot.sample,
            view: chosen.place.view * self.options.crop.count() + chosen.place.crop,
            frames: Vec::new(),
            window: known.then(|| view.window(self.options.size)),
            flip: view.flip,
            color,
            instead_of: None,
        };
        let kernel = known.then(|| Kernel::new(&self.options.target(&color), &view, size));
        Ok(Planned { chosen, counts: slot.counts, params, kernel })
    }

    /// Asks the system for the pages of batch `k` of `epoch`, if there is such a batch. Errors come when it is read.
    pub fn read_ahead(&self, epoch: u64, k: u64) {
        let order = self.order(epoch);
        let mut slots = self.slots(&order, epoch, k).unwrap_or_default();
        // In the order of the files, so that neighbours of a block-wise order are read in sequence.
        slots.sort_unstable_by_key(|slot| slot.sample);
        for slot in slots {
            if let Ok(Chosen { clip, frames, .. }) = self.choose(epoch, slot) {
                clip.advise(&frames, Advice::Soon);
            }
        }
    }
}
