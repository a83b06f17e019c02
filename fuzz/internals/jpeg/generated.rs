//! JPEGs that no encoder writes but every decoder must read. They have any Huffman tables, and any symbols that
//! these allow.

use vidrec_format::random::Random;

/// Tiled JPEG number `seed`, of random symbols. It conforms to the standard.
///
/// Few of them have codes like an encoder's. Most have long codes for common symbols and short ones for rare
/// symbols, runs of zeros up to the last coefficient, and coefficients of as many bits as the symbols allow, at
/// most 15.
pub fn generated(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed, &[1]);
    // Pictures have small coefficients. Larger ones overflow.
    let most_bits = if random.below(4) == 0 { 15 } else { 2 + random.below(7) as u8 };
    let restart = [1, 1, 2, 3][random.below(4) as usize];
    let (across, down) = (restart * (1 + random.below(3) as usize), 1 + random.below(3) as usize);
    let dc: [RandomCode; 2] = std::array::from_fn(|_| RandomCode::of((0..=most_bits.min(11)).collect(), &mut random));
    let ac: [RandomCode; 2] = std::array::from_fn(|_| RandomCode::of(ac_symbols(most_bits, &mut random), &mut random));
    let tables: [[usize; 2]; 3] = std::array::from_fn(|_| [random.below(2) as usize, random.below(2) as usize]);

    let mut jpeg = vec![0xFF, 0xD8];
    let largest = 1 << (12 - most_bits.min(11));
    for number in 0..2 {
        let factors: Vec<u8> = (0..64).map(|_| 1 + random.below(u64::min(largest, 255)) as u8).collect();
        segment(&mut jpeg, 0xDB, &[&[number], &factors[..]].concat());
    }
    let side = |mcus: usize, random: &mut Random| (16 * mcus as u64 - random.below(16)) as u16;
    let [height, width] = [side(down, &mut random), side(across, &mut random)].map(u16::to_be_bytes);
    let size = [height, width].concat();
    segment(&mut jpeg, 0xC0, &[&[8], &size[..], &[3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]].concat());
    for number in 0..2 {
        segment(&mut jpeg, 0xC4, &dc[number].table(number as u8));
        segment(&mut jpeg, 0xC4, &ac[number].table(0x10 | number as u8));
    }
    segment(&mut jpeg, 0xDD, &(restart as u16).to_be_bytes());
    let [y, cb, cr] = tables.map(|[dc, ac]| (dc << 4 | ac) as u8);
    segment(&mut jpeg, 0xDA, &[3, 1, y, 2, cb, 3, cr, 0, 63, 0]);

    let tiles = across / restart * down;
    // The chance that a block ends where it could continue, in 16ths.
    let short = 1 + random.below(15);
    for tile in 0..tiles {
        let mut bits = BitWriter::default();
        let mut predictions = [0; 3];
        for block in 0..restart * 6 {
            let component = [0, 0, 0, 0, 1, 2][block % 6];
            let [dc, ac] = [&dc[tables[component][0]], &ac[tables[component][1]]];
            difference(&mut bits, dc, &mut predictions[component], &mut random);
            coefficients(&mut bits, ac, short, &mut random);
        }
        jpeg.extend(bits.stuffed(&mut random));
        jpeg.extend([0xFF, if tile + 1 < tiles { 0xD0 + (tile % 8) as u8 } else { 0xD9 }]);
    }
    jpeg
}

fn segment(jpeg: &mut Vec<u8>, marker: u8, body: &[u8]) {
    jpeg.extend([0xFF, marker]);
    jpeg.extend((body.len() as u16 + 2).to_be_bytes());
    jpeg.extend_from_slice(body);
}

/// The end of a block, sixteen zeros, and some of the other symbols. One in eight tables has all of them.
fn ac_symbols(most_bits: u8, random: &mut Random) -> Vec<u8> {
    let share = 1 + random.below(8);
    let others = (1..=255).filter(|symbol| (1..=most_bits).contains(&(symbol & 15)));
    let mut symbols: Vec<_> = others.filter(|_| random.below(8) < share).collect();
    symbols.extend([0x00, 0xF0]);
    symbols
}

/// A DC difference that usually keeps the DC within the range of a picture's samples.
fn difference(bits: &mut BitWriter, code: &RandomCode, prediction: &mut i32, random: &mut Random) {
    let symbol = code.put_any(bits, random, |_| true);
    let mut extra = random.next_u32() & ((1 << symbol) - 1);
    if symbol > 0 && prediction.abs() > 500 {
        let upwards = *prediction < 0;
        extra = extra & !(1 << (symbol - 1)) | u32::from(upwards) << (symbol - 1);
    }
    bits.put(extra, symbol.into());
    let negative = symbol > 0 && extra < 1 << (symbol - 1);
    *prediction += extra as i32 - if negative { (1 << symbol) - 1 } else { 0 };
}

