//! Huffman tables, made for speed: one look-up gives a symbol with the bits that follow it, and often two of them.

use super::bits::Bits;

/// A code as the JPEG gives it: how many codes have each length, and their symbols in order (T.81, annex C).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Code {
    /// For each length, the first code that is too large for it or any shorter one, as 16 bits from the top.
    limits: [u32; 17],
    /// For each length, what to add to a code of it for the place of its symbol.
    offsets: [i32; 17],
    symbols: [u8; 256],
}

impl Code {
    /// None unless libjpeg takes it (jdhuff.c, `jpeg_make_d_derived_tbl`): no more codes than there can be, none all ones.
    pub fn new(counts: &[u8; 16], symbols: &[u8]) -> Option<Self> {
        let mut code = Code { limits: [0; 17], offsets: [0; 17], symbols: [0; 256] };
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

    /// The symbol that 16 bits begin with, and the length of its code; none if they begin with no code.
    fn look_up(&self, bits: u32) -> Option<(u8, u32)> {
        let length = (1..=16).find(|&length| bits < self.limits[length])?;
        let place = (bits >> (16 - length)) as i32 + self.offsets[length];
        Some((self.symbols[place as usize & 255], length as u32))
    }

    /// Reads a symbol. Needs 16 bits.
    fn read(&self, bits: &mut Bits<'_>) -> Option<u8> {
        let (symbol, length) = self.look_up(bits.peek::<16>() as u32)?;
        bits.skip(length);
        Some(symbol)
    }

    /// For all that the first `N` bits can be: the symbol in the upper half, the length of its code in the lower; 0 where
    /// the code is longer.
    fn first_bits<const N: u32>(&self) -> Box<[u16]> {
        let mut table = vec![0; 1 << N].into_boxed_slice();
        for length in 1..=N {
            let codes = |length: u32| self.limits[length as usize] >> (16 - N);
            let of_length = &mut table[codes(length - 1) as usize..codes(length) as usize];
            let first = (self.limits[length as usize - 1] >> (16 - length)) as i32 + self.offsets[length as usize];
            for (i, same) in of_length.chunks_mut(1 << (N - length)).enumerate() {
                same.fill(u16::from(self.symbols[(first as usize + i) & 255]) << 8 | length as u16);
            }
        }
        table
    }
}

/// For all that `N` bits can be: the symbol with the bits that follow it, if all of them are there.
fn whole_symbols<const N: u32>(first_bits: &[u16]) -> Vec<Option<Whole>> {
    let whole = |(bits, &entry): (usize, &u16)| {
        let (symbol, length) = ((entry >> 8) as u8, u32::from(entry & 0xFF));
        let extra = u32::from(symbol & 15);
        if length == 0 || length + extra > N {
            return None;
        }
        let value = (bits as i32 >> (N - length - extra)) & ((1 << extra) - 1);
        let negative = extra > 0 && value < 1 << (extra - 1);
        let value = if negative { value - (1 << extra) + 1 } else { value };
        Some(Whole { run: symbol >> 4, extra: extra as u8, value: value as i16, length: (length + extra) as u8 })
    };
    first_bits.iter().enumerate().map(whole).collect()
}

/// A symbol with the bits that follow it.
#[derive(Debug, Clone, Copy)]
struct Whole {
    run: u8,
    /// How many bits follow,
    extra: u8,
    /// and what they stand for.
    value: i16,
    /// Bits in all.
    length: u8,
}

/// A code with a table for what its codes' first `N` bits say: the symbol in the upper half, the length of its code in
/// the lower; 0 where the code is longer.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Indexed<const N: u32> {
    code: Code,
    symbols: Box<[u16]>,
}

impl<const N: u32> Indexed<N> {
    fn new(code: Code) -> Self {
        Indexed { symbols: code.first_bits::<N>(), code }
    }

    /// Reads a symbol. Needs 16 bits.
    #[inline(always)]
    fn read(&self, bits: &mut Bits<'_>) -> Option<u8> {
        let entry = *self.symbols.get(bits.peek::<N>())?;
        if entry == 0 {
            return self.code.read(bits);
        }
        bits.skip((entry & 0xFF).into());
        Some((entry >> 8) as u8)
    }
}

/// Differences of DC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DcTable(Indexed<10>);

