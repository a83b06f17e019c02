//! Huffman codes, and tables of their first bits.

use super::bits::BitReader;

/// A code as the JPEG defines it: the number of codes of each length, and their symbols in order (T.81, annex C).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HuffmanCode {
    /// For each length, the first code that is longer, as 16 left-aligned bits.
    limits: [u32; 17],
    /// For each length, the number to add to a code to get the place of its symbol.
    offsets: [i32; 17],
    symbols: [u8; 256],
}

impl HuffmanCode {
    /// Returns `None` unless libjpeg accepts the code (jdhuff.c, `jpeg_make_d_derived_tbl`): there must be no more
    /// codes than possible, and none of all ones.
    pub fn new(counts: &[u8; 16], symbols: &[u8]) -> Option<Self> {
        let mut code = HuffmanCode { limits: [0; 17], offsets: [0; 17], symbols: [0; 256] };
        code.symbols.get_mut(..symbols.len())?.copy_from_slice(symbols);
        let (mut next, mut place) = (0u32, 0);
        for length in 1..=16 {
            let count = u32::from(counts[length - 1]);
            code.offsets[length] = place - next as i32;
            next += count;
            place += count as i32;
            if count > 0 && next >= 1 << length {
                return None;
            }
            code.limits[length] = next << (16 - length);
            next <<= 1;
        }
        (place as usize == symbols.len()).then_some(code)
    }

    /// The symbol at the beginning of 16 bits, and the length of its code. `None` if they begin with no code.
    fn look_up(&self, bits: u32) -> Option<(u8, u32)> {
        let length = (1..=16).find(|&length| bits < self.limits[length])?;
        let place = (bits >> (16 - length)) as i32 + self.offsets[length];
        Some((self.symbols[place as usize & 255], length as u32))
    }

    /// For every value of the first [`INDEX_BITS`]: the symbol in the upper half, and the length of its code in
    /// the lower. 0 if the code is longer.
    fn first_bits(&self) -> Box<[u16]> {
        let mut table = vec![0; 1 << INDEX_BITS].into_boxed_slice();
        for length in 1..=INDEX_BITS {
            let codes = |length: u32| self.limits[length as usize] >> (16 - INDEX_BITS);
            let of_length = &mut table[codes(length - 1) as usize..codes(length) as usize];
            let first = (self.limits[length as usize - 1] >> (16 - length)) as i32 + self.offsets[length as usize];
            for (i, same) in of_length.chunks_mut(1 << (INDEX_BITS - length)).enumerate() {
                same.fill(u16::from(self.symbols[(first as usize + i) & 255]) << 8 | length as u16);
            }
        }
        table
    }
}

/// The number of bits that one lookup sees.
pub(super) const INDEX_BITS: u32 = 10;

/// A code with a table for its first bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexedCode {
    code: HuffmanCode,
    first_bits: Box<[u16]>,
}

impl IndexedCode {
    pub fn new(code: HuffmanCode) -> Self {
        IndexedCode { first_bits: code.first_bits(), code }
    }

    /// Appends the code in the form of [`Coding::write_words`](super::coding::Coding::write_words).
    pub fn write_words(&self, to: &mut Vec<u16>) {
        to.extend_from_slice(&self.first_bits);
        to.extend(self.code.limits.map(|limit| limit as u16));
        // A place in `symbols` has eight bits.
        to.extend(self.code.offsets.map(|offset| u16::from(offset as u8)));
        to.extend(self.code.symbols.map(u16::from));
    }

    /// The symbol at the beginning of `bits`, which has [`INDEX_BITS`] bits, and the length of its code. `None` if
    /// the code is longer.
    pub fn look_up(&self, bits: usize) -> Option<(u8, u8)> {
        let entry = *self.first_bits.get(bits)?;
        (entry != 0).then_some(((entry >> 8) as u8, entry as u8))
    }

    /// Reads a symbol. Needs 16 bits.
    pub fn read(&self, bits: &mut BitReader<'_>) -> Option<u8> {
        let (symbol, length) = match self.look_up(bits.peek::<INDEX_BITS>()) {
            Some((symbol, length)) => (symbol, length.into()),
            None => self.code.look_up(bits.peek::<16>() as u32)?,
        };
        bits.skip(length.into());
        Some(symbol)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_libjpeg_refuses_are_refused() {
        let counts = |pairs: &[(usize, u8)]| {
            let mut counts = [0; 16];
            pairs.iter().for_each(|&(length, count)| counts[length - 1] = count);
            counts
        };
        let symbols = |n: usize| (0..n).map(|i| i as u8).collect::<Vec<_>>();
        assert!(HuffmanCode::new(&counts(&[(1, 1), (2, 1)]), &symbols(2)).is_some());
        for (pairs, n) in [
            (&[(1, 2)][..], 2),         // one is all ones
            (&[(1, 3)], 3),             // more than there can be
            (&[(1, 1), (16, 255)], 10), // too few symbols
            (&[(8, 254), (9, 3), (10, 2)], 259),
        ] {
            assert!(HuffmanCode::new(&counts(pairs), &symbols(n)).is_none(), "{pairs:?}");
        }
        let all = counts(&[(15, 255), (16, 255)]);
        assert!(HuffmanCode::new(&all, &symbols(510)).is_none(), "more symbols than bytes");
        assert!(HuffmanCode::new(&[0; 16], &[]).is_some(), "no codes at all, of which nothing can be read");
    }

    #[test]
    fn the_table_says_what_a_search_says() {
        let mut counts = [0, 1, 2, 1, 1, 2, 0, 3, 1, 0, 4, 2, 0, 5, 1, 9];
        for more in 0..3 {
            counts[11] += more;
            let symbols: Vec<_> = (0..counts.iter().sum()).map(|i: u8| i.wrapping_mul(37)).collect();
            let code = HuffmanCode::new(&counts, &symbols).unwrap();
            for (bits, &entry) in code.first_bits().iter().enumerate() {
                let found =
                    code.look_up((bits as u32) << (16 - INDEX_BITS)).filter(|&(_, length)| length <= INDEX_BITS);
                assert_eq!(entry, found.map_or(0, |(symbol, length)| u16::from(symbol) << 8 | length as u16));
            }
        }
    }
}
