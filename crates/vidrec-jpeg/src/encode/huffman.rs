//! The symbols of a picture, which Huffman codes represent, and the bits that follow them.

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
    fn new(code: usize, zeros: u32, value: i32, bits: usize) -> Self {
        let extra = (value - i32::from(value < 0)) as u32 & ((1 << bits) - 1);
        Symbol(zeros << 4 | bits as u32 | (code as u32) << 8 | extra << 16)
    }

    /// The symbol and the number of its code, as one number.
    #[inline]
    pub fn index(self) -> usize {
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
        room[0] = Symbol::new(dc_code, 0, dc, bits_of(dc.unsigned_abs()));
        self.counts[dc_code][room[0].index() & 0xFF] += 1;
        let mut block = Block { room, counts: &mut self.counts[ac_code], code: ac_code, count: 1, last: 0 };
        ac(&mut block);
        if block.last < 63 {
            block.push(Symbol::new(ac_code, 0, 0, 0));
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
            self.push(Symbol::new(self.code, u32::from(ZEROS >> 4), 0, 0));
            zeros -= 16;
        }
        self.push(Symbol::new(self.code, zeros, value, bits));
        self.last = place;
    }

    #[inline]
    fn push(&mut self, symbol: Symbol) {
        self.counts[symbol.index() & 0xFF] += 1;
        self.room[self.count & 63] = symbol;
        self.count += 1;
    }
}

/// The number of bits of a number.
#[inline]
pub(super) fn bits_of(number: u32) -> usize {
    32 - number.leading_zeros() as usize
}

/// The number of occurrences of each symbol.
pub(super) type Counts = [u32; 256];

/// The four codes of a picture: those of luma's DC and AC, then those of chroma.
pub(super) const CODES: usize = 4;

/// A code as a JPEG defines it (T.81, annex C).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Code {
    /// For each length from 1, the number of symbols with that length.
    pub counts: [u8; 16],
    /// The symbols in the order of their codes.
    pub symbols: Vec<u8>,
}

/// The longest code that a JPEG can have.
const LONGEST: usize = 16;

impl Code {
    /// Creates the shortest code for symbols with these counts, by the procedure of T.81, K.2. The code of only
    /// ones remains for a symbol that does not exist.
    pub fn best(counts: &Counts) -> Self {
        let lengths = lengths(counts);
        let mut of_length = [0u32; 257];
        lengths.iter().filter(|&&length| length > 0).for_each(|&length| of_length[usize::from(length)] += 1);
        shorten(&mut of_length);
        // The symbol that does not exist is the least frequent, so it has one of the longest codes.
        let longest = (1..=LONGEST).rev().find(|&length| of_length[length] > 0).unwrap_or(1);
        of_length[longest] = of_length[longest].saturating_sub(1);
        let mut symbols: Vec<u8> = (0..=255).filter(|&symbol| lengths[usize::from(symbol)] > 0).collect();
        symbols.sort_by_key(|&symbol| lengths[usize::from(symbol)]);
        Code { counts: std::array::from_fn(|i| of_length[i + 1] as u8), symbols }
    }

    /// The code of each symbol, and its length: 0 if it has none.
    pub fn words(&self) -> [(u16, u8); 256] {
        let (mut words, mut next) = ([(0, 0); 256], 0u32);
        let mut symbols = self.symbols.iter();
        for (length, &count) in (1..).zip(&self.counts) {
            for &symbol in symbols.by_ref().take(count.into()) {
                words[usize::from(symbol)] = (next as u16, length);
                next += 1;
            }
            next <<= 1;
        }
        words
    }
}

