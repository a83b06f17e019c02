//! The bytes of a JPEG: header, and symbols as bits.

use super::code::{CODES, Code};
use super::symbols::Symbols;
use crate::{Result, allocation};

/// The first bytes of a JPEG: JFIF's version, and no density.
pub(super) const JFIF: [u8; 20] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 16, b'J', b'F', b'I', b'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0];

/// Adds the segments that say how large the picture is, and with which quantizers of luma and chroma, in zigzag order.
pub(super) fn frame((width, height): (u32, u32), quantizers: &[[u8; 64]; 2], jpeg: &mut Vec<u8>) {
    for (number, quantizers) in (0..).zip(quantizers) {
        segment(jpeg, 0xDB, &[&[number], quantizers]);
    }
    let [width, height] = [width, height].map(|side| (side as u16).to_be_bytes());
    let components = [1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1];
    segment(jpeg, 0xC0, &[&[8], &height, &width, &[3], &components]);
}

/// Adds all that follows: the codes, the scan with a restart marker after every `restart` MCUs, and the end.
pub(super) fn scan(codes: &[Code; CODES], restart: u16, symbols: &Symbols, jpeg: &mut Vec<u8>) -> Result<()> {
    allocation::reserve(jpeg, 2048 + symbols.all.len(), "a JPEG")?;
    for (number, code) in [0, 0x10, 1, 0x11].into_iter().zip(codes) {
        segment(jpeg, 0xC4, &[&[number], &code.counts, &code.symbols]);
    }
    segment(jpeg, 0xDD, &[&restart.to_be_bytes()]);
    segment(jpeg, 0xDA, &[&[3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0]]);
    let mut words = vec![0u32; CODES * 256];
    for (words, code) in words.chunks_exact_mut(256).zip(codes) {
        let pairs = words.iter_mut().zip(code.words());
        pairs.for_each(|(to, (word, length))| *to = u32::from(word) << 8 | u32::from(length));
    }
    let mut start = 0;
    for (tile, &end) in symbols.tiles.iter().enumerate() {
        if tile > 0 {
            jpeg.extend([0xFF, 0xD0 | (tile - 1) as u8 & 7]);
        }
        // A symbol with the bits behind it has at most 27; a byte 0xFF becomes two.
        allocation::reserve(jpeg, 8 * (end - start) + 8, "a JPEG")?;
        let mut bits = BitWriter { jpeg, bits: 0, count: 0 };
        for &symbol in &symbols.all[start..end] {
            let (word, (extra, more)) = (words[symbol.place()], symbol.extra());
            bits.push(word >> 8 << more | extra, (word & 0xFF) + more);
        }
        bits.finish();
        start = end;
    }
    jpeg.extend([0xFF, 0xD9]);
    Ok(())
}

fn segment(jpeg: &mut Vec<u8>, marker: u8, body: &[&[u8]]) {
    let length = 2 + body.iter().map(|part| part.len()).sum::<usize>() as u16;
    jpeg.extend([0xFF, marker]);
    jpeg.extend(length.to_be_bytes());
    body.iter().for_each(|part| jpeg.extend_from_slice(part));
}

/// Writes the bits of a tile.
struct BitWriter<'a> {
    jpeg: &'a mut Vec<u8>,
    /// The last `count` are yet to be written, of which there are fewer than 32.
    bits: u64,
    count: u32,
}

impl BitWriter<'_> {
    /// Adds at most 32 bits.
    #[inline]
    fn push(&mut self, bits: u32, count: u32) {
        self.bits = self.bits << count | u64::from(bits);
        self.count += count;
        if self.count >= 32 {
            self.count -= 32;
            let four = ((self.bits >> self.count) as u32).to_be_bytes();
            if four.contains(&0xFF) {
                four.into_iter().for_each(|byte| self.push_byte(byte));
            } else {
                self.jpeg.extend_from_slice(&four);
            }
        }
    }

    fn push_byte(&mut self, byte: u8) {
        self.jpeg.push(byte);
        if byte == 0xFF {
            self.jpeg.push(0);
        }
    }

    /// Fills the last byte with ones.
    fn finish(mut self) {
        let padding = self.count.wrapping_neg() % 8;
        self.bits = self.bits << padding | ((1 << padding) - 1);
        self.count += padding;
        while self.count > 0 {
            self.count -= 8;
            self.push_byte((self.bits >> self.count) as u8);
        }
    }
}
