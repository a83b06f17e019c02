//! Plans how a device makes the pictures of a batch of JPEGs, and makes those that it cannot make.

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;

use super::buckets::BatchShape;
use super::device::{Device, DeviceHeader};
use super::engine::Engine;
use super::fill::fill_plan;
use super::schedule::BatchPlan;
use crate::loader::batch::Batch;
use crate::loader::jpeg_batch::{JpegBatch, JpegFrame, TilePlan};
use crate::loader::kernel::{DeviceTable, PictureSpec};
use crate::loader::options::{Dtype, Normalize};
use vidrec_format::error::Result;
use vidrec_jpeg::TablePlaces;

/// The plan of a batch of these samples.
pub(super) fn plan_tiles(
    engine: &Engine,
    device: &Device,
    samples: &BatchPlan,
    batch: &mut JpegBatch,
) -> Result<TilePlan> {
    let runs: Vec<&[JpegFrame]> = batch.frames.chunk_by(look_the_same).collect();
    let tables: Vec<_> =
        engine.workers.install(|| runs.par_iter().map(|run| table(engine, samples.shape.size, run)).collect());
    let mut planner = Planner::new(engine, device, &batch.data);
    let of_sample = (samples.shape.frames * samples.shape.cameras) as usize;
    let mut declined = BTreeSet::new();
    for (run, table) in runs.into_iter().zip(&tables) {
        let placed = table.as_ref().and_then(|table| planner.table(table));
        for frame in run {
            if placed.and_then(|placed| planner.frame(frame, placed)).is_none() {
                declined.insert(frame.place / of_sample);
            }
        }
    }
    let (tiles, skipped) = (planner.tiles, planner.skipped);
    let (mut plan, parts) = (planner.plan, planner.parts);
    parts.write(&mut plan, samples.frames(), &mut batch.data);
    make_others(engine, samples, declined.into_iter().collect(), &mut plan, &mut batch.facts)?;
    let of_others = plan.others.len() as u64 * u64::from(samples.shape.frames);
    let stats = &mut *engine.counters.lock();
    stats.tiles_skipped += skipped;
    stats.tiles_decoded += tiles;
    stats.device_declined += of_others;
    stats.frames += (batch.frames.len() as u64).saturating_sub(of_others);
    stats.bytes += batch.frames.iter().map(|frame| frame.bytes.len() as u64).sum::<u64>();
    Ok(plan)
}

/// Whether two JPEGs become pictures in the same way: as a rule, those of a clip do.
fn look_the_same(a: &JpegFrame, b: &JpegFrame) -> bool {
    (a.size, a.view, a.colors, a.normalize) == (b.size, b.view, b.colors, b.normalize)
}

/// The table of frames that look the same. `None` if a device cannot make their pictures.
fn table(engine: &Engine, size: (u32, u32), run: &[JpegFrame]) -> Option<DeviceTable> {
    let JpegFrame { normalize: Normalize { mean, std }, reducing_gap, view, colors, size: frame, .. } = *run.first()?;
    let spec = PictureSpec { size, channels: engine.options.channels, mean, std, matrix: colors, reducing_gap };
    DeviceTable::new(&spec, &view, frame, engine.options.dtype != Dtype::U8)
}

/// Makes the pictures of samples with these numbers by the processor. If it replaces one of them, it makes the whole batch,
/// because another sample has other facts.
fn make_others(
    engine: &Engine,
    batch: &BatchPlan,
    mut numbers: Vec<usize>,
    plan: &mut TilePlan,
    facts: &mut Batch,
) -> Result<()> {
    let cameras = batch.shape.cameras as usize;
    if !numbers.is_empty() {
        fill_plan(engine, &only(batch, &numbers), &mut plan.made)?;
        let is_same = numbers.iter().map(|&s| facts.params.get(s)).eq(plan.made.params.iter().map(Some));
        if !is_same {
            numbers = (0..batch.samples.len() / cameras).collect();
            fill_plan(engine, batch, &mut plan.made)?;
            let pictures = std::mem::take(&mut plan.made.data);
            *facts = plan.made.clone();
            plan.made.data = pictures;
            *plan = TilePlan { made: std::mem::take(&mut plan.made), ..TilePlan::default() };
        }
    }
    let of_sample = |s: usize| (s * cameras..(s + 1) * cameras).map(|clip| clip as u64);
    plan.others = numbers.into_iter().flat_map(of_sample).collect();
    Ok(())
}

