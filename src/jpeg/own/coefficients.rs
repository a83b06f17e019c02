//! The coefficients of a tiled JPEG, as they are stored.

use super::bits::BitReader;
use super::block::{Block, MCU};
use super::coding::Coding;
use super::mcu::{BlockTables, McuBlocks};
use super::tile_data::TileData;
use crate::Result;

/// Reads coefficients; keeps its buffers.
pub(crate) struct CoefficientReader {
    /// A tile's data without byte stuffing.
    plain: Vec<u8>,
    blocks: Box<McuBlocks>,
}

impl CoefficientReader {
    pub fn new() -> Self {
        CoefficientReader { plain: Vec::new(), blocks: McuBlocks::new() }
    }

    /// Hands the blocks of each MCU to `take`, in the order of the file, and says which is its tile's last. A tile has
    /// `restart` MCUs. False if `take` returns that, or where data is such as no encoder writes.
    ///
    /// # Errors
    ///
    /// What `take` returns.
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
