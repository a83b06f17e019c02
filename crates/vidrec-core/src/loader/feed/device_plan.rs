//! Plans how a device makes the pictures of a batch of JPEGs, and makes those that it cannot make.

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;

use super::buckets::BatchShape;
use super::device::{Device, DeviceJpeg};
use super::engine::Engine;
use super::fill::fill_plan;
use super::schedule::BatchPlan;
use crate::loader::batch::Batch;
use crate::loader::jpeg_batch::{JpegBatch, JpegFrame, TilePlan};
use crate::loader::kernel::{DecodedForm, ExportedTables, Kernel, PictureSpec};
use crate::loader::options::{Dtype, Normalize};
use crate::stop::{self, Stop};
use vidrec_format::error::Result;
use vidrec_jpeg::{Coding, Pixels, Region, RegionTiles, Scale, TileIndex};

/// The plan of a batch of these samples.
pub(super) fn plan_tiles(
    engine: &Engine,
    device: &Device,
    samples: &BatchPlan,
    batch: &mut JpegBatch,
) -> Result<TilePlan> {
    let runs: Vec<&[JpegFrame]> = batch.frames.chunk_by(look_the_same).collect();
    let (found, tables) = engine
        .workers
        .install(|| rayon::join(|| find_tiles(engine, device, batch), || tables(engine, samples.shape.size, &runs)));
    let plan = TilePlan { bytes: batch.data.len() as u64, ..TilePlan::default() };
    let mut planner = Planner { plan, ..Planner::default() };
    let of_sample = (samples.shape.frames * samples.shape.cameras) as usize;
    let mut declined = BTreeSet::new();
    let mut found = found.iter();
    for (run, table) in runs.into_iter().zip(&tables) {
        let placed = table.as_ref().and_then(|table| planner.table(table));
        for (frame, found) in run.iter().zip(found.by_ref()) {
            let planned =
                placed.zip(found.as_ref()).and_then(|(placed, found)| planner.frame(device, frame, found, placed));
            if planned.is_none() {
                declined.insert(frame.place / of_sample);
            }
        }
    }
    let (skipped, tiles) = (planner.skipped, planner.tiles.len());
    let mut plan = planner.finish();
    make_others(engine, samples, declined.into_iter().collect(), &mut plan, &mut batch.facts)?;
    let of_others = plan.others.len() as u64 * u64::from(samples.shape.frames);
    let stats = &mut *engine.counters.lock();
    stats.tiles_skipped += skipped;
    stats.tiles_decoded += tiles as u64;
    stats.device_declined += of_others;
    stats.frames += (batch.frames.len() as u64).saturating_sub(of_others);
    stats.bytes += batch.data.len() as u64;
    Ok(plan)
}

/// The tiles of each JPEG; `None` if a device cannot decode it. What is wrong with such a JPEG comes to light when the
/// processor decodes it.
fn find_tiles(engine: &Engine, device: &Device, batch: &JpegBatch) -> Vec<Option<DeviceJpeg>> {
    let stop = Stop::current();
    let find = |(frame, jpeg): (&JpegFrame, &[u8])| {
        if jpeg.is_empty() {
            return device.find(frame.key);
        }
        let tiles = stop::within(&stop, || engine.workers.worker().tiles(jpeg)).ok().flatten()?;
        Some(DeviceJpeg { tiles: Arc::new(tiles), kept_at: None })
    };
    let work: Vec<_> = batch.frames.iter().zip(batch.jpegs()).collect();
    work.into_par_iter().map(find).collect()
}

/// The table of each run of frames that look the same; `None` if a device cannot make their pictures.
fn tables(engine: &Engine, size: (u32, u32), runs: &[&[JpegFrame]]) -> Vec<Option<Table>> {
    let normalized = engine.options.dtype != Dtype::U8;
    runs.par_iter().map(|run| Table::new(&kernel(engine, size, run.first()?), normalized)).collect()
}

/// Whether two JPEGs become pictures in the same way: as a rule, those of a clip do.
fn look_the_same(a: &JpegFrame, b: &JpegFrame) -> bool {
    (a.size, a.view, a.colors, a.normalize) == (b.size, b.view, b.colors, b.normalize)
}

fn kernel(engine: &Engine, size: (u32, u32), frame: &JpegFrame) -> Kernel {
    let JpegFrame { normalize: Normalize { mean, std }, reducing_gap, view, colors, .. } = *frame;
    let spec = PictureSpec { size, channels: engine.options.channels, mean, std, matrix: colors, reducing_gap };
    Kernel::new(&spec, &view, frame.size, Pixels::Ycc420)
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
#[derive(Default)]
struct Planner {
    plan: TilePlan,
    tiles: Vec<[u32; 4]>,
    frames: Vec<[i32; TilePlan::FRAME]>,
    tables: ExportedTables,
    /// The number of tables so far.
    count: i32,
    /// The codings so far, and their places.
    codings: Vec<(Coding, usize)>,
    words: Vec<u16>,
    taken: Vec<[i64; 3]>,
    keep: Vec<[i64; 3]>,
    /// The number of tiles that pictures do not need.
    pub skipped: u64,
}

/// The tables by which frames that look the same become pictures.
struct Table {
    scale: Scale,
    region: Region,
    lines: u64,
    exported: ExportedTables,
}

impl Table {
    /// `None` if the frames do not become pictures by way of planes.
    pub fn new(kernel: &Kernel, normalized: bool) -> Option<Self> {
        let DecodedForm::Planes(scale) = kernel.form else { return None };
        let exported = ExportedTables::of(kernel, normalized)?;
        Some(Table { scale, region: kernel.region, lines: kernel.lines().into(), exported })
    }
}

/// A table, its place in the plan, and its number.
type PlacedTable<'a> = (&'a Table, i32, i32);