impl DcTable {
    /// None unless libjpeg takes the code for DC: differences of at most 15 bits.
    pub fn new(counts: &[u8; 16], symbols: &[u8]) -> Option<Self> {
        let legal = symbols.iter().all(|&symbol| symbol <= 15);
        legal.then(|| Code::new(counts, symbols).map(Indexed::new).map(DcTable))?
    }

    /// Reads a difference. Needs 31 bits.
    #[inline(always)]
    pub fn read(&self, bits: &mut Bits<'_>) -> Option<i32> {
        let extra = self.0.read(bits)?;
        Some(bits.extended(extra.into()))
    }
}

/// Coefficients other than DC, one or two at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AcTable {
    code: Indexed<AC_BITS>,
    steps: Box<[u64; 1 << AC_BITS]>,
}

const AC_BITS: u32 = 11;

/// Steps that can be made of the 56 bits that there are after [`Bits::refill`].
const STEPS: u32 = 56 / AC_BITS;

/// How far a step goes in the end of a block, and where it writes what is not there: behind all coefficients.
const NOWHERE: u8 = 64;
const END: u8 = 128;

/// Where coefficients lie: first those of the block in rows, then room for what is written [`NOWHERE`].
pub(super) type Block = [i16; 128];

/// The place of each coefficient in the order in which they are coded (T.81, figure A.6), then that of none.
pub(super) const ZIGZAG: [u8; 128] = {
    let mut order = [64; 128];
    let (mut i, mut diagonal) = (0, 0);
    while diagonal < 15 {
        let mut step = 0;
        while step <= diagonal {
            let (row, column) = if diagonal % 2 == 0 { (diagonal - step, step) } else { (step, diagonal - step) };
            if row < 8 && column < 8 {
                order[i] = (row * 8 + column) as u8;
                i += 1;
            }
            step += 1;
        }
        diagonal += 1;
    }
    order
};

/// What one look-up says: up to two coefficients, each with how many places on it stands from the last, and the end of
/// the block behind them.
#[derive(Clone, Copy)]
struct Step {
    /// Bits in all.
    length: u8,
    /// From the last coefficient to the first and to the second; [`NOWHERE`] for none.
    places: [u8; 2],
    values: [i16; 2],
    /// From the last coefficient to the new last one, and [`END`] if the block ends.
    advance: u8,
}

impl Step {
    /// Nothing to be known from so few bits: ends the loop, which then looks closer.
    const UNKNOWN: Step = Step { length: 0, places: [NOWHERE; 2], values: [0; 2], advance: 255 };

    fn pack(self) -> u64 {
        let [v1, v2] = self.values.map(|value| u64::from(value as u16));
        let [p1, p2] = self.places.map(u64::from);
        u64::from(self.length) | p1 << 8 | p2 << 16 | u64::from(self.advance) << 24 | v1 << 32 | v2 << 48
    }

    #[inline(always)]
    fn unpack(entry: u64) -> Self {
        let byte = |i: u32| (entry >> (8 * i)) as u8;
        let values = [(entry >> 32) as i16, (entry >> 48) as i16];
        Step { length: byte(0), places: [byte(1), byte(2)], values, advance: byte(3) }
    }
}

impl AcTable {
    /// None unless libjpeg takes the code.
    pub fn new(counts: &[u8; 16], symbols: &[u8]) -> Option<Self> {
        let code = Indexed::<AC_BITS>::new(Code::new(counts, symbols)?);
        let whole = whole_symbols::<AC_BITS>(&code.symbols);
        let mut steps = Box::new([0; 1 << AC_BITS]);
        for (bits, to) in steps.iter_mut().enumerate() {
            *to = step(&whole, bits).pack();
        }
        Some(AcTable { code, steps })
    }

