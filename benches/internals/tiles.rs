//! The parts of decoding a region, for `benches/parts.rs`.

use super::region::Region;
use super::region::Scale;
pub use super::region_decoder::JpegDecoder;
use super::region_decoder::RegionDecoder;
use super::tile_decoder::TileDecoder;
use super::tiles::Tiler;
use vidrec_format::error::Result;

/// A decoder of regions, and the buffers for its output.
pub struct TileBench {
    decoder: RegionDecoder,
    tiler: Tiler,
    planes: [Vec<u8>; 3],
}

impl TileBench {
    /// Creates a bench with this decoder of tiles.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn new(choice: JpegDecoder) -> Result<Self> {
        let (decoder, tiler) = (RegionDecoder::with(choice, TileDecoder::new())?, Tiler::default());
        Ok(TileBench { decoder, tiler, planes: [const { Vec::new() }; 3] })
    }

    /// Finds the tiles under a region (left, top, width, height), and returns their number.
    pub fn find(&mut self, jpeg: &[u8], [x, y, width, height]: [u32; 4]) -> Option<u32> {
        let selection = self.tiler.select(jpeg, Region { x, y, width, height }, true)?;
        Some(selection.cut.tiles)
    }

    /// Finds the tiles, makes the small JPEG for libjpeg-turbo, and returns its length.
    pub fn cut(&mut self, jpeg: &[u8], [x, y, width, height]: [u32; 4]) -> Option<usize> {
        let (small, _) = self.tiler.cut(jpeg, Region { x, y, width, height }, true)?;
        Some(small.bytes().len())
    }

    /// Decodes the tiles under a region, with each side divided by 1, 2, 4 or 8, and returns their number.
    ///
    /// # Errors
    ///
    /// The data is damaged.
    pub fn decode(&mut self, jpeg: &[u8], [x, y, width, height]: [u32; 4], step: u32) -> Result<u32> {
        let scale = Scale::ALL.into_iter().find(|scale| scale.step() == step).unwrap_or(Scale::Full);
        let region = Region { x, y, width, height };
        Ok(self.decoder.planes(jpeg, region, scale, &mut self.planes)?.tiles)
    }
}
