//! Stored coefficients in the shortest codes that all pictures of a clip can share.

use super::code::{CODES, Code, Counts};
use super::order::ZIGZAG;
use super::symbols::{Symbols, bits_of};
use super::write;
use vidrec_format::error::Result;

/// The blocks of an MCU: four of luma, then blue and red. Each is row by row, and its DC is not a difference.
type Mcu = [[i16; 64]; 6];

/// The maximum size of a difference of DC, and of any other coefficient, of 8-bit samples, in bits (T.81, F.1.2).
const MOST_BITS: [usize; 2] = [11, 10];

/// Codes the pictures of a clip. It must see each picture twice: to count its symbols, and to write them.
#[derive(Debug)]
pub(crate) struct SharedCodes {
    /// The symbols of the last picture.
    symbols: Symbols,
    /// The DC of each component's last block in the tile.
    last: [i32; 3],
    /// The number of occurrences of each symbol in all pictures.
    counts: Box<[Counts; CODES]>,
    /// The codes, which are made when the first picture is written.
    codes: Option<[Code; CODES]>,
}

impl SharedCodes {
    pub fn new() -> Self {
        SharedCodes { symbols: Symbols::new(), last: [0; 3], counts: Box::new([[0; 256]; CODES]), codes: None }
    }

    /// Forgets all earlier pictures.
    pub fn start_clip(&mut self) {
        *self.counts = [[0; 256]; CODES];
        self.codes = None;
    }

    pub fn start_picture(&mut self) {
        self.symbols.clear();
        self.last = [0; 3];
    }

    /// Adds an MCU. `ends_tile` says whether it is the last of its tile. Returns false if a coefficient is larger
    /// than in any picture.
    pub fn add(&mut self, mcu: &Mcu, ends_tile: bool) -> Result<bool> {
        self.symbols.reserve(mcu.len())?;
        for (i, block) in mcu.iter().enumerate() {
            let component = i.saturating_sub(3);
            let dc = i32::from(block[0]);
            let difference = dc - self.last[component];
            self.last[component] = dc;
            let (mut ac, mut count, mut all) = ([(0, 0); 64], 0, 0);
            for (place, &at) in (1..).zip(&ZIGZAG[1..]) {
                let value = block[usize::from(at)];
                if value != 0 {
                    all |= u32::from(value.unsigned_abs());
                    ac[count] = (place, value);
                    count += 1;
                }
            }
            if bits_of(difference.unsigned_abs()) > MOST_BITS[0] || bits_of(all) > MOST_BITS[1] {
                return Ok(false);
            }
            self.symbols.block(component.min(1), difference, |block| {
                for &(place, value) in &ac[..count] {
                    block.value(place, value.into(), bits_of(value.unsigned_abs().into()));
                }
            });
        }
        if ends_tile {
            self.symbols.end_tile();
            self.last = [0; 3];
        }
        Ok(true)
    }

    /// Counts the symbols of the picture.
    pub fn count(&mut self) {
        for (all, counts) in self.counts.iter_mut().zip(&*self.symbols.counts) {
            all.iter_mut().zip(counts).for_each(|(all, &count)| *all = all.saturating_add(count).min(u32::MAX >> 4));
        }
    }

    /// Appends the picture to the head of its JPEG, in tiles of `restart` MCUs. All pictures of the clip must have
    /// been counted before.
    pub fn write(&mut self, restart: u16, jpeg: &mut Vec<u8>) -> Result<()> {
        let codes = self.codes.get_or_insert_with(|| self.counts.each_ref().map(Code::best));
        write::scan(codes, restart, &self.symbols, jpeg)
    }
}
