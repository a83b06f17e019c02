//! The symbols of a picture, which Huffman codes represent, and the bits that follow them.

use super::code::{CODES, Counts};
use vidrec_format::allocation;
use vidrec_format::error::Result;

/// The end of a block.
pub(super) const END: u8 = 0;
/// Sixteen zeros.
pub(super) const ZEROS: u8 = 0xF0;

/// The maximum number of symbols of one block: DC, and one for each other coefficient.
const MOST_PER_BLOCK: usize = 64;

/// A symbol in the lower 8 bits, the number of its code above it, and the bits that follow it in the upper 16.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Symbol(u32);

/// The symbols of a picture, and the number of occurrences of each.
#[derive(Debug)]
pub(super) struct Symbols {
    /// The first `count` belong to the picture. The rest is room for more.
    room: Vec<Symbol>,
    count: usize,
    /// The number of symbols up to the end of each tile.
    pub tiles: Vec<usize>,
    pub counts: Box<[Counts; CODES]>,
}

impl Symbol {
    /// Creates a symbol for a value with this number of bits after this number of zeros.
    #[inline]
    fn of(code: usize, zeros: u32, value: i32, bits: usize) -> Self {
        let extra = (value - i32::from(value < 0)) as u32 & ((1 << bits) - 1);
        Symbol(zeros << 4 | bits as u32 | (code as u32) << 8 | extra << 16)
    }

    /// The symbol and the number of its code, as one number.
    #[inline]
    pub fn place(self) -> usize {
        self.0 as usize & 0x3FF
    }

    /// The bits that follow. The last four bits of the symbol are their number.
    #[inline]
    pub fn extra(self) -> u32 {
        self.0 >> 16
    }
}

impl Symbols {
    pub fn new() -> Self {
        Symbols { room: Vec::new(), count: 0, tiles: Vec::new(), counts: Box::new([[0; 256]; CODES]) }
    }

    pub fn clear(&mut self) {
        self.count = 0;
        self.tiles.clear();
        *self.counts = [[0; 256]; CODES];
    }

    /// Makes room for a tile of this many blocks.
    pub fn reserve(&mut self, blocks: usize) -> Result<()> {
        allocation::reserve(&mut self.tiles, 1, "a picture's tiles")?;
        let needed = self.count + blocks * MOST_PER_BLOCK;
        if needed > self.room.len() {
            allocation::resize(&mut self.room, needed.max(2 * self.count), Symbol::default(), "a picture's symbols")?;
        }
        Ok(())
    }

    pub fn all(&self) -> &[Symbol] {
        &self.room[..self.count]
    }

    pub fn end_tile(&mut self) {
        self.tiles.push(self.count);
    }

    /// Adds a block of the `kind` 0 (luma) or 1 (chroma): the difference of its DC, followed by what `ac` adds.
    /// There must be [room](Self::reserve) for it.
    #[inline]
    pub fn block(&mut self, kind: usize, dc: i32, ac: impl FnOnce(&mut Block<'_>)) {
        let Some(room) = self.room[self.count..].first_chunk_mut() else { return };
        let (dc_code, ac_code) = ((2 * kind) & 3, (2 * kind + 1) & 3);
        room[0] = Symbol::of(dc_code, 0, dc, bits_of(dc.unsigned_abs()));
        self.counts[dc_code][room[0].place() & 0xFF] += 1;
        let mut block = Block { room, counts: &mut self.counts[ac_code], code: ac_code, count: 1, last: 0 };
        ac(&mut block);
        if block.last < 63 {
            block.push(Symbol::of(ac_code, 0, 0, 0));
        }
        self.count += block.count.min(MOST_PER_BLOCK);
    }
}

/// The symbols of a block that is not complete.
pub(super) struct Block<'a> {
    room: &'a mut [Symbol; MOST_PER_BLOCK],
    counts: &'a mut Counts,
    code: usize,
    count: usize,
    /// The place of the last value in zigzag order.
    last: u32,
}

impl Block<'_> {
    /// Adds a coefficient that is not zero, has this number of bits, and comes after the last one in zigzag order.
    #[inline]
    pub fn value(&mut self, place: u32, value: i32, bits: usize) {
        let mut zeros = place - self.last - 1;
        while zeros > 15 {
            self.push(Symbol::of(self.code, u32::from(ZEROS >> 4), 0, 0));
            zeros -= 16;
        }
        self.push(Symbol::of(self.code, zeros, value, bits));
        self.last = place;
    }

    #[inline]
    fn push(&mut self, symbol: Symbol) {
        self.counts[symbol.place() & 0xFF] += 1;
        self.room[self.count & 63] = symbol;
        self.count += 1;
    }
}

/// The number of bits of a number.
#[inline]
pub(super) fn bits_of(number: u32) -> usize {
    32 - number.leading_zeros() as usize
}
