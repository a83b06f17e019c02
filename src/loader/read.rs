//! One batch: every frame read and decoded into its place.

use std::sync::{MutexGuard, PoisonError};

use half::{bf16, f16};
use rayon::prelude::*;

use super::batch::{Batch, BatchData};
use super::engine::Engine;
use super::kernel::{Kernel, Sample, Slot};
use super::options::{Dtype, Layout, OnBadFrame};
use super::plan::{Planned, Seat};
use super::stats::add;
use super::view::view;
use super::worker::Worker;
use crate::disk::advice::Advice;
use crate::random::{Random, stream};
use crate::{Error, ErrorKind, Io, Result};

/// Draws of a sample to stand in for one that cannot be read, before it is an error.
const SUBSTITUTE_TRIES: u64 = 16;

impl Engine {
    /// Replaces the contents of `batch` by batch `k` of `epoch`.
    pub fn fill(&self, epoch: u64, k: u64, batch: &mut Batch) -> Result<()> {
        batch.reshape(self.shape());
        batch.reserve(self.options.dtype)?;
        let mut data = std::mem::take(&mut batch.data);
        let filled = match &mut data {
            BatchData::U8(data) => self.samples(epoch, k, data, batch),
            BatchData::F16(data) => self.samples(epoch, k, data, batch),
            BatchData::Bf16(data) => self.samples(epoch, k, data, batch),
            BatchData::F32(data) => self.samples(epoch, k, data, batch),
        };
        batch.data = data;
        filled
    }

    /// As [`fill`](Self::fill), but for the samples, which go to `memory`.
    pub fn fill_into(&self, epoch: u64, k: u64, memory: &mut [u8], batch: &mut Batch) -> Result<()> {
        let expected = self.batch_bytes();
        if memory.len() != expected {
            return Err(Error::usage("memory for a batch")
                .expected(format!("{expected} bytes"))
                .found(format!("{} bytes", memory.len())));
        }
        batch.reshape(self.shape());
        batch.data = BatchData::default();
        match self.options.dtype {
            Dtype::U8 => self.samples(epoch, k, memory, batch),
            Dtype::F16 => self.samples(epoch, k, aligned::<f16>(memory)?, batch),
            Dtype::Bf16 => self.samples(epoch, k, aligned::<bf16>(memory)?, batch),
            Dtype::F32 => self.samples(epoch, k, aligned::<f32>(memory)?, batch),
        }
    }

    /// Batch `k` of `epoch`: samples to `data`, all else to `batch`.
    fn samples<S: Sample>(&self, epoch: u64, k: u64, data: &mut [S], batch: &mut Batch) -> Result<()> {
        let order = self.order(epoch);
        let slots = self.slots(&order, epoch, k)?;
        let length = data.len() / slots.len();
        let read = |(&slot, data): (&Seat, &mut [S])| self.read_or_substitute(epoch, slot, data);
        let read: Vec<Result<Planned<'_>>> =
            self.pool.install(|| slots.par_iter().zip(data.par_chunks_mut(length)).map(read).collect());
        self.finish(read.into_iter().collect::<Result<_>>()?, batch);
        Ok(())
    }

