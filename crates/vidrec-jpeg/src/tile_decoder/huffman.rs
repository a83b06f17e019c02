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

/// The steps for every value of the next [`INDEX_BITS`] bits.
pub(super) type Steps = [Step; 1 << INDEX_BITS];

/// Up to two coefficients, and perhaps the end of the block after them. All of it takes 64 bits:
///
/// | bits | |
/// |---|---|
/// | 0..6 | number of bits of the step, at most [`MOST_BITS`] |
/// | 6 | [`END`]: the block ends |
/// | 8..16 | distance from the last coefficient to the first one of the step |
/// | 16..32 | value of the first one |
/// | 32..48 | value of the second one |
/// | 48 | there is one coefficient, whose value is deferred: see [`later`](Self::later) |
/// | 56..64 | distance from the last coefficient to the second one, which becomes the last |
///
/// A single coefficient is both the first and the second. If there is none, a zero goes to a place that is already
/// zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step(u64);

/// The maximum number of bits of a step: enough for any DC difference below 1,024 in the usual codes.
pub(super) const MOST_BITS: u32 = 18;

/// The bit of a step that marks the end of the block.
pub(super) const END: usize = 64;

/// A distance beyond all coefficients, wherever the last one is. No place in a step is farther.
pub(super) const BEYOND: u8 = 64;

impl Step {
    /// The step for bits that are too few to decide.
    const UNKNOWN: Step = Step::new(0, [(BEYOND, 0); 2]);

    /// Creates a step of `length` bits and two coefficients, each with its distance from the last one and its
    /// value.
    const fn new(length: u8, [(place1, value1), (place2, value2)]: [(u8, i16); 2]) -> Self {
        let values = (value1 as u16 as u64) << 16 | (value2 as u16 as u64) << 32;
        Step(length as u64 | (place1 as u64) << 8 | values | (place2 as u64) << 56)
    }

    /// The first coefficient: its distance from the last one, at most [`BEYOND`], and its value.
    #[inline(always)]
    pub fn first(self) -> (usize, i16) {
        ((self.0 >> 8) as u8 as usize, (self.0 >> 16) as i16)
    }

    /// The second coefficient, in the same form.
    #[inline(always)]
    pub fn second(self) -> (usize, i16) {
        ((self.0 >> 56) as usize, (self.0 >> 32) as i16)
    }

    /// Returns [`END`] if the block ends, otherwise 0.
    #[inline(always)]
    pub fn end(self) -> usize {
        self.0 as usize & END
    }

    /// Returns 1 if [`value_of`] must read the coefficient's value, otherwise 0. It reads the value from the bits
    /// that selected this step, and from the value in the step.
    #[inline(always)]
    pub fn later(self) -> usize {
        (self.0 >> 48) as usize & 1
    }

    /// Skips the step's bits.
    #[inline(always)]
    pub fn skip(self, bits: &mut BitReader<'_>) {
        bits.skip(self.0);
    }

    /// The step of the first symbol of `bits`, as far as [`INDEX_BITS`] show it, with a deferred value.
    fn without_value(code: &IndexedCode, bits: usize, place: impl Fn(u8) -> u8) -> Self {
        let Some((symbol, length)) = code.look_up(bits) else { return Step::UNKNOWN };
        let (run, extra) = (symbol >> 4, symbol & 15);
        if u32::from(length + extra) > MOST_BITS {
            return Step::UNKNOWN;
        }
        let value = i16::from_le_bytes([length, extra]);
        let Step(step) = Step::new(length + extra, [(place(run), value); 2]);
        Step(step | 1 << 48)
    }
}

/// The value of a coefficient that was deferred: see [`later`](Step::later).
#[inline(always)]
pub(super) fn value_of(bits: u64, step_value: i16) -> i16 {
    let [length, extra] = step_value.to_le_bytes();
    BitReader::value(bits << (length & 63), extra.into()) as i16
}

/// Differences of DC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DcTable {
    code: IndexedCode,
    pub steps: Box<Steps>,
}

impl DcTable {
    /// Whether libjpeg accepts the code for DC: differences of at most 15 bits.
    pub fn accepts(counts: &[u8; 16], symbols: &[u8]) -> bool {
        symbols.iter().all(|&symbol| symbol <= 15) && HuffmanCode::new(counts, symbols).is_some()
    }

    /// Returns `None` unless the table [accepts](Self::accepts) the code.
    pub fn new(counts: &[u8; 16], symbols: &[u8]) -> Option<Self> {
        if !Self::accepts(counts, symbols) {
            return None;
        }
        let code = IndexedCode::new(HuffmanCode::new(counts, symbols)?);
        let mut steps = Box::new([Step::UNKNOWN; 1 << INDEX_BITS]);
        let mut bits = 0;
        while bits < steps.len() {
            // Values that begin with the same symbol follow each other.
            let shared = code.look_up(bits).map_or(1, |(_, length)| 1 << INDEX_BITS.saturating_sub(length.into()));
            steps[bits..bits + shared].fill(Step::without_value(&code, bits, |_| 0));
            bits += shared;
        }
        Some(DcTable { steps, code })
    }

    /// Reads a difference. Needs 31 bits.
    pub fn read(&self, bits: &mut BitReader<'_>) -> Option<i32> {
        let extra = self.code.read(bits)?;
        Some(bits.extended(extra.into()))
    }
}

