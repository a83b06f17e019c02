//! What there is of a frame.

use std::ops::Range;

use super::segment::FrameKey;
use crate::jpeg::{Parts, Scale, TileGrid};

/// The tiles of a frame that are kept, as last looked up. Reused from frame to frame.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(super) frame: FrameKey,
    pub(super) of: Option<(TileGrid, Scale)>,
    /// Whether there are tiles of another JPEG in this frame's place. Then nothing is kept of this one.
    pub(super) is_other: bool,
    /// Where the newest segment begins; 0 if there is none.
    pub(super) newest: u64,
    pub(super) segments: usize,
    /// Where each tile of the frame is; 0 if it is not there.
    pub(super) places: Vec<u64>,
    /// A head.
    pub(super) head: Vec<u8>,
}

impl Found {
    /// How the frame divides into tiles; `None` if nothing of it is kept.
    pub fn grid(&self) -> Option<TileGrid> {
        self.of.map(|(grid, _)| grid)
    }

    /// Whether the tile at this column and row is kept.
    pub fn has(&self, column: u32, row: u32) -> bool {
        self.place(column, row) != 0
    }

    /// Whether all of these are kept.
    pub fn has_all(&self, parts: &Parts) -> bool {
        let is_there = |tiles: &[u64]| tiles.len() == parts.columns.len() && !tiles.contains(&0);
        parts.rows.clone().all(|row| is_there(self.row(row, &parts.columns)))
    }

    /// Whether all of the frame is kept.
    pub fn is_complete(&self) -> bool {
        self.of.is_some() && self.places.iter().all(|&place| place != 0)
    }

    /// Where the tiles of some columns of a row are; nothing if there is no such row.
    pub(super) fn row(&self, row: u32, columns: &Range<u32>) -> &[u64] {
        let Some(grid) = self.grid() else { return &[] };
        let start = row as usize * grid.parts().0 as usize;
        self.places.get(start + columns.start as usize..start + columns.end as usize).unwrap_or_default()
    }

    fn place(&self, column: u32, row: u32) -> u64 {
        let Some(grid) = self.grid() else { return 0 };
        let (across, _) = grid.parts();
        self.places.get(row as usize * across as usize + column as usize).copied().unwrap_or(0)
    }

    pub(super) fn clear(&mut self, frame: FrameKey) {
        (self.frame, self.of, self.is_other, self.newest, self.segments) = (frame, None, false, 0, 0);
        self.places.clear();
    }
}