impl Planner {
    /// Adds the table of the frames that follow. `None` if numbers get too large for a device.
    pub fn table<'t>(&mut self, table: &'t Table) -> Option<PlacedTable<'t>> {
        let place = self.tables.append(&table.exported)?;
        self.count += 1;
        Some((table, place, self.count - 1))
    }

    /// Adds a frame. `None` if its tiles do not fit the table, or numbers get too large for a device.
    pub fn frame(
        &mut self,
        device: &Device,
        frame: &JpegFrame,
        found: &DeviceJpeg,
        (table, place, number): PlacedTable<'_>,
    ) -> Option<()> {
        let Table { scale, region, lines, .. } = *table;
        let DeviceJpeg { tiles, kept_at } = found;
        let RegionTiles { cut, columns, restart, rows } = tiles.in_region(region)?;
        let start = match *kept_at {
            Some(kept_at) => self.take(frame, kept_at)?,
            None => frame.bytes.start as u64,
        };
        if start.checked_add(frame.key.jpeg_length.into())? > i32::MAX as u64 {
            return None;
        }
        let coding = self.coding(&tiles.coding)?;
        let number_of = |n: usize| i32::try_from(n).ok();
        let in_units = |samples: u64| i32::try_from(samples / TilePlan::UNIT).ok();
        let step = scale.step();
        let f = self.frames.len() as u32;
        self.frames.push([
            in_units(self.plan.lines)?,
            number_of(rows.len() * columns as usize)?,
            columns as i32,
            restart as i32,
            8 / step as i32,
            number_of(coding)?,
            place,
            number,
            (cut.region.x / step) as i32,
            (cut.region.y / step) as i32,
            number_of(frame.place)?,
            in_units(self.plan.samples)?,
        ]);
        let of_tile = |(&[begin, end], t): (&[u32; 2], u32)| [start as u32 + begin, start as u32 + end, f, t];
        self.tiles.extend(rows.into_iter().flatten().zip(0..).map(of_tile));
        let (width, height) = (u64::from(cut.region.width / step), u64::from(cut.region.height / step));
        self.plan.samples += (width * height * 3 / 2).next_multiple_of(TilePlan::UNIT);
        if lines > 0 {
            self.plan.lines += (2 * width * lines).next_multiple_of(TilePlan::UNIT);
            self.plan.longest_line = self.plan.longest_line.max(2 * width);
        }
        self.skipped += u64::from(cut.skipped);
        if kept_at.is_none() {
            self.keep(device, frame, tiles);
        }
        Some(())
    }

    /// Takes a JPEG out of those that the device keeps, and returns where it goes.
    fn take(&mut self, frame: &JpegFrame, kept_at: u64) -> Option<u64> {
        let (start, length) = (self.plan.bytes, u64::from(frame.key.jpeg_length));
        self.taken.push(movement(kept_at, start, length)?);
        self.plan.bytes += length;
        Some(start)
    }

    /// Has the device keep a JPEG of the batch, if there is room.
    fn keep(&mut self, device: &Device, frame: &JpegFrame, tiles: &Arc<TileIndex>) {
        let place = device.place(frame.key, tiles);
        let length = u64::from(frame.key.jpeg_length);
        if let Some(way) = place.and_then(|to| movement(frame.bytes.start as u64, to, length)) {
            self.keep.push(way);
            self.plan.keys.push(frame.key);
        }
    }

    /// The place of a coding.
    fn coding(&mut self, coding: &Coding) -> Option<usize> {
        // Frames of a clip share it.
        if let Some((_, at)) = self.codings.iter().rev().find(|(known, _)| known.is(coding)) {
            return Some(*at);
        }
        let at = self.words.len();
        coding.write_words(&mut self.words)?;
        self.codings.push((coding.clone(), at));
        Some(at)
    }

    pub fn finish(self) -> TilePlan {
        let Planner { mut plan, tiles, frames, tables, words, taken, keep, .. } = self;
        plan.push(&tiles);
        plan.push(&frames);
        plan.push(&words);
        plan.push(&tables.numbers);
        plan.push(&tables.weights);
        plan.push(&tables.conversions);
        plan.push(&taken);
        plan.push(&keep);
        plan
    }
}

/// Bytes that go from one place to another.
fn movement(from: u64, to: u64, length: u64) -> Option<[i64; 3]> {
    Some([i64::try_from(from).ok()?, i64::try_from(to).ok()?, i64::try_from(length).ok()?])
}
