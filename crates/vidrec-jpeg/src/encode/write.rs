//! The bytes of a JPEG: header, and symbols as bits.

use super::code::{CODES, Code};
use super::symbols::{Symbol, Symbols};
use vidrec_format::allocation;
use vidrec_format::error::Result;

/// The first bytes of a JPEG: JFIF's version, and no density.
pub(super) const JFIF: [u8; 20] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 16, b'J', b'F', b'I', b'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0];

/// Appends the segments with the size of the picture, and with the quantizers of luma and chroma in zigzag order.
pub(super) fn frame((width, height): (u32, u32), quantizers: &[[u8; 64]; 2], jpeg: &mut Vec<u8>) {
    for (number, quantizers) in (0..).zip(quantizers) {
        segment(jpeg, 0xDB, &[&[number], quantizers]);
    }
    let [width, height] = [width, height].map(|side| (side as u16).to_be_bytes());
    let components = [1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1];
    segment(jpeg, 0xC0, &[&[8], &height, &width, &[3], &components]);
}

/// Appends everything else: the codes, the scan with a restart marker after every `restart` MCUs, and the end.
pub(super) fn scan(codes: &[Code; CODES], restart: u16, symbols: &Symbols, jpeg: &mut Vec<u8>) -> Result<()> {
    allocation::reserve(jpeg, 2048 + symbols.all().len(), "a JPEG")?;
    for (number, code) in [0, 0x10, 1, 0x11].into_iter().zip(codes) {
        segment(jpeg, 0xC4, &[&[number], &code.counts, &code.symbols]);
    }
    segment(jpeg, 0xDD, &[&restart.to_be_bytes()]);
    segment(jpeg, 0xDA, &[&[3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0]]);
    let words = words(codes);
    let (mut start, mut bytes) = (0, Vec::new());
    for (tile, &end) in symbols.tiles.iter().enumerate() {
        if tile > 0 {
            jpeg.extend([0xFF, 0xD0 | (tile - 1) as u8 & 7]);
        }
        let symbols = &symbols.all()[start..end];
        // A symbol and the bits after it have at most 27 bits, and the last eight bytes may be written at any
        // place.
        let room = 4 * symbols.len() + size_of::<u64>();
        if room > bytes.len() {
            allocation::resize(&mut bytes, room, 0, "a JPEG")?;
        }
        let length = tile_bytes(&words, symbols, &mut bytes);
        // A byte 0xFF becomes two.
        allocation::reserve(jpeg, 2 * length, "a JPEG")?;
        stuff(&bytes[..length], jpeg);
        start = end;
    }
    jpeg.extend([0xFF, 0xD9]);
    Ok(())
}

/// A code in the upper 27 bits, with room for the bits after it. The lower 5 bits are the number of bits of both
/// together.
type Words = [u32; 256 * CODES];

fn words(codes: &[Code; CODES]) -> Words {
    let mut words = [0; 256 * CODES];
    for (words, code) in words.chunks_exact_mut(256).zip(codes) {
        for (symbol, (word, (code, length))) in (0..).zip(words.iter_mut().zip(code.words())) {
            let more = symbol & 15;
            *word = u32::from(code) << more << 5 | (u32::from(length) + more);
        }
    }
    words
}

/// Replaces the first of `bytes` by the bits of symbols, fills up the last byte with ones, and returns the number
/// of bytes.
fn tile_bytes(words: &Words, symbols: &[Symbol], bytes: &mut [u8]) -> usize {
    let mut writer = BitWriter { bytes, at: 0, bits: 0, count: 0 };
    let bits_of = |symbol: Symbol| {
        let word = words[symbol.place()];
        (u64::from(word >> 5 | symbol.extra()), word & 31)
    };
    // Two symbols have at most 54 bits.
    let (pairs, rest) = symbols.as_chunks();
    for &[first, second] in pairs {
        let ((first, length), (second, more)) = (bits_of(first), bits_of(second));
        writer.push(first << more | second, length + more);
    }
    for &last in rest {
        let (bits, length) = bits_of(last);
        writer.push(bits, length);
    }
    writer.finish()
}

/// Writes bits over existing bytes.
struct BitWriter<'a> {
    bytes: &'a mut [u8],
    /// The number of whole bytes.
    at: usize,
    /// The upper `count` bits belong to the next byte. The others are 0.
    bits: u64,
    count: u32,
}

impl BitWriter<'_> {
    /// Appends 1 to 57 bits. There must be room for eight bytes after the whole ones.
    #[inline]
    fn push(&mut self, bits: u64, length: u32) {
        self.bits |= bits << (64 - length - self.count);
        self.count += length;
        // This always writes eight bytes, and the next write replaces those that are not whole. A branch would
        // often be mispredicted.
        if let Some(eight) = self.bytes[self.at..].first_chunk_mut() {
            *eight = self.bits.to_be_bytes();
        }
        self.at += (self.count / 8) as usize;
        self.bits <<= self.count & !7;
        self.count %= 8;
    }

    /// Fills the last byte with ones, and returns the number of bytes.
    fn finish(self) -> usize {
        if self.count == 0 {
            return self.at;
        }
        self.bytes[self.at] |= 0xFF >> self.count;
        self.at + 1
    }
}

/// Appends bytes, with a zero after each 0xFF.
fn stuff(mut bytes: &[u8], jpeg: &mut Vec<u8>) {
    while let Some(at) = bytes.iter().position(|&byte| byte == 0xFF) {
        jpeg.extend_from_slice(&bytes[..=at]);
        jpeg.push(0);
        bytes = &bytes[at + 1..];
    }
    jpeg.extend_from_slice(bytes);
}

fn segment(jpeg: &mut Vec<u8>, marker: u8, body: &[&[u8]]) {
    let length = 2 + body.iter().map(|part| part.len()).sum::<usize>() as u16;
    jpeg.extend([0xFF, marker]);
    jpeg.extend(length.to_be_bytes());
    body.iter().for_each(|part| jpeg.extend_from_slice(part));
}
