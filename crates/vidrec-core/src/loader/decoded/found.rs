//! The tiles of a frame that the cache has.

use std::ops::Range;

use super::segment::FrameKey;
use vidrec_jpeg::{Parts, Scale, TileGrid};

/// The tiles of a frame that the last lookup found. Reused from frame to frame.
#[derive(Debug, Default)]
pub struct Found {
    pub(super) frame: FrameKey,
    pub(super) of: Option<(TileGrid, Scale)>,
    /// Whether the cache has tiles of another JPEG for this frame. If so, it keeps no tile of this one.
    pub(super) is_other: bool,
    /// The offset of the newest segment; 0 if there is none.
    pub(super) newest: u64,
    pub(super) segments: usize,
    /// The offset of each tile of the frame; 0 if the cache does not have it.
    pub(super) places: Vec<u64>,
    /// A buffer for the head of a segment.
    pub(super) head: Vec<u8>,
}

impl Found {
    /// The division of the frame into tiles; `None` if the cache has no tile of it.
    pub fn grid(&self) -> Option<TileGrid> {
        self.of.map(|(grid, _)| grid)
    }

    /// Whether the cache has the tile at this column and row.
    pub fn has(&self, column: u32, row: u32) -> bool {
        self.place(column, row) != 0
    }

    /// Whether the cache has all these parts.
    pub fn has_all(&self, parts: &Parts) -> bool {
        let is_there = |tiles: &[u64]| tiles.len() == parts.columns.len() && !tiles.contains(&0);
        parts.rows.clone().all(|row| is_there(self.row(row, &parts.columns)))
    }

    /// Whether the cache has the whole frame.
    pub fn is_complete(&self) -> bool {
        self.of.is_some() && self.places.iter().all(|&place| place != 0)
    }

    /// The offsets of the tiles in some columns of a row; empty if there is no such row.
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
