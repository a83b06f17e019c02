//! Regions of a picture, the scales at which they are decoded, and the tiles that they touch.

use std::ops::Range;

use vidrec_format::limits;

/// Rows and columns of pixels in an MCU at 4:2:0.
pub(crate) const MCU_SIDE: u32 = 16;

/// A rectangle of pixels inside a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// The number of pixels to the left of the rectangle.
    pub x: u32,
    /// The number of pixels above the rectangle.
    pub y: u32,
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels.
    pub height: u32,
}

impl Region {
    /// The region that is the whole picture.
    pub fn whole((width, height): (u32, u32)) -> Self {
        Region { x: 0, y: 0, width, height }
    }

    /// The region to decode to RGB so that the pixels in `self` are right: one more pixel on each side, within the
    /// picture.
    ///
    /// libjpeg's smooth upsampling (jdsample.c, `h2v2_fancy_upsample`) makes each pixel from the four nearest
    /// chroma samples. They are its own sample, and the next to the left of an even column or to the right of an
    /// odd one, above an even row or below an odd one. That next sample is the adjoining pixel's own, so one pixel
    /// is enough. At the edge of the picture, libjpeg repeats the last sample. It does the same in the crop, which
    /// ends there too.
    pub fn with_chroma_neighbors(self, (width, height): (u32, u32)) -> Self {
        let (x, y) = (self.x.saturating_sub(1), self.y.saturating_sub(1));
        let (right, bottom) = ((self.x + self.width + 1).min(width), (self.y + self.height + 1).min(height));
        Region { x, y, width: right - x, height: bottom - y }
    }

    /// The smallest region that has both.
    pub fn union(self, other: Region) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let right = (self.x + self.width).max(other.x + other.width);
        let bottom = (self.y + self.height).max(other.y + other.height);
        Region { x, y, width: right - x, height: bottom - y }
    }

    /// Whether the region has pixels, and all of them are in a picture of this size.
    pub fn within(&self, (width, height): (u32, u32)) -> bool {
        let end = |start: u32, length: u32| start.checked_add(length).filter(|_| length > 0);
        end(self.x, self.width).is_some_and(|x| x <= width) && end(self.y, self.height).is_some_and(|y| y <= height)
    }
}

/// The part of a picture that was decoded for a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The pixels of the part: whole tiles, which may extend beyond the picture by less than a tile, or the whole
    /// picture.
    pub region: Region,
    /// The number of tiles in the cut; 0 if the JPEG is not tiled.
    pub tiles: u32,
    /// The number of tiles of the picture that are not in the cut.
    pub skipped: u32,
}

impl Cut {
    /// The cut of a picture that is decoded whole, without tiles.
    pub fn whole(size: (u32, u32)) -> Self {
        Cut { region: Region::whole(size), tiles: 0, skipped: 0 }
    }

    /// The number of bytes from one row of the luma plane to the next: scaled, and even.
    pub fn luma_pitch(&self, scale: Scale) -> usize {
        scale.side(self.region.width).next_multiple_of(2) as usize
    }

    /// The number of samples from one row of each plane to the next.
    pub fn pitches(&self, scale: Scale) -> [usize; 3] {
        let pitch = self.luma_pitch(scale);
        [pitch, pitch / 2, pitch / 2]
    }

    /// Columns and rows of the planes of chroma. Luma has twice as many.
    pub fn chroma_sides(&self, scale: Scale) -> (usize, usize) {
        (self.luma_pitch(scale) / 2, scale.side(self.region.height).div_ceil(2) as usize)
    }
}

/// The scale of a decode. The inverse DCT of fewer coefficients makes fewer samples per block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scale {
    /// As large as the picture.
    Full,
    /// Half of each side.
    Half,
    /// A quarter of each side.
    Quarter,
    /// An eighth of each side.
    Eighth,
}

impl Scale {
    /// All scales, from the largest to the smallest.
    pub const ALL: [Scale; 4] = [Scale::Full, Scale::Half, Scale::Quarter, Scale::Eighth];

    /// The number of pixels of the picture for one of the decode, along each axis.
    pub fn step(self) -> u32 {
        1 << self as u32
    }

    /// The length of a side of the decode for a side of `side` pixels.
    pub fn side(self, side: u32) -> u32 {
        side.div_ceil(self.step())
    }
}

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
    /// Whether a picture can have this size and these tiles.
    pub fn is_possible(&self) -> bool {
        let TileGrid { size: (width, height), tile_width } = *self;
        let is_side = |side: u32| (1..=limits::MAX_SIDE).contains(&side);
        is_side(width)
            && is_side(height)
            && u64::from(width) * u64::from(height) <= limits::MAX_PIXELS
            && tile_width.is_multiple_of(MCU_SIDE)
            // A whole number of tiles makes a row of MCUs.
            && (tile_width == 0 || width.next_multiple_of(MCU_SIDE).is_multiple_of(tile_width))
    }

    /// The number of MCUs in a tile.
    pub fn restart(&self) -> u32 {
        self.tile_width / MCU_SIDE
    }

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
mod tile_grid_tests {
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
