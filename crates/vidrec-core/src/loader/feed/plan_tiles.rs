//! Plans how a device makes the pictures of a batch of JPEGs, and makes those that it cannot make.

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;

use super::batch_shape::BatchShape;
use super::device::{Device, Found};
use super::engine::Engine;
use super::fill::fill_seats;
use super::planner::{Planner, Table};
use super::schedule::BatchSeats;
use crate::loader::batch::Batch;
use crate::loader::counters::add;
use crate::loader::jpeg_batch::{JpegBatch, JpegFrame};
use crate::loader::kernel::Kernel;
use crate::loader::options::{Dtype, Pictures};
use crate::loader::tile_plan::TilePlan;
use crate::stop;
use crate::stop::Stop;
use vidrec_format::error::Result;

/// The plan of a batch of these samples.
pub(super) fn plan_tiles(
    engine: &Engine,
    device: &Device,
    seats: &BatchSeats,
    batch: &mut JpegBatch,
) -> Result<TilePlan> {
    let runs: Vec<&[JpegFrame]> = batch.frames.chunk_by(look_the_same).collect();
    let (found, tables) = engine
        .workers
        .install(|| rayon::join(|| find_tiles(engine, device, batch), || tables(engine, seats.shape.size, &runs)));
    let mut planner = Planner::new(device, batch.data.len());
    let of_sample = (seats.shape.frames * seats.shape.cameras) as usize;
    let mut declined = BTreeSet::new();
    let mut found = found.iter();
    for (run, table) in runs.into_iter().zip(&tables) {
        let placed = table.as_ref().and_then(|table| planner.table(table));
        for (frame, found) in run.iter().zip(found.by_ref()) {
            let planned = placed.zip(found.as_ref()).and_then(|(placed, found)| planner.frame(frame, found, placed));
            if planned.is_none() {
                declined.insert(frame.place / of_sample);
            }
        }
    }
    let counters = &engine.counters;
    add(&counters.tiles_skipped, planner.skipped);
    let (mut plan, tiles) = planner.finish();
    add(&counters.tiles_decoded, tiles as u64);
    make_others(engine, seats, declined.into_iter().collect(), &mut plan, &mut batch.facts)?;
    let of_others = plan.others.len() as u64 * u64::from(seats.shape.frames);
    add(&counters.device_declined, of_others);
    add(&counters.frames, (batch.frames.len() as u64).saturating_sub(of_others));
    add(&counters.bytes, batch.data.len() as u64);
    Ok(plan)
}

/// The tiles of each JPEG; `None` if a device cannot decode it. What is wrong with such a JPEG comes to light when the
/// processor decodes it.
fn find_tiles(engine: &Engine, device: &Device, batch: &JpegBatch) -> Vec<Option<Found>> {
    let stop = Stop::current();
    let find = |(frame, jpeg): (&JpegFrame, &[u8])| {
        if jpeg.is_empty() {
            return device.find(frame.key);
        }
        let tiles = stop::within(&stop, || engine.workers.worker().tiles(jpeg)).ok().flatten()?;
        Some(Found { tiles: Arc::new(tiles), kept_at: None })
    };
    let work: Vec<_> = batch.frames.iter().zip(batch.jpegs()).collect();
    work.into_par_iter().map(find).collect()
}

/// The table of each run of frames that look the same; `None` if a device cannot make their pictures.
fn tables(engine: &Engine, size: (u32, u32), runs: &[&[JpegFrame]]) -> Vec<Option<Table>> {
    let normalized = engine.options.pictures.dtype != Dtype::U8;
    runs.par_iter().map(|run| Table::new(&kernel(engine, size, run.first()?), normalized)).collect()
}

/// Whether two JPEGs become pictures in the same way: as a rule, those of a clip do.
fn look_the_same(a: &JpegFrame, b: &JpegFrame) -> bool {
    (a.size, a.view, a.colors, a.normalize) == (b.size, b.view, b.colors, b.normalize)
}

fn kernel(engine: &Engine, size: (u32, u32), frame: &JpegFrame) -> Kernel {
    let JpegFrame { normalize, reducing_gap, view, colors, .. } = frame;
    let pictures = Pictures { size, normalize: *normalize, reducing_gap: *reducing_gap, ..engine.options.pictures };
    Kernel::new(&pictures.spec(Some(*colors)), view, frame.size)
}

/// Makes the pictures of these samples by the processor. If it replaces one of them, it makes the whole batch, because
/// another sample has other facts.
fn make_others(
    engine: &Engine,
    seats: &BatchSeats,
    mut samples: Vec<usize>,
    plan: &mut TilePlan,
    facts: &mut Batch,
) -> Result<()> {
    let cameras = seats.shape.cameras as usize;
    if !samples.is_empty() {
        fill_seats(engine, &only(seats, &samples), &mut plan.made)?;
        let is_same = samples.iter().map(|&s| facts.params.get(s)).eq(plan.made.params.iter().map(Some));
        if !is_same {
            samples = (0..seats.seats.len() / cameras).collect();
            fill_seats(engine, seats, &mut plan.made)?;
            let pictures = std::mem::take(&mut plan.made.data);
            *facts = plan.made.clone();
            plan.made.data = pictures;
            *plan = TilePlan { made: std::mem::take(&mut plan.made), ..TilePlan::default() };
        }
    }
    let of_sample = |s: usize| (s * cameras..(s + 1) * cameras).map(|seat| seat as u64);
    plan.others = samples.into_iter().flat_map(of_sample).collect();
    Ok(())
}

/// A batch of some of the samples.
fn only(seats: &BatchSeats, samples: &[usize]) -> BatchSeats {
    let cameras = seats.shape.cameras as usize;
    let of_sample = |&s: &usize| &seats.seats[s * cameras..(s + 1) * cameras];
    let shape = BatchShape { clips: samples.len() as u32, ..seats.shape };
    BatchSeats { seats: samples.iter().flat_map(of_sample).copied().collect(), shape, ..*seats }
}
