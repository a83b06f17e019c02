//! The symbols of a picture: what the Huffman codes stand for, with the bits that follow them.

use super::code::{CODES, Counts};
use crate::{Result, allocation};

/// The end of a block.
pub(super) const END: u8 = 0;
/// Sixteen zeros.
pub(super) const ZEROS: u8 = 0xF0;

/// Symbols of one block at most: DC, and one for each other coefficient.
const MOST_PER_BLOCK: usize = 64;

/// A symbol in the lower 8 bits, the number of its code above, the bits that follow it in the upper 16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Symbol(u32);

/// The symbols of a picture, and how often each occurs.
#[derive(Debug)]
pub(super) struct Symbols {
    pub all: Vec<Symbol>,
    /// How many symbols there are up to the end of each tile.
    pub tiles: Vec<usize>,
    pub counts: Box<[Counts; CODES]>,
}

impl Symbol {
    /// A value after so many zeros, in the upper 4 bits.
    #[inline]
    fn of(code: usize, zeros: u8, value: i32) -> Self {
        let size = bits_of(value.unsigned_abs());
        let extra = (value - i32::from(value < 0)) as u32 & ((1 << size) - 1);
        Symbol(u32::from(zeros | size as u8) | (code as u32) << 8 | extra << 16)
    }

    /// Symbol and number of its code, as one number.
    #[inline]
    pub fn place(self) -> usize {
        self.0 as usize & 0x3FF
    }

    /// The bits that follow, and how many.
    #[inline]
    pub fn extra(self) -> (u32, u32) {
        (self.0 >> 16, self.0 & 15)
    }
}

impl Symbols {
    pub fn new() -> Self {
        Symbols { all: Vec::new(), tiles: Vec::new(), counts: Box::new([[0; 256]; CODES]) }
    }

    pub fn clear(&mut self) {
        self.all.clear();
        self.tiles.clear();
        *self.counts = [[0; 256]; CODES];
    }

    /// Makes room for a tile of so many blocks.
    pub fn reserve(&mut self, blocks: usize) -> Result<()> {
        allocation::reserve(&mut self.tiles, 1, "a picture's tiles")?;
        allocation::reserve(&mut self.all, blocks * MOST_PER_BLOCK, "a picture's symbols")
    }

    pub fn end_tile(&mut self) {
        self.tiles.push(self.all.len());
    }

    /// A block of the `kind` 0 (luma) or 1 (chroma): the difference of its DC, and its other coefficients that are not
    /// zero, with their places in zigzag order.
    #[inline]
    pub fn block(&mut self, kind: usize, dc: i32, ac: &[(u8, i16)]) {
        let mut block = [Symbol(0); MOST_PER_BLOCK];
        let (dc_code, ac_code) = ((2 * kind) & 3, (2 * kind + 1) & 3);
        block[0] = Symbol::of(dc_code, 0, dc);
        self.counts[dc_code][block[0].place() & 0xFF] += 1;
        let counts = &mut self.counts[ac_code];
        let (mut count, mut last) = (1, 0);
        let mut push = |symbol: Symbol| {
            counts[symbol.place() & 0xFF] += 1;
            block[count & 63] = symbol;
            count += 1;
        };
        for &(place, value) in ac {
            let mut zeros = place - last - 1;
            while zeros > 15 {
                push(Symbol::of(ac_code, ZEROS, 0));
                zeros -= 16;
            }
            push(Symbol::of(ac_code, zeros << 4, value.into()));
            last = place;
        }
        if last < 63 {
            push(Symbol::of(ac_code, END, 0));
        }
        self.all.extend_from_slice(&block[..count.min(MOST_PER_BLOCK)]);
    }
}

/// How many bits a number has.
#[inline]
pub(super) fn bits_of(number: u32) -> usize {
    32 - number.leading_zeros() as usize
}
