//! Bits, the highest of each byte first.

/// Reads bits. After the last one, it reads zeros, and [`is_beyond`](Self::is_beyond) is true.
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> BitReader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        BitReader { bytes, at: 0 }
    }

    /// The next bits, of which at least 57 are valid.
    #[inline]
    fn peek(&self) -> u64 {
        let rest = self.bytes.get(self.at / 8..).unwrap_or_default();
        let next = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut last = [0; 8];
            last[..rest.len().min(8)].copy_from_slice(rest);
            last
        });
        u64::from_be_bytes(next) << (self.at % 8)
    }

    /// Reads at most 32 bits.
    pub fn bits(&mut self, count: u32) -> u32 {
        let found = self.peek().checked_shr(64 - count).unwrap_or(0);
        self.at += count as usize;
        found as u32
    }

    /// Reads a number in two's complement of at most 32 bits.
    pub fn signed(&mut self, count: u32) -> i32 {
        let found = (self.peek() as i64).checked_shr(64 - count).unwrap_or(0);
        self.at += count as usize;
        found as i32
    }

    /// Reads zeros up to a one, and returns how many there are.
    pub fn unary(&mut self) -> u32 {
        let mut zeros = 0u32;
        while !self.is_beyond() {
            let next = self.peek() >> 7;
            if next != 0 {
                let more = next.leading_zeros() - 7;
                self.at += more as usize + 1;
                return zeros.saturating_add(more);
            }
            zeros = zeros.saturating_add(57);
            self.at += 57;
        }
        zeros
    }

    /// Reads a number in Rice's code with this parameter, of which small ones of either sign are short.
    #[inline]
    pub fn rice(&mut self, parameter: u32) -> i32 {
        let next = self.peek();
        let zeros = next.leading_zeros();
        let folded = if zeros + 1 + parameter <= 57 {
            self.at += (zeros + 1 + parameter) as usize;
            // Twice, because no shift is by all bits.
            let low = (next << zeros << 1) >> 1 >> (63 - parameter);
            (zeros << parameter) | low as u32
        } else {
            (self.unary() << parameter) | self.bits(parameter)
        };
        (folded >> 1) as i32 ^ -((folded & 1) as i32)
    }

    /// Whether more bits were read than there are.
    pub fn is_beyond(&self) -> bool {
        self.at > 8 * self.bytes.len()
    }

    /// The number of bytes that have been begun.
    pub fn bytes_read(&self) -> usize {
        self.at.div_ceil(8)
    }
}

/// Collects bits.
#[derive(Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// Bits that are not yet a byte, and how many.
    rest: (u64, u32),
}

impl BitWriter {
    pub fn new(bytes: Vec<u8>) -> Self {
        BitWriter { bytes, rest: (0, 0) }
    }

    /// Writes the lowest bits of a number, at most 32.
    pub fn bits(&mut self, number: u32, count: u32) {
        let (bits, held) = self.rest;
        let mask = (1u64 << count) - 1;
        let (bits, mut held) = ((bits << count) | (u64::from(number) & mask), held + count);
        while held >= 8 {
            held -= 8;
            self.bytes.push((bits >> held) as u8);
        }
        self.rest = (bits & ((1 << held) - 1), held);
    }

    pub fn signed(&mut self, number: i32, count: u32) {
        self.bits(number as u32, count);
    }

    /// Writes a number in Rice's code: see [`BitReader::rice`].
    pub fn rice(&mut self, number: i32, parameter: u32) {
        let folded = fold(number);
        let mut zeros = folded >> parameter;
        while zeros > 0 {
            let some = zeros.min(32);
            self.bits(0, some);
            zeros -= some;
        }
        self.bits(1, 1);
        self.bits(folded, parameter);
    }

    /// Fills the last byte with zeros, and returns all bytes.
    pub fn finish(mut self) -> Vec<u8> {
        let fill = self.rest.1.wrapping_neg() % 8;
        self.bits(0, fill);
        self.bytes
    }
}

/// Signed numbers as 0, -1, 1, -2, 2 and so on.
pub(super) fn fold(number: i32) -> u32 {
    ((number << 1) ^ (number >> 31)) as u32
}