/// A batch of some of the samples.
fn only(batch: &BatchPlan, numbers: &[usize]) -> BatchPlan {
    let cameras = batch.shape.cameras as usize;
    let of_sample = |&s: &usize| &batch.samples[s * cameras..(s + 1) * cameras];
    let shape = BatchShape { clips: numbers.len() as u32, ..batch.shape };
    BatchPlan { samples: numbers.iter().flat_map(of_sample).copied().collect(), shape, ..*batch }
}

/// A plan for a device, which grows frame by frame.
struct Planner<'a> {
    engine: &'a Engine,
    device: &'a Device,
    /// The JPEGs of the batch.
    data: &'a [u8],
    plan: TilePlan,
    parts: Parts,
    /// The header of the last frame.
    last: Option<Arc<DeviceHeader>>,
    /// The numbers of tiles that pictures need, and that they do not.
    tiles: u64,
    skipped: u64,
}

impl<'a> Planner<'a> {
    fn new(engine: &'a Engine, device: &'a Device, data: &'a [u8]) -> Self {
        let (mut plan, parts) = (TilePlan::default(), Parts::default());
        plan.sizes.bytes = data.len() as u64;
        Planner { engine, device, data, plan, parts, last: None, tiles: 0, skipped: 0 }
    }

    /// Adds the table of the frames that follow. `None` if numbers get too large for a device.
    fn table<'t>(&mut self, table: &'t DeviceTable) -> Option<(&'t DeviceTable, i32)> {
        let number = self.parts.tables.len() / DeviceTable::BYTES;
        table.write(&mut self.plan.sizes.weights, &mut self.parts.tables)?;
        Some((table, i32::try_from(number).ok()?))
    }

    /// Adds a frame. `None` if a device cannot decode it, or numbers get too large for it. What is wrong with such a JPEG
    /// comes to light when the processor decodes it.
    fn frame(&mut self, frame: &JpegFrame, (table, number): (&DeviceTable, i32)) -> Option<()> {
        let kept = if frame.bytes.is_empty() { Some(self.device.find(frame.key)?) } else { None };
        let header = match &kept {
            Some((_, header)) => header.clone(),
            None => self.header(frame)?,
        };
        let grid = header.facts.grid;
        if grid.size != frame.size {
            return None;
        }
        let start = match kept {
            Some((kept_at, _)) => self.take(frame, kept_at)?,
            None => frame.bytes.start as u64,
        };
        let end = start.checked_add(frame.key.jpeg_length.into()).filter(|&end| end <= i32::MAX as u64)?;
        let parts = grid.touched(table.region);
        let cut = grid.cut(&parts);
        let header_number = self.place_header(&header, start as u32);
        let step = table.scale.step();
        let sizes = &mut self.plan.sizes;
        let in_units = |samples: u64| u32::try_from(samples / TilePlan::UNIT).ok();
        let numbers = [
            start as u32,
            start as u32 + header.facts.length,
            end as u32,
            u32::try_from(sizes.tiles).ok()?,
            grid.count() as u32,
            grid.parts().0,
            grid.restart(),
            parts.columns.start,
            parts.columns.len() as u32,
            parts.rows.start,
            parts.rows.len() as u32,
            header_number,
            number as u32,
            u32::try_from(frame.place).ok()?,
            in_units(sizes.samples)?,
            in_units(sizes.lines)?,
        ];
        if numbers.iter().any(|&number| number > i32::MAX as u32) {
            return None;
        }
        self.parts.frames.push(numbers.map(|number| number as i32));
        let (width, height) = (u64::from(cut.region.width / step), u64::from(cut.region.height / step));
        sizes.samples += (width * height * 3 / 2).next_multiple_of(TilePlan::UNIT);
        sizes.tiles += grid.count() as u64;
        sizes.most_tiles = sizes.most_tiles.max(cut.tiles.into());
        if table.has_lines {
            sizes.lines += (2 * width * u64::from(table.size.1)).next_multiple_of(TilePlan::UNIT);
            sizes.longest_line = sizes.longest_line.max(2 * width);
        }
        self.tiles += u64::from(cut.tiles);
        self.skipped += u64::from(cut.skipped);
        if !frame.bytes.is_empty() {
            self.keep(frame, &header);
        }
        Some(())
    }

    /// The header of a JPEG of the batch: as a rule, that of the last one. `None` if only a processor can decode it.
    fn header(&self, frame: &JpegFrame) -> Option<Arc<DeviceHeader>> {
        let jpeg = self.data.get(frame.bytes.clone())?;
        if let Some(last) = self.last.as_ref().filter(|last| jpeg.starts_with(&last.bytes)) {
            return Some(last.clone());
        }
        let facts = self.engine.workers.worker().tile_header(jpeg).ok().flatten()?;
        Some(Arc::new(DeviceHeader { facts, bytes: jpeg.get(..facts.length as usize)?.to_vec() }))
    }

    /// The number of a header, which is that of a JPEG at `start`.
    fn place_header(&mut self, header: &Arc<DeviceHeader>, start: u32) -> u32 {
        let is_last = self.last.as_ref().is_some_and(|last| Arc::ptr_eq(last, header) || last.bytes == header.bytes);
        if !is_last {
            let TablePlaces { quantizers: [luma, blue, red], codes: [[a, b], [c, d], [e, f]] } = header.facts.tables;
            self.parts.headers.push([start, luma, blue, red, a, b, c, d, e, f]);
            self.last = Some(header.clone());
        }
        self.parts.headers.len() as u32 - 1
    }

    /// Takes a JPEG out of those that the device keeps, and returns where it goes.
    fn take(&mut self, frame: &JpegFrame, kept_at: u64) -> Option<u64> {
        let (start, length) = (self.plan.sizes.bytes, u64::from(frame.key.jpeg_length));
        self.parts.taken.push(movement(kept_at, start, length)?);
        self.plan.sizes.bytes += length;
        Some(start)
    }

    /// Has the device keep a JPEG of the batch, if there is room.
    fn keep(&mut self, frame: &JpegFrame, header: &Arc<DeviceHeader>) {
        let place = self.device.place(frame.key, header);
        let length = u64::from(frame.key.jpeg_length);
        if let Some(way) = place.and_then(|to| movement(frame.bytes.start as u64, to, length)) {
            self.parts.keep.push(way);
            self.plan.keys.push(frame.key);
        }
    }
}