/// Coefficients other than DC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AcTable {
    code: IndexedCode,
    pub steps: Box<Steps>,
}

/// The effect of a symbol on the coefficients.
pub(super) enum Ac {
    /// A coefficient at this distance from the last one, or a zero that ends a run of sixteen.
    Coefficient(usize, i16),
    End,
}

impl AcTable {
    /// Whether libjpeg accepts the code.
    pub fn accepts(counts: &[u8; 16], symbols: &[u8]) -> bool {
        HuffmanCode::new(counts, symbols).is_some()
    }

    /// Returns `None` unless libjpeg accepts the code.
    pub fn new(counts: &[u8; 16], symbols: &[u8]) -> Option<Self> {
        let code = IndexedCode::new(HuffmanCode::new(counts, symbols)?);
        let singles = singles(&code);
        let mut steps = Box::new([Step::UNKNOWN; 1 << INDEX_BITS]);
        steps.iter_mut().enumerate().for_each(|(bits, to)| *to = ac_step(&code, &singles, bits));
        Some(AcTable { steps, code })
    }

    /// Reads a symbol and its value. Needs 31 bits.
    pub fn read(&self, bits: &mut BitReader<'_>) -> Option<Ac> {
        let symbol = self.code.read(bits)?;
        let (run, extra) = (symbol >> 4, symbol & 15);
        let value = bits.extended(extra.into()) as i16;
        Some(if run < 15 && extra == 0 { Ac::End } else { Ac::Coefficient(usize::from(run) + 1, value) })
    }
}

/// The first symbol of a value of [`INDEX_BITS`] bits, with the coefficient that follows it.
#[derive(Debug, Clone, Copy)]
struct Single {
    /// The bits of both; more than [`INDEX_BITS`] if the value does not show all of them.
    length: u8,
    /// The distance from the last coefficient; 0 if the symbol ends the block.
    further: u8,
    value: i16,
}

/// The symbols of all values. Values that begin with the same symbol and coefficient follow each other.
fn singles(code: &IndexedCode) -> [Single; 1 << INDEX_BITS] {
    let mut singles = [Single { length: u8::MAX, further: 0, value: 0 }; 1 << INDEX_BITS];
    let mut bits = 0;
    while bits < singles.len() {
        let mut shared = 1;
        if let Some((symbol, code_length)) = code.look_up(bits) {
            let (run, extra) = (symbol >> 4, symbol & 15);
            let length = code_length + extra;
            let further = if run < 15 && extra == 0 { 0 } else { run + 1 };
            let value = BitReader::value((bits as u64) << (64 - INDEX_BITS) << code_length, extra.into()) as i16;
            shared = 1 << INDEX_BITS.saturating_sub(length.into());
            singles[bits..bits + shared].fill(Single { length, further, value });
        }
        bits += shared;
    }
    singles
}

/// The step of the symbols at the beginning of `bits`, which has [`INDEX_BITS`] bits.
fn ac_step(code: &IndexedCode, singles: &[Single; 1 << INDEX_BITS], bits: usize) -> Step {
    let (mut length, mut place, mut found) = (0, 0, [(0, 0); 2]);
    let mut count = 0;
    loop {
        let Single { length: more, further, value } = singles[bits << length & ((1 << INDEX_BITS) - 1)];
        let (behind, end) = (more.saturating_add(length), further == 0);
        if u32::from(behind) > INDEX_BITS || (count == 2 && !end) {
            break;
        }
        if end {
            // The zero of an end alone goes after the last coefficient, to a place that is already zero.
            let nothing = (1, 0);
            let [first, second] = if count == 0 { [nothing; 2] } else { found };
            let Step(step) = Step::new(behind, [first, second]);
            return Step(step | END as u64);
        }
        place += further;
        found[1] = (place, value);
        if count == 0 {
            found[0] = found[1];
        }
        (length, count) = (behind, count + 1);
    }
    if count == 0 { Step::without_value(code, bits, |run| run + 1) } else { Step::new(length, found) }
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

    #[test]
    fn tables_that_libjpeg_refuses_are_refused() {
        let mut counts = [0; 16];
        assert!(AcTable::new(&counts, &[]).is_some(), "no codes at all, of which nothing can be read");
        counts[1] = 1;
        assert!(DcTable::new(&counts, &[15]).is_some() && DcTable::new(&counts, &[16]).is_none());
    }

    #[test]
    fn no_step_is_longer_or_goes_further_than_promised() {
        // Short codes for the longest runs and values.
        let symbols = [0xF0, 0xFF, 0x00, 0xF1, 0x11, 0x0F, 0x01];
        let tables = [[0, 3, 0, 3], [1, 1, 1, 1], [0, 0, 7, 0]].map(|first| {
            let mut counts = [0; 16];
            counts[..4].copy_from_slice(&first);
            AcTable::new(&counts, &symbols[..first.iter().map(|&n| usize::from(n)).sum()]).unwrap()
        });
        for step in tables.iter().flat_map(|table| table.steps.iter()) {
            let (length, (first, _), (second, _)) = (step.0 as u32 & 63, step.first(), step.second());
            assert!(length <= MOST_BITS && first <= second && second <= BEYOND.into(), "{step:?}");
            assert!(length > 0 || *step == Step::UNKNOWN);
            assert!(step.later() == 0 || step.end() == 0);
        }
    }
}
