//! The picture between the scaler and the color pass: planes with 16 bits a sample.

use super::geometry::{Orientation, Size};
use vidrec_format::allocation;
use vidrec_format::error::Result;

/// The number of chroma samples of a [`Deep`] picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChromaLayout {
    /// None: the picture is gray.
    Gray,
    /// Half as many in each direction, rounded up (4:2:0).
    Half,
    /// As many as luma (4:4:4).
    Full,
}

/// Planes of 16-bit samples: the code values of the source, shifted left to fill 16 bits.
///
/// For example, an 8-bit 235 and a 10-bit 940 are both 60,160. Neutral chroma is 32,768 at any depth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Deep {
    pub size: Size,
    pub layout: ChromaLayout,
    pub y: Vec<u16>,
    pub cb: Vec<u16>,
    pub cr: Vec<u16>,
}

impl Deep {
    pub fn new(size: Size, layout: ChromaLayout) -> Result<Self> {
        let luma = size.width as usize * size.height as usize;
        let c = layout.chroma(size);
        let chroma = c.width as usize * c.height as usize;
        let plane = |samples| allocation::zeroed(samples, "a picture");
        Ok(Deep { size, layout, y: plane(luma)?, cb: plane(chroma)?, cr: plane(chroma)? })
    }

    pub fn chroma_size(&self) -> Size {
        self.layout.chroma(self.size)
    }

    /// Returns the plane with this index in FFmpeg's planar formats, and its size.
    pub fn plane_mut(&mut self, index: usize) -> (&mut [u16], Size) {
        let chroma = self.chroma_size();
        match index {
            0 => (&mut self.y, self.size),
            1 => (&mut self.cb, chroma),
            _ => (&mut self.cr, chroma),
        }
    }

    /// Returns the number of planes.
    pub fn planes(&self) -> usize {
        if self.layout == ChromaLayout::Gray { 1 } else { 3 }
    }

    /// Turns and mirrors all planes.
    ///
    /// With half-size chroma, a mirrored side should be even. Otherwise the last chroma sample, which lies half
    /// outside of the picture, would become the first. For odd sides, the caller asks for [`ChromaLayout::Full`].
    pub fn turn(&mut self, o: Orientation) -> Result<()> {
        if o.is_identity() {
            return Ok(());
        }
        let chroma = self.chroma_size();
        self.y = o.turn(&self.y, self.size)?;
        if self.layout != ChromaLayout::Gray {
            self.cb = o.turn(&self.cb, chroma)?;
            self.cr = o.turn(&self.cr, chroma)?;
        }
        self.size = o.apply(self.size);
        Ok(())
    }
}

impl ChromaLayout {
    fn chroma(self, size: Size) -> Size {
        match self {
            ChromaLayout::Gray => Size { width: 0, height: 0 },
            ChromaLayout::Half => Size { width: size.width.div_ceil(2), height: size.height.div_ceil(2) },
            ChromaLayout::Full => size,
        }
    }
}
