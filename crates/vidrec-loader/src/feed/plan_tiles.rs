//! Plans how a device makes the pictures of a batch of JPEGs.

use rayon::prelude::*;

use super::engine::Engine;
use crate::jpeg_batch::{JpegBatch, JpegFrame};
use crate::kernel::{ExportedTables, Kernel, View};
use crate::options::Dtype;
use crate::tile_batch::TilePlan;
use vidrec_format::stop;
use vidrec_format::stop::Stop;
use vidrec_jpeg::{Coding, FoundTiles, Scale};

/// The plan of a batch whose pictures have this size. `None` if only a processor can decode some of the JPEGs; then
/// it also finds out what is wrong with them.
pub(super) fn plan_tiles(engine: &Engine, size: (u32, u32), batch: &JpegBatch) -> Option<TilePlan> {
    let looks = looks(&batch.frames);
    let kernels: Vec<Kernel> = looks.iter().map(|look| kernel(engine, size, look.frame)).collect();
    let of_frame = looks.iter().enumerate().flat_map(|(i, look)| std::iter::repeat_n(i, look.count));
    let work: Vec<_> = batch.frames.iter().zip(batch.jpegs()).zip(of_frame).collect();
    let stop = Stop::current();
    let find = |&((_, jpeg), look): &((&JpegFrame, &[u8]), usize)| {
        let (_, region) = kernels[look].planes()?;
        stop::within(&stop, || engine.workers.worker().tiles(jpeg, region)).ok().flatten()
    };
    let found: Vec<Option<FoundTiles>> = engine.workers.install(|| work.par_iter().map(find).collect());
    let mut plan = Planner::default();
    let normalized = engine.options.pictures.dtype != Dtype::U8;
    let places: Vec<usize> =
        kernels.iter().map(|kernel| kernel.export(&mut plan.tables, normalized)).collect::<Option<_>>()?;
    for (((frame, _), look), found) in work.into_iter().zip(found) {
        let (scale, _) = kernels[look].planes()?;
        plan.frame(frame, found?, scale, (places[look], look))?;
    }
    Some(plan.finish())
}

/// JPEGs in a row that become pictures in the same way: as a rule, those of a clip.
struct Look<'a> {
    frame: &'a JpegFrame,
    count: usize,
}

fn looks(frames: &[JpegFrame]) -> Vec<Look<'_>> {
    let same = |a: &JpegFrame, b: &JpegFrame| (a.size, a.view, a.colors) == (b.size, b.view, b.colors);
    frames.chunk_by(same).map(|run| Look { frame: &run[0], count: run.len() }).collect()
}

fn kernel(engine: &Engine, size: (u32, u32), frame: &JpegFrame) -> Kernel {
    let mut spec = engine.options.pictures.spec(Some(frame.colors));
    spec.size = size;
    let view: &View = &frame.view;
    Kernel::new(&spec, view, frame.size)
}

/// A plan that grows frame by frame.
#[derive(Default)]
struct Planner {
    plan: TilePlan,
    tables: ExportedTables,
    /// The codings so far, and their places.
    codings: Vec<(Coding, usize)>,
}

impl Planner {
    /// Adds a frame. `None` if numbers get too large for a device.
    fn frame(&mut self, frame: &JpegFrame, found: FoundTiles, scale: Scale, table: (usize, usize)) -> Option<()> {
        let FoundTiles { cut, columns, restart, ranges, coding } = found;
        let (place, number) = table;
        let coding = self.coding(coding)?;
        let number_of = |n: usize| i32::try_from(n).ok();
        let step = scale.step();
        let numbers = [
            number_of(self.plan.tiles.len())?,
            number_of(ranges.len())?,
            columns as i32,
            restart as i32,
            8 / step as i32,
            number_of(coding)?,
            number_of(place)?,
            number_of(number)?,
            (cut.region.x / step) as i32,
            (cut.region.y / step) as i32,
            number_of(frame.place)?,
            i32::try_from(self.plan.samples / TilePlan::UNIT).ok()?,
        ];
        for range in ranges {
            let at = |n: usize| u32::try_from(frame.bytes.start + n).ok().filter(|&at| at <= i32::MAX as u32);
            self.plan.tiles.push([at(range.start)?, at(range.end)?]);
        }
        let (width, height) = (u64::from(cut.region.width / step), u64::from(cut.region.height / step));
        self.plan.samples += (width * height * 3 / 2).next_multiple_of(TilePlan::UNIT);
        self.plan.frames.push(numbers);
        Some(())
    }

    /// The place of a coding.
    fn coding(&mut self, coding: Coding) -> Option<usize> {
        // Frames of a clip share it.
        if let Some((_, at)) = self.codings.iter().rev().find(|(known, _)| known.is(&coding)) {
            return Some(*at);
        }
        let at = self.plan.codings.len();
        coding.write_words(&mut self.plan.codings)?;
        self.codings.push((coding, at));
        Some(at)
    }

    fn finish(self) -> TilePlan {
        let ExportedTables { numbers, weights, conversions } = self.tables;
        TilePlan { numbers, weights, conversions, ..self.plan }
    }
}