    /// Reads the coefficients behind DC into a block of zeros, and says where the last one stands in the order in which
    /// they are coded: 0 if there are none. None if the data says what no encoder does.
    #[inline(always)]
    pub fn read(&self, bits: &mut Bits<'_>, block: &mut Block) -> Option<usize> {
        let mut last = 0;
        'refill: loop {
            bits.refill();
            for _ in 0..STEPS {
                let step = Step::unpack(self.steps[bits.peek::<AC_BITS>()]);
                for (place, value) in step.places.into_iter().zip(step.values) {
                    let at = ZIGZAG[(last + usize::from(place)) & 127];
                    block[usize::from(at) & 127] = value;
                }
                let next = last + usize::from(step.advance);
                if next < 63 {
                    bits.skip(step.length.into());
                    last = next;
                    continue;
                }
                // The block is full, or it ends before it is; anything else may have taken a symbol of the next block.
                if next == 63 || (END.into()..usize::from(END) + 63).contains(&next) {
                    bits.skip(step.length.into());
                    return Some(next & 63);
                }
                match self.read_one(bits, last, block)? {
                    next if next < 63 => last = next,
                    next => return Some(next & 63),
                }
                continue 'refill;
            }
        }
    }

    /// The same for one symbol, behind coefficient `last`: says which is last now, plus [`END`] if the block ends.
    #[inline(always)]
    fn read_one(&self, bits: &mut Bits<'_>, last: usize, block: &mut Block) -> Option<usize> {
        bits.refill();
        let symbol = self.code.read(bits)?;
        let (run, extra) = (usize::from(symbol >> 4), u32::from(symbol & 15));
        if extra == 0 {
            // Sixteen zeros, or the end.
            let next = if run == 15 { last + 16 } else { last + usize::from(END) };
            return (next < 63 || run != 15).then_some(next);
        }
        let next = last + run + 1;
        let value = bits.extended(extra);
        block[usize::from(*ZIGZAG.get(next).filter(|_| next < 64)?)] = value as i16;
        Some(next)
    }
}

/// What the symbols say that `bits`, of [`AC_BITS`], begin with.
fn step(whole: &[Option<Whole>], bits: usize) -> Step {
    let mut step = Step { length: 0, places: [NOWHERE; 2], values: [0; 2], advance: 0 };
    let mut coefficients = 0;
    loop {
        let rest = bits << step.length & ((1 << AC_BITS) - 1);
        let Some(symbol) = whole[rest].filter(|symbol| u32::from(step.length + symbol.length) <= AC_BITS) else {
            break;
        };
        let end = symbol.extra == 0 && symbol.run < 15;
        if !end && coefficients == step.places.len() {
            break;
        }
        step.length += symbol.length;
        if end {
            step.advance += END;
            return step;
        }
        step.advance += if symbol.extra == 0 { 16 } else { symbol.run + 1 };
        if symbol.extra > 0 {
            step.places[coefficients] = step.advance;
            step.values[coefficients] = symbol.value;
        }
        coefficients += 1;
    }
    if step.length == 0 { Step::UNKNOWN } else { step }
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
        assert!(Code::new(&counts(&[(1, 1), (2, 1)]), &symbols(2)).is_some());
        for (pairs, n) in [
            (&[(1, 2)][..], 2),         // one is all ones
            (&[(1, 3)], 3),             // more than there can be
            (&[(1, 1), (16, 255)], 10), // too few symbols
            (&[(8, 254), (9, 3), (10, 2)], 259),
        ] {
            assert!(Code::new(&counts(pairs), &symbols(n)).is_none(), "{pairs:?}");
        }
        let all = counts(&[(15, 255), (16, 255)]);
        assert!(Code::new(&all, &symbols(510)).is_none(), "more symbols than bytes");
        assert!(AcTable::new(&[0; 16], &[]).is_some(), "no codes at all, of which nothing can be read");
        assert!(DcTable::new(&counts(&[(2, 1)]), &[16]).is_none());
    }

    #[test]
    fn the_table_says_what_a_search_says() {
        let mut counts = [0, 1, 2, 1, 1, 2, 0, 3, 1, 0, 4, 2, 0, 5, 1, 9];
        for more in 0..3 {
            counts[11] += more;
            let symbols: Vec<_> = (0..counts.iter().sum()).map(|i: u8| i.wrapping_mul(37)).collect();
            let code = Code::new(&counts, &symbols).unwrap();
            for (bits, &entry) in code.first_bits::<11>().iter().enumerate() {
                let found = code.look_up((bits as u32) << 5).filter(|&(_, length)| length <= 11);
                assert_eq!(entry, found.map_or(0, |(symbol, length)| u16::from(symbol) << 8 | length as u16));
            }
        }
    }
}
