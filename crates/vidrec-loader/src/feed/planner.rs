//! A plan for a device, which grows frame by frame.

use std::sync::Arc;

use super::device::Device;
use crate::jpeg_batch::JpegFrame;
use crate::kernel::{ExportedTables, Kernel};
use crate::tile_plan::TilePlan;
use vidrec_jpeg::{Coding, FoundTiles, Region, Scale, TilesOfRegion};

pub(super) struct Planner<'a> {
    device: &'a Device,
    plan: TilePlan,
    tables: ExportedTables,
    /// The number of tables so far.
    count: i32,
    /// The codings so far, and their places.
    codings: Vec<(Coding, usize)>,
    /// The number of tiles that pictures do not need.
    pub skipped: u64,
}

/// How a frame becomes its picture.
#[derive(Clone, Copy)]
pub(super) struct Table {
    scale: Scale,
    region: Region,
    place: i32,
    number: i32,
    lines: u64,
}

impl<'a> Planner<'a> {
    /// A plan for a batch with so many bytes of JPEGs.
    pub fn new(device: &'a Device, bytes: usize) -> Self {
        let plan = TilePlan { bytes: bytes as u64, ..TilePlan::default() };
        Planner { device, plan, tables: ExportedTables::default(), count: 0, codings: Vec::new(), skipped: 0 }
    }

    /// Adds a table for the frames that follow. `None` if they do not become pictures by way of planes.
    pub fn table(&mut self, kernel: &Kernel, normalized: bool) -> Option<Table> {
        let (scale, region) = kernel.planes()?;
        let place = i32::try_from(kernel.export(&mut self.tables, normalized)?).ok()?;
        self.count += 1;
        Some(Table { scale, region, place, number: self.count - 1, lines: kernel.lines().into() })
    }

    /// Adds a frame. `None` if its tiles do not fit the table, or numbers get too large for a device.
    pub fn frame(&mut self, frame: &JpegFrame, found: &Arc<FoundTiles>, table: Table) -> Option<()> {
        let TilesOfRegion { cut, columns, restart, rows } = found.of(table.region)?;
        let Table { scale, place, number, lines, .. } = table;
        let start = if frame.bytes.is_empty() { self.take(frame)? } else { frame.bytes.start as u64 };
        if start.checked_add(frame.key.jpeg_length.into())? > i32::MAX as u64 {
            return None;
        }
        let coding = self.coding(&found.coding)?;
        let number_of = |n: usize| i32::try_from(n).ok();
        let in_units = |samples: u64| i32::try_from(samples / TilePlan::UNIT).ok();
        let step = scale.step();
        let f = self.plan.frames.len() as u32;
        self.plan.frames.push([
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
        let tiles = rows.into_iter().flatten().zip(0..);
        let of_tile = |(&[begin, end], t): (&[u32; 2], u32)| [start as u32 + begin, start as u32 + end, f, t];
        self.plan.tiles.extend(tiles.map(of_tile));
        let (width, height) = (u64::from(cut.region.width / step), u64::from(cut.region.height / step));
        self.plan.samples += (width * height * 3 / 2).next_multiple_of(TilePlan::UNIT);
        if lines > 0 {
            self.plan.lines += (2 * width * lines).next_multiple_of(TilePlan::UNIT);
            self.plan.longest_line = self.plan.longest_line.max(2 * width);
        }
        self.skipped += u64::from(cut.skipped);
        self.keep(frame, found);
        Some(())
    }

    /// Takes a JPEG out of those that the device keeps, and returns where it goes.
    fn take(&mut self, frame: &JpegFrame) -> Option<u64> {
        let kept = self.device.find(frame.key)?;
        let (start, length) = (self.plan.bytes, u64::from(frame.key.jpeg_length));
        self.plan.taken.push(movement(kept.start, start, length)?);
        self.plan.bytes += length;
        Some(start)
    }

    /// Has the device keep a JPEG of the batch, if there is room.
    fn keep(&mut self, frame: &JpegFrame, found: &Arc<FoundTiles>) {
        if frame.bytes.is_empty() {
            return;
        }
        let place = self.device.place(frame.key, found);
        let length = u64::from(frame.key.jpeg_length);
        if let Some(way) = place.and_then(|to| movement(frame.bytes.start as u64, to, length)) {
            self.plan.keep.push(way);
            self.plan.keys.push(frame.key);
        }
    }

    /// The place of a coding.
    fn coding(&mut self, coding: &Coding) -> Option<usize> {
        // Frames of a clip share it.
        if let Some((_, at)) = self.codings.iter().rev().find(|(known, _)| known.is(coding)) {
            return Some(*at);
        }
        let at = self.plan.codings.len();
        coding.write_words(&mut self.plan.codings)?;
        self.codings.push((coding.clone(), at));
        Some(at)
    }

    pub fn finish(self) -> TilePlan {
        let ExportedTables { numbers, weights, conversions } = self.tables;
        TilePlan { numbers, weights, conversions, ..self.plan }
    }
}

/// Bytes that go from one place to another.
fn movement(from: u64, to: u64, length: u64) -> Option<[i64; 3]> {
    Some([i64::try_from(from).ok()?, i64::try_from(to).ok()?, i64::try_from(length).ok()?])
}