    fn read_or_substitute<S: Sample>(&self, epoch: u64, slot: Seat, data: &mut [S]) -> Result<Planned<'_>> {
        let read = self.read(epoch, slot, data);
        match (read, self.options.on_bad_frame) {
            (Err(e), OnBadFrame::Substitute) if is_of_the_data(&e) => self.substitute(epoch, slot, data).ok_or(e),
            (read, _) => read,
        }
    }

    /// The first that can be read of the samples drawn to stand in for that of `slot`.
    fn substitute<S: Sample>(&self, epoch: u64, slot: Seat, data: &mut [S]) -> Option<Planned<'_>> {
        let read = |attempt| {
            let mut random = Random::new(self.options.seed, &[stream::SUBSTITUTE, epoch, slot.sample, attempt]);
            let sample = random.below(self.space.len());
            let other = Seat { sample, draw: sample, ..slot };
            (other.sample != slot.sample).then(|| self.read(epoch, other, data).ok()).flatten()
        };
        let mut planned = (0..SUBSTITUTE_TRIES).find_map(read)?;
        planned.params.instead_of = Some(self.space.place(slot.sample, epoch).clip);
        add(&self.counters.substituted_clips, 1);
        Some(planned)
    }

    /// One sample, its frames decoded side by side. Of several that fail, the first one's error.
    fn read<S: Sample>(&self, epoch: u64, slot: Seat, data: &mut [S]) -> Result<Planned<'_>> {
        let planned = self.plan(epoch, slot)?;
        let frame = |(t, picture): (usize, Slot<'_, S>)| self.frame(epoch, &planned, t, picture).err();
        let pictures = self.pictures(data, planned.chosen.frames.len());
        match pictures.into_par_iter().enumerate().find_map_first(frame) {
            Some(e) => Err(e),
            None => Ok(planned),
        }
    }

    /// Where in the samples of a clip each of its pictures goes.
    fn pictures<'a, S: Sample>(&self, clip: &'a mut [S], frames: usize) -> Vec<Slot<'a, S>> {
        let channels = self.options.channels.count();
        let length = clip.len() / frames;
        match self.options.layout {
            Layout::Btchw => clip.chunks_exact_mut(length).map(|p| Slot::planes(p, channels)).collect(),
            Layout::Bcthw => Slot::clip(clip, channels, frames),
            Layout::Bthwc => clip.chunks_exact_mut(length).map(|p| Slot::pixels(p, channels)).collect(),
        }
    }

    fn frame<S: Sample>(&self, epoch: u64, planned: &Planned<'_>, t: usize, picture: Slot<'_, S>) -> Result<()> {
        let Planned { chosen, kernel, params, .. } = planned;
        let options = &self.options;
        let other = |size| Kernel::new(&options.target(&params.color), &view(options, epoch, chosen.draw, size), size);
        let (clip, t) = (&chosen.clip, chosen.frames[t]);
        let work = self.worker().frame(clip, t, options.check_crc, kernel.as_ref(), other, picture)?;
        add(&self.counters.frames, 1);
        add(&self.counters.bytes, work.bytes);
        add(&self.counters.tiles_decoded, work.tiles_decoded);
        add(&self.counters.tiles_skipped, work.tiles_skipped);
        Ok(())
    }

    /// Tells the batch what is in it, and the system what will not be needed again.
    fn finish(&self, planned: Vec<Planned<'_>>, batch: &mut Batch) {
        for Planned { chosen, counts, mut params, .. } in planned {
            if self.dataset.io() == Io::ReadUncached {
                chosen.clip.advise(&chosen.frames, Advice::Done);
            }
            batch.labels.push(chosen.clip.label().map_or(-1, i64::from));
            batch.clips.push(chosen.clip.ordinal());
            batch.mask.push(counts);
            params.frames = chosen.frames;
            batch.params.push(params);
        }
        add(&self.counters.batches, 1);
    }

    /// The worker of this thread of the pool.
    fn worker(&self) -> MutexGuard<'_, Worker> {
        let thread = rayon::current_thread_index().unwrap_or(0) % self.workers.len();
        // A worker holds buffers only, and each use begins by filling them: one that a panic left is as good as new.
        self.workers[thread].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether other data would not have made this error.
fn is_of_the_data(e: &Error) -> bool {
    matches!(e.kind(), ErrorKind::Io | ErrorKind::Format | ErrorKind::Limit | ErrorKind::Decode)
}

fn aligned<S: bytemuck::Pod>(memory: &mut [u8]) -> Result<&mut [S]> {
    let refused =
        |e| Error::usage(format!("memory for a batch: {e}")).expected(format!("aligned to {}", align_of::<S>()));
    bytemuck::try_cast_slice_mut(memory).map_err(refused)
}
