//! A choice of how to decode a picture, from a few bytes.

use crate::region::Region;
use crate::region::Scale;
use crate::tile_decoder::IdctMachine;

/// The part of a picture to decode, and how. Any five bytes are a wish.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish {
    pub scale: Scale,
    pub machine: IdctMachine,
    /// Left, top, width and height in 256ths of the available size.
    window: [u8; 4],
}

impl Wish {
    pub const BYTES: usize = 5;

    pub fn from_bytes([how, window @ ..]: [u8; Wish::BYTES]) -> Self {
        let machines = IdctMachine::all();
        let machine = machines[usize::from(how >> 2) % machines.len()];
        Wish { scale: Scale::ALL[usize::from(how & 3)], machine, window }
    }

    pub fn region(&self, size: (u32, u32)) -> Region {
        let [x, y, width, height] = self.window.map(u32::from);
        let part = |of: u32, part: u32| of * part / 256;
        let (x, y) = (part(size.0, x), part(size.1, y));
        Region { x, y, width: 1 + part(size.0 - x - 1, width), height: 1 + part(size.1 - y - 1, height) }
    }
}
