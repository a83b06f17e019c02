//! Parts of a picture: the requested part, and the part that is decoded for it.

use super::scale::Scale;

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
}
