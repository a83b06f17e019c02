//! Bits of entropy-coded data, most significant first.

/// A reader that never fails. Zeros follow its bytes, and [`ended_well`](Self::ended_well) checks the end.
#[derive(Clone, Copy)]
pub(crate) struct BitReader<'a> {
    /// The tile's data without byte stuffing. Bytes after its end do not count.
    data: &'a [u8],
    /// The next byte that is not yet completely in `buffer`.
    at: usize,
    /// The next bits, from the top.
    buffer: u64,
    /// The number of valid bits, in the lowest six bits.
    count: u32,
    /// Whether a read went past the end of `data`.
    over: bool,
}

impl<'a> BitReader<'a> {
    /// The number of bytes that `data` must have after the tile's data, so that words can be read up to its end.
    pub const SLACK: usize = 16;

    pub fn new(data: &'a [u8]) -> Self {
        BitReader { data, at: 0, buffer: 0, count: 0, over: false }
    }

    /// Makes at least the next 56 bits available.
    #[inline(always)]
    pub fn refill(&mut self) {
        // This follows Fabian Giesen, "Reading bits in far too many ways", part 2: whole words, without a branch
        // per bit.
        let word = match self.data.get(self.at..).and_then(|rest| rest.first_chunk()) {
            Some(&word) => u64::from_be_bytes(word),
            None => {
                self.over = true;
                0
            }
        };
        let count = self.count & 63;
        self.buffer |= word >> count;
        self.at += ((63 - count) >> 3) as usize;
        self.count = count | 56;
    }

    /// The next bits from the top: all 64 right after [`refill`](Self::refill), and zeros after the available
    /// ones.
    #[inline(always)]
    pub fn word(&self) -> u64 {
        self.buffer
    }

    /// The next `N` bits, without consuming them.
    #[inline(always)]
    pub fn peek<const N: u32>(&self) -> usize {
        (self.buffer >> (64 - N)) as usize
    }

    /// Skips as many bits as the lowest six bits of `n` say. They must be available.
    #[inline(always)]
    pub fn skip(&mut self, n: u64) {
        self.buffer <<= n & 63;
        self.count = self.count.wrapping_sub(n as u32);
    }

    /// Reads the next `n` bits, 0 to 15, as the difference or coefficient that they represent.
    #[inline(always)]
    pub fn extended(&mut self, n: u32) -> i32 {
        let value = Self::value(self.buffer, n);
        self.skip(n.into());
        value
    }

    /// The value of the upper `n` bits of `word` (T.81, F.2.2.1, EXTEND).
    #[inline(always)]
    pub fn value(word: u64, n: u32) -> i32 {
        // This takes two shifts. The second may be by 63 bits, for no bits at all.
        let value = ((word >> 1) >> (63 - (n & 15))) as i32;
        let negative = (word >> 63) as i32 - 1;
        value + (negative & (1 - (1 << (n & 15))))
    }

    /// Whether all of a tile of `length` bytes was read, except for less than a byte.
    pub fn ended_well(&self, length: usize) -> bool {
        let read = 8 * self.at as u64 - u64::from(self.count & 63);
        let all = 8 * length as u64;
        !self.over && read <= all && all - read < 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_from_the_top_and_zeros_behind_the_end() {
        let data = [0xA5, 0x0F, 0xFF, 0x01];
        let mut bits = BitReader::new(&data);
        bits.refill();
        assert_eq!(bits.peek::<12>(), 0, "no word to be had");
        assert!(!bits.ended_well(0));

        let mut padded = data.to_vec();
        padded.resize(data.len() + BitReader::SLACK, 0);
        let mut bits = BitReader::new(&padded);
        for (i, &byte) in data.iter().enumerate() {
            bits.refill();
            assert_eq!(bits.peek::<8>(), usize::from(byte), "{i}");
            assert_eq!(bits.peek::<3>(), usize::from(byte >> 5), "{i}");
            bits.skip(3);
            bits.skip(5);
            assert_eq!(bits.ended_well(data.len()), i + 1 == data.len(), "{i}");
        }
        bits.refill();
        assert_eq!(bits.peek::<16>(), 0);
        assert!(bits.ended_well(data.len()), "what is available is not yet read");
        bits.skip(1);
        assert!(!bits.ended_well(data.len()), "a bit too many");
    }

    #[test]
    fn differences_are_those_of_the_standard() {
        let value = |byte: u8, n: u32| {
            let mut data = vec![byte];
            data.resize(1 + BitReader::SLACK, 0);
            let mut bits = BitReader::new(&data);
            bits.refill();
            bits.extended(n)
        };
        assert_eq!([value(0x00, 1), value(0x80, 1)], [-1, 1]);
        assert_eq!(
            [0x00, 0x20, 0x40, 0x60, 0x80, 0xA0, 0xC0, 0xE0].map(|byte| value(byte, 3)),
            [-7, -6, -5, -4, 4, 5, 6, 7]
        );
    }
}