/// The parts of a plan: see [`TilePlan::counts`].
#[derive(Default)]
struct Parts {
    frames: Vec<[i32; 16]>,
    tables: Vec<u8>,
    taken: Vec<[i64; 3]>,
    keep: Vec<[i64; 3]>,
    headers: Vec<[u32; 10]>,
}

impl Parts {
    /// Writes them before the JPEGs of a batch of so many frames.
    fn write(&self, plan: &mut TilePlan, frames: usize, mut to: &mut [u8]) {
        use bytemuck::cast_slice;
        plan.rows = frames;
        let Parts { frames: rows, tables, taken, keep, headers } = self;
        let parts = [cast_slice(rows), tables, cast_slice(taken), cast_slice(keep), cast_slice::<_, u8>(headers)];
        for ((part, bytes), count) in parts.into_iter().zip(TilePlan::ROWS).zip(&mut plan.counts) {
            *count = part.len() / bytes;
            // No part has more rows than there are frames.
            let room = to.split_off_mut(..frames * bytes).and_then(|room| room.get_mut(..part.len()));
            room.unwrap_or_default().copy_from_slice(part);
        }
    }
}

/// Bytes that go from one place to another.
fn movement(from: u64, to: u64, length: u64) -> Option<[i64; 3]> {
    Some([i64::try_from(from).ok()?, i64::try_from(to).ok()?, i64::try_from(length).ok()?])
}
