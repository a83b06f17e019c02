//! A plan for a device, which grows frame by frame.

use std::sync::Arc;

use super::device::{Device, Found};
use crate::loader::jpeg_batch::JpegFrame;
use crate::loader::kernel::{ExportedTables, Kernel};
use crate::loader::tile_plan::TilePlan;
use vidrec_jpeg::{Coding, FoundTiles, Region, Scale, TilesOfRegion};

pub(super) struct Planner<'a> {
    device: &'a Device,
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

/// How frames that look the same become pictures.
pub(super) struct Table {
    scale: Scale,
    region: Region,
    lines: u64,
    exported: ExportedTables,
}

impl Table {
    /// `None` if the frames do not become pictures by way of planes.
    pub fn new(kernel: &Kernel, normalized: bool) -> Option<Self> {
        let (scale, region) = kernel.planes()?;
        Some(Table { scale, region, lines: kernel.lines().into(), exported: kernel.export(normalized)? })
    }
}

/// A table in the plan.
#[derive(Clone, Copy)]
pub(super) struct Placed<'a> {
    table: &'a Table,
    place: i32,
    number: i32,
}

impl<'a> Planner<'a> {
    /// A plan for a batch with so many bytes of JPEGs.
    pub fn new(device: &'a Device, bytes: usize) -> Self {
        let plan = TilePlan { bytes: bytes as u64, ..TilePlan::default() };
        Planner {
            device,
            plan,
            tiles: Vec::new(),
            frames: Vec::new(),
            tables: ExportedTables::default(),
            count: 0,
            codings: Vec::new(),
            words: Vec::new(),
            taken: Vec::new(),
            keep: Vec::new(),
            skipped: 0,
        }
    }

    /// Adds the table of the frames that follow. `None` if numbers get too large for a device.
    pub fn table<'t>(&mut self, table: &'t Table) -> Option<Placed<'t>> {
        let place = self.tables.append(&table.exported)?;
        self.count += 1;
        Some(Placed { table, place, number: self.count - 1 })
    }

    /// Adds a frame. `None` if its tiles do not fit the table, or numbers get too large for a device.
    pub fn frame(&mut self, frame: &JpegFrame, found: &Found, placed: Placed<'_>) -> Option<()> {
        let Placed { table: &Table { scale, region, lines, .. }, place, number } = placed;
        let Found { tiles, kept_at } = found;
        let TilesOfRegion { cut, columns, restart, rows } = tiles.of(region)?;
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
            self.keep(frame, tiles);
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
    fn keep(&mut self, frame: &JpegFrame, tiles: &Arc<FoundTiles>) {
        let place = self.device.place(frame.key, tiles);
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

    /// The plan, and the number of its tiles.
    pub fn finish(self) -> (TilePlan, usize) {
        let Planner { mut plan, tiles, frames, tables, words, taken, keep, .. } = self;
        plan.push(&tiles);
        plan.push(&frames);
        plan.push(&words);
        plan.push(&tables.numbers);
        plan.push(&tables.weights);
        plan.push(&tables.conversions);
        plan.push(&taken);
        plan.push(&keep);
        (plan, tiles.len())
    }
}

/// Bytes that go from one place to another.
fn movement(from: u64, to: u64, length: u64) -> Option<[i64; 3]> {
    Some([i64::try_from(from).ok()?, i64::try_from(to).ok()?, i64::try_from(length).ok()?])
}
