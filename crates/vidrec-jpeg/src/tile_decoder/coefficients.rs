//! The stored coefficients of a tiled JPEG.

use super::bits::BitReader;
use super::block::{Block, MCU};
use super::coding::Coding;
use super::mcu::{BlockTables, McuBlocks};
use super::tile_data::TileData;
use vidrec_format::error::Result;

/// Reads coefficients. It keeps its buffers.
pub(crate) struct CoefficientReader {
    /// A tile's data without byte stuffing.
    plain: Vec<u8>,
    blocks: Box<McuBlocks>,
}

impl CoefficientReader {
    pub fn new() -> Self {
        CoefficientReader { plain: Vec::new(), blocks: McuBlocks::new() }
    }

    /// Passes the blocks of each MCU to `take`, in the order of the file, and says which MCU is the last of its
    /// tile. A tile has `restart` MCUs. Returns false if `take` returns false, or if no encoder writes such data.
    ///
    /// # Errors
    ///
    /// The errors that `take` returns.
    pub fn read(
        &mut self,
        jpeg: &[u8],
        coding: &Coding,
        tiles: &[TileData],
        restart: u32,
        mut take: impl FnMut(&[Block; MCU], bool) -> Result<bool>,
    ) -> Result<bool> {
        let [Some(luma), Some(blue), Some(red)] = [0, 1, 2].map(|component| coding.tables(component)) else {
            return Ok(false);
        };
        let plan = BlockTables::new([luma, blue, red]);
        for tile in tiles {
            let mut bits = BitReader::new(tile.data(jpeg, &mut self.plain));
            let mut predictions = [0; 3];
            for mcu in 1..=restart {
                let Some((blocks, behind)) = self.blocks.read(&plan, bits, &mut predictions) else { return Ok(false) };
                bits = behind;
                if !take(blocks, mcu == restart)? {
                    return Ok(false);
                }
            }
            if !bits.ended_well(tile.plain_length()) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