/// All other coefficients of a block.
fn coefficients(bits: &mut BitWriter, code: &RandomCode, short: u64, random: &mut Random) {
    let mut last = 0;
    while last < 63 {
        if random.below(16) < short {
            return code.put(bits, 0);
        }
        // Sixteen zeros must not reach the end of the block, because the end code represents that.
        let symbol = code.put_any(bits, random, |symbol| last + usize::from(symbol >> 4) < 63);
        if symbol == 0 {
            return;
        }
        bits.put(random.next_u32() & ((1 << (symbol & 15)) - 1), (symbol & 15).into());
        last += usize::from(symbol >> 4) + 1;
    }
}

/// A Huffman code.
struct RandomCode {
    /// The length of each symbol's code and the code, in the order of the codes.
    codes: Vec<(u8, u32, u32)>,
}

impl RandomCode {
    /// Creates a code with random lengths, and without a code of all ones.
    fn of(mut symbols: Vec<u8>, random: &mut Random) -> Self {
        for i in (1..symbols.len()).rev() {
            symbols.swap(i, random.below(i as u64 + 1) as usize);
        }
        // In units of codes of 16 bits. Each symbol needs at least one unit, and one unit remains free.
        let mut free = (1u32 << 16) - 1;
        let mut lengths = Vec::new();
        let preferred = 1 + random.below(16) as u32;
        for left in (0..symbols.len() as u32).rev() {
            let shortest = (1..=16).find(|&length| 1 << (16 - length) <= free - left).unwrap_or(16);
            let wanted = if random.below(2) == 0 { preferred } else { 1 + random.below(16) as u32 };
            lengths.push(shortest.max(wanted));
            free -= 1 << (16 - lengths[lengths.len() - 1]);
        }
        let mut order: Vec<_> = lengths.into_iter().zip(symbols).collect();
        order.sort_by_key(|&(length, _)| length);
        let (mut next, mut before) = (0, 0);
        let codes = order.into_iter().map(|(length, symbol)| {
            next <<= length - before;
            before = length;
            next += 1;
            (symbol, length, next - 1)
        });
        RandomCode { codes: codes.collect() }
    }

    /// The body of its marker segment (T.81, B.2.4.2).
    fn table(&self, number: u8) -> Vec<u8> {
        let count = |length| self.codes.iter().filter(|code| code.1 == length).count() as u8;
        let mut body = vec![number];
        body.extend((1..=16).map(count));
        body.extend(self.codes.iter().map(|code| code.0));
        body
    }

    fn put(&self, bits: &mut BitWriter, symbol: u8) {
        let code = self.codes.iter().find(|code| code.0 == symbol);
        code.into_iter().for_each(|&(_, length, code)| bits.put(code, length));
    }

    /// Writes one of the symbols that satisfy `may`; there must be one.
    fn put_any(&self, bits: &mut BitWriter, random: &mut Random, may: impl Fn(u8) -> bool) -> u8 {
        loop {
            let (symbol, length, code) = self.codes[random.below(self.codes.len() as u64) as usize];
            if may(symbol) {
                bits.put(code, length);
                return symbol;
            }
        }
    }
}

/// Packs bits into bytes.
#[derive(Default)]
struct BitWriter {
    bytes: Vec<u8>,
    buffer: u64,
    count: u32,
}

impl BitWriter {
    fn put(&mut self, value: u32, length: u32) {
        self.buffer = self.buffer << length | u64::from(value);
        self.count += length;
        while self.count >= 8 {
            self.count -= 8;
            self.bytes.push((self.buffer >> self.count) as u8);
        }
    }

    /// Returns the bytes, with a zero after each byte of ones. Padding is ones, as the standard requires, or
    /// anything.
    fn stuffed(mut self, random: &mut Random) -> Vec<u8> {
        let fill = if random.below(8) == 0 { random.below(128) as u32 } else { 127 };
        self.put(fill, 7);
        self.bytes.into_iter().flat_map(|byte| [byte, 0].into_iter().take(1 + usize::from(byte == 0xFF))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::{Verdict, decoders};

    /// Both decoders decode all of them, except for coefficients that are too large for ours.
    #[test]
    fn all_of_it_is_jpeg() {
        let verdicts: Vec<_> = (0..400).map(|seed| decoders(&[&[0; 5], &generated(seed)[..]].concat())).collect();
        let count = |wanted| verdicts.iter().filter(|&&verdict| verdict == wanted).count();
        println!("{} {} {}", count(Verdict::Decoded), count(Verdict::Declined), count(Verdict::Refused));
        assert_eq!(count(Verdict::Refused), 0);
        assert!(count(Verdict::Decoded) > 200);
    }
}
