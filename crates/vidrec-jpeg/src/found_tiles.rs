//! Where the tiles of a JPEG are, for a decoder on another device.

use super::region::{Cut, MCU_SIDE, Region};
use super::tile_decoder::{Coding, TileData};
use super::tile_grid::TileGrid;

/// The tiles of a JPEG: see [`RegionDecoder::tiles`](super::RegionDecoder::tiles).
#[derive(Debug, Clone)]
pub struct FoundTiles {
    /// How the tiles divide the picture.
    pub grid: TileGrid,
    /// The coding of the blocks.
    pub coding: Coding,
    /// The first byte of the entropy-coded data of each tile, row by row, and the one after the last.
    ranges: Box<[[u32; 2]]>,
}

/// The tiles that a region of the picture touches.
#[derive(Debug, Clone)]
pub struct TilesOfRegion<'a> {
    /// The part of the picture: whole tiles.
    pub cut: Cut,
    /// The number of tiles in a row of the part.
    pub columns: u32,
    /// The number of MCUs in a tile.
    pub restart: u32,
    /// For each row of tiles the first byte of the entropy-coded data of each tile in the JPEG, and the one after the last.
    pub rows: Vec<&'a [[u32; 2]]>,
}

impl FoundTiles {
    /// `None` if the JPEG is longer than a device can count.
    pub(super) fn new(grid: TileGrid, tiles: &[TileData], coding: &Coding) -> Option<Self> {
        let range =
            |tile: &TileData| Some([u32::try_from(tile.range.start).ok()?, u32::try_from(tile.range.end).ok()?]);
        Some(FoundTiles { grid, coding: coding.clone(), ranges: tiles.iter().map(range).collect::<Option<_>>()? })
    }

    /// The tiles that `region` touches. `None` if the picture has no such region.
    pub fn of(&self, region: Region) -> Option<TilesOfRegion<'_>> {
        if !region.within(self.grid.size) {
            return None;
        }
        let parts = self.grid.touched(region);
        let (across, columns) = (self.grid.parts().0, parts.columns.len());
        let row = |row: u32| self.ranges.get((row * across + parts.columns.start) as usize..)?.get(..columns);
        let rows = parts.rows.clone().map(row).collect::<Option<_>>()?;
        let restart = self.grid.tile_width / MCU_SIDE;
        Some(TilesOfRegion { cut: self.grid.cut(&parts), columns: columns as u32, restart, rows })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Encoder, JpegDecoder, RegionDecoder};
    use vidrec_format::planes::Planes;

    #[test]
    fn a_region_has_the_tiles_that_it_touches_and_no_others() {
        let mut jpeg = Vec::new();
        Encoder::new(90).unwrap().encode(&Planes::new(160, 48).unwrap(), &mut jpeg).unwrap();
        let found = RegionDecoder::new(JpegDecoder::Auto).unwrap().tiles(&jpeg).unwrap().unwrap();
        let all = found.of(Region::whole((160, 48))).unwrap();
        let across = 160 / found.grid.tile_width;
        assert_eq!((all.columns, all.rows.len(), all.cut.skipped), (across, 3, 0));
        let part = found.of(Region { x: 33, y: 16, width: 1, height: 17 }).unwrap();
        let column = (33 / found.grid.tile_width) as usize;
        assert_eq!((part.columns, part.rows.len(), part.cut.tiles), (1, 2, 2));
        assert_eq!(part.rows, [&all.rows[1][column..][..1], &all.rows[2][column..][..1]]);
        assert!(found.of(Region { x: 33, y: 16, width: 128, height: 1 }).is_none());
        assert!(
            all.rows.iter().flat_map(|row| row.iter()).all(|[start, end]| start < end && *end as usize <= jpeg.len())
        );
    }
}