/// The lengths of the codes from Huffman's procedure. The last one is for the symbol that does not exist.
fn lengths(counts: &Counts) -> [u8; 257] {
    let mut weights = [0u64; 257];
    weights.iter_mut().zip(counts).for_each(|(weight, &count)| *weight = count.into());
    weights[256] = 1;
    let (mut lengths, mut next) = ([0u8; 257], [usize::MAX; 257]);
    let mut live: Vec<usize> = (0..257).filter(|&symbol| weights[symbol] > 0).collect();
    while live.len() > 1 {
        // The two rarest trees; the last ones, if several are equally rare. A tree is named after one of its
        // symbols.
        let mut take = || {
            let rarest = (0..live.len()).min_by_key(|&i| (weights[live[i]], usize::MAX - live[i]));
            live.swap_remove(rarest.unwrap_or(0))
        };
        let (a, b) = (take(), take());
        weights[a] += weights[b];
        let mut end = a;
        while next[end] != usize::MAX {
            lengths[end] += 1;
            end = next[end];
        }
        lengths[end] += 1;
        next[end] = b;
        let mut at = b;
        while at != usize::MAX {
            lengths[at] += 1;
            at = next[at];
        }
        live.push(a);
    }
    lengths
}

/// Shortens all codes to at most [`LONGEST`] (T.81, figure K.3).
fn shorten(of_length: &mut [u32; 257]) {
    for long in (LONGEST + 1..257).rev() {
        while of_length[long] > 0 {
            let shorter = (1..long - 1).rev().find(|&length| of_length[length] > 0).unwrap_or(1);
            of_length[long] -= 2;
            of_length[long - 1] += 1;
            of_length[shorter + 1] += 2;
            of_length[shorter] -= 1;
        }
    }
}

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
        let word = words[symbol.index()];
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

#[cfg(test)]
mod code_tests {
    use super::*;
    use proptest::prelude::*;

    fn bits(counts: &Counts, code: &Code) -> u64 {
        let words = code.words();
        counts.iter().zip(words).map(|(&count, (_, length))| u64::from(count) * u64::from(length)).sum()
    }

    proptest! {
        #[test]
        fn a_code_has_all_symbols_and_no_word_begins_with_another_or_is_all_ones(
            counts in prop::collection::vec(prop_oneof![Just(0u32), 1..50u32, 1..1_000_000u32], 256), few in 0..256usize,
        ) {
            let mut counts: Counts = counts.try_into().unwrap();
            counts[few..].fill(0);
            let code = Code::best(&counts);
            prop_assert_eq!(code.counts.iter().map(|&n| usize::from(n)).sum::<usize>(), code.symbols.len());
            let words = code.words();
            let mut ranges = Vec::new();
            for (symbol, (word, length)) in words.into_iter().enumerate() {
                prop_assert_eq!(length > 0, counts[symbol] > 0, "{}", symbol);
                if length > 0 {
                    prop_assert!(length <= 16 && u32::from(word) + 1 < 1 << length, "all ones");
                    ranges.push((u32::from(word) << (16 - length), (u32::from(word) + 1) << (16 - length)));
                }
            }
            ranges.sort_unstable();
            prop_assert!(ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0));
        }

        #[test]
        fn a_code_is_the_shortest_but_for_the_word_of_ones(counts in prop::collection::vec(1..5000u32, 2..12)) {
            let mut all = [0; 256];
            all[..counts.len()].copy_from_slice(&counts);
            // Merges the two rarest symbols again and again, with one more symbol that occurs once.
            let mut trees: Vec<u64> = counts.iter().map(|&n| n.into()).chain([1]).collect();
            let mut least = 0;
            while trees.len() > 1 {
                trees.sort_unstable_by(|a, b| b.cmp(a));
                let sum = trees.pop().unwrap() + trees.pop().unwrap();
                least += sum;
                trees.push(sum);
            }
            prop_assert!(bits(&all, &Code::best(&all)) <= least);
        }
    }

    #[test]
    fn very_uneven_counts_give_words_of_at_most_16_bits() {
        let mut counts = [0; 256];
        counts[..30].iter_mut().enumerate().for_each(|(i, count)| *count = 1 << i);
        let code = Code::best(&counts);
        assert_eq!(code.symbols.len(), 30);
        assert!(code.words().iter().all(|&(_, length)| length <= 16));
    }
}
