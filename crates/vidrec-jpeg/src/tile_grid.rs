//! The division of a picture's planes into parts that are decoded separately.

use std::ops::Range;

use super::region::{Cut, MCU_SIDE, Region};
use super::scale::Scale;

/// The parts of a picture: its tiles, or the whole picture if the JPEG has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileGrid {
    /// The width and height of the picture in pixels.
    pub size: (u32, u32),
    /// The width of a tile in pixels, a multiple of 16; 0 if the picture is one part.
    pub tile_width: u32,
}

/// Some parts of a grid: a range of columns and a range of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// Columns of tiles.
    pub columns: Range<u32>,
    /// Rows of tiles.
    pub rows: Range<u32>,
}

impl TileGrid {
    /// The number of parts in a row, and the number of rows.
    pub fn parts(&self) -> (u32, u32) {
        match self.tile_width {
            0 => (1, 1),
            width => (self.size.0.div_ceil(width), self.size.1.div_ceil(MCU_SIDE)),
        }
    }

    /// The number of parts.
    pub fn count(&self) -> usize {
        let (across, down) = self.parts();
        across as usize * down as usize
    }

    /// The parts that a region of the picture touches.
    pub fn touched(&self, region: Region) -> Parts {
        match self.tile_width {
            0 => Parts { columns: 0..1, rows: 0..1 },
            width => Parts {
                columns: region.x / width..(region.x + region.width).div_ceil(width),
                rows: region.y / MCU_SIDE..(region.y + region.height).div_ceil(MCU_SIDE),
            },
        }
    }

    /// The region of the picture that planes of these parts cover, and its number of tiles.
    pub fn cut(&self, parts: &Parts) -> Cut {
        if self.tile_width == 0 {
            return Cut::whole(self.size);
        }
        let (across, down) = (parts.columns.len() as u32, parts.rows.len() as u32);
        let (x, y) = (parts.columns.start * self.tile_width, parts.rows.start * MCU_SIDE);
        let region = Region { x, y, width: across * self.tile_width, height: down * MCU_SIDE };
        let tiles = across * down;
        Cut { region, tiles, skipped: self.count() as u32 - tiles }
    }

    /// The number of columns and rows of chroma in a part, at `scale`. Luma has twice as many of both.
    pub fn chroma_sides(&self, scale: Scale) -> (usize, usize) {
        let side = |pixels| scale.side(pixels).div_ceil(2) as usize;
        match self.tile_width {
            0 => (side(self.size.0), side(self.size.1)),
            width => (side(width), side(MCU_SIDE)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_what_is_touched_and_nothing_else() {
        let grid = TileGrid { size: (340, 250), tile_width: 32 };
        assert_eq!((grid.parts(), grid.count()), ((11, 16), 176));
        let parts = grid.touched(Region { x: 31, y: 16, width: 2, height: 17 });
        assert_eq!(parts, Parts { columns: 0..2, rows: 1..3 });
        let cut = grid.cut(&parts);
        assert_eq!(cut.region, Region { x: 0, y: 16, width: 64, height: 32 });
        assert_eq!((cut.tiles, cut.skipped), (4, 172));
        assert_eq!(Scale::ALL.map(|scale| grid.chroma_sides(scale)), [(16, 8), (8, 4), (4, 2), (2, 1)]);
        let whole = TileGrid { size: (5, 3), tile_width: 0 };
        assert_eq!(whole.cut(&whole.touched(Region::whole((5, 3)))), Cut::whole((5, 3)));
        assert_eq!(Scale::ALL.map(|scale| whole.chroma_sides(scale)), [(3, 2), (2, 1), (1, 1), (1, 1)]);
    }
}
