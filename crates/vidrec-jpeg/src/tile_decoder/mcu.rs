//! Reads the blocks of an MCU, in one loop over all of them.
//!
//! A Huffman decoder spends its time on the dependency from one code to the next, and on mispredicted branches.
//! The branches are where a block ends, and where a symbol with its value is too long for the table. Here, neither
//! is a branch. A [step](super::steps) that ends a block selects the next block's DC table instead of the same AC
//! table again. A value that the table does not have is deferred. The step knows how many bits the value has, so
//! the loop keeps the bits with the place of the coefficient, and reads the value after all steps.

use std::hint::select_unpredictable;

use super::bits::BitReader;
use super::huffman::INDEX_BITS;
use super::huffman::{Ac, AcTable, BEYOND, DcTable, END, MOST_BITS, Steps, value_of};

/// The number of steps for which the 56 bits available after [`BitReader::refill`] are enough.
const STEPS: u32 = 56 / MOST_BITS;

/// The tables of the blocks.
pub(super) struct BlockTables<'a> {
    tables: [(&'a DcTable, &'a AcTable); 3],
    /// The tables of the next step in each block.
    next: [NextSteps<'a>; MCU],
}

/// The table of the next step: `ac` within a block, and `dc` at its end.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct NextSteps<'a> {
    ac: &'a Steps,
    dc: &'a Steps,
}

impl<'a> BlockTables<'a> {
    /// The tables of each component.
    pub fn new(tables: [(&'a DcTable, &'a AcTable); 3]) -> Self {
        let of = |block: usize| tables[component_of(block % MCU)];
        let next = std::array::from_fn(|block| NextSteps { ac: &of(block).1.steps, dc: &of(block + 1).0.steps });
        BlockTables { tables, next }
    }
}

/// The blocks of an MCU, and the buffers for reading them.
#[repr(C, align(64))]
pub(super) struct McuBlocks {
    /// One block after another. A step without a coefficient writes after its block, to the place of the next
    /// block's DC.
    coefficients: [i16; BLOCK * (MCU + 1)],
    zigzag: [u8; 128],
    /// Bits of deferred values, and one spare entry.
    words: [u64; BLOCK * MCU + 1],
    /// The places of those values.
    places: [u16; BLOCK * MCU + 1],
}

impl McuBlocks {
    pub fn new() -> Box<Self> {
        Box::new(McuBlocks {
            coefficients: [0; BLOCK * (MCU + 1)],
            zigzag: ZIGZAG,
            words: [0; BLOCK * MCU + 1],
            places: [0; BLOCK * MCU + 1],
        })
    }

    /// Reads the blocks of an MCU, and returns them with the bits that follow. `None` if no encoder writes such
    /// data.
    ///
    /// `predictions` has the DC of each component's last block, and then gets those of this MCU.
    #[inline(always)]
    pub fn read<'b>(
        &mut self,
        plan: &BlockTables<'_>,
        bits: BitReader<'b>,
        predictions: &mut [i16; 3],
    ) -> Option<(&[Block; MCU], BitReader<'b>)> {
        const STOP: usize = BLOCK * MCU;
        self.coefficients[..STOP].fill(0);
        let mut reader = McuReader { bits, steps: &plan.tables[0].0.steps, base: 0, last: 0, later: 0 };
        'refill: loop {
            reader.bits.refill();
            for _ in 0..STEPS {
                // SAFETY: the reader is new, or as `step` or `look_closer` left it, and its block is one of the
                // MCU's.
                if unsafe { reader.step(plan, self) }.is_none() {
                    reader = look_closer(reader, plan, self)?;
                    if reader.base < STOP {
                        continue 'refill;
                    }
                }
                if reader.base == STOP {
                    break 'refill;
                }
            }
        }
        for (&word, &place) in self.words[..reader.later].iter().zip(&self.places) {
            let coefficient = &mut self.coefficients[usize::from(place)];
            *coefficient = value_of(word, *coefficient);
        }
        let blocks: &mut [Block; MCU] = self.coefficients.as_chunks_mut().0.first_chunk_mut()?;
        for (i, block) in blocks.iter_mut().enumerate() {
            // The value read is the difference. libjpeg adds in 32 bits, and then takes the lower 16.
            let prediction = &mut predictions[component_of(i)];
            *prediction = prediction.wrapping_add(block[0]);
            block[0] = *prediction;
        }
        Some((blocks, reader.bits))
    }
}

/// The state of reading.
#[derive(Clone, Copy)]
struct McuReader<'a, 'b> {
    bits: BitReader<'b>,
    /// The table of the next step: a DC table at the start of a block, otherwise an AC table.
    steps: &'a Steps,
    /// The place where the block begins among the coefficients.
    base: usize,
    /// The last coefficient read in the block, in coding order; below 63.
    last: usize,
    /// The number of deferred values so far: at most one for each coefficient.
    later: usize,
}

impl<'a> McuReader<'a, '_> {
    /// Makes a step. Returns `None` if it needs a [closer look](look_closer). It has then written only zeros, and
    /// coefficients that get overwritten.
    ///
    /// # Safety
    ///
    /// `base` is that of one of the [`MCU`] blocks, and `last` is below 63. `later` is at most [`BLOCK`] for each
    /// block before this one, plus one for each coefficient of this one up to `last`. A new reader meets these
    /// conditions, and each step preserves them.
    #[inline(always)]
    unsafe fn step(&mut self, plan: &BlockTables<'a>, blocks: &mut McuBlocks) -> Option<()> {
        let step = self.steps[self.bits.peek::<INDEX_BITS>()];
        let ((place1, value1), (place2, value2)) = (step.first(), step.second());
        debug_assert!(self.base / BLOCK < MCU && self.last < 63 && self.later <= self.base + self.last + 1);
        debug_assert!(place1 <= BEYOND.into() && place2 <= BEYOND.into());
        // SAFETY: `base` is that of a block, and an element of `next` has as many bytes as a block has coefficients
        // (proven below), so the element is the block's. No step goes further than `BEYOND`, 64, so `last` plus a place
        // is below 128. All entries of `zigzag` are at most 64, so they lie within the block or right behind it, and
        // there is room for one more block. Each block has deferred at most 64 values, so there is room for one more.
        let NextSteps { ac, dc } = unsafe {
            let next = *plan.next.as_ptr().byte_add(self.base);
            let at1 = self.base + usize::from(*blocks.zigzag.get_unchecked(self.last + place1));
            *blocks.coefficients.get_unchecked_mut(at1) = value1;
            *blocks.words.get_unchecked_mut(self.later) = self.bits.word();
            *blocks.places.get_unchecked_mut(self.later) = at1 as u16;
            let at2 = self.base + usize::from(*blocks.zigzag.get_unchecked(self.last + place2));
            *blocks.coefficients.get_unchecked_mut(at2) = value2;
            next
        };
        let last = self.last + place2;
        if last >= 63 {
            return None;
        }
        step.skip(&mut self.bits);
        let ended = step.end() != 0;
        self.steps = select_unpredictable(ended, dc, ac);
        self.last = select_unpredictable(ended, 0, last);
        self.base += step.end();
        self.later += step.later();
        Some(())
    }
}

/// The distance from one block to the next.
const _: () = assert!(END == BLOCK && size_of::<NextSteps<'_>>() == BLOCK);

/// Makes a step that fills a block, and so ends it without an end code; or reads one symbol that is too long for a
/// step.
#[cold]
#[inline(never)]
fn look_closer<'a, 'b>(
    mut reader: McuReader<'a, 'b>,
    plan: &BlockTables<'a>,
    blocks: &mut McuBlocks,
) -> Option<McuReader<'a, 'b>> {
    let McuReader { bits, steps, base, last, later } = &mut reader;
    let block = *base / BLOCK;
    let (next, (dc, ac)) = (&plan.next[block], plan.tables[component_of(block)]);
    let step = steps[bits.peek::<INDEX_BITS>()];
    *last = if !std::ptr::eq(*steps, next.ac) {
        bits.refill();
        blocks.coefficients[*base] = dc.read(bits)? as i16;
        0
    } else if *last + step.second().0 == 63 && step.end() == 0 {
        step.skip(bits);
        *later += step.later();
        63
    } else {
        bits.refill();
        match ac.read(bits)? {
            Ac::Coefficient(place, value) => {
                let last = Some(*last + place).filter(|&last| last <= 63)?;
                blocks.coefficients[*base + usize::from(ZIGZAG[last])] = value;
                last
            }
            Ac::End => 63,
        }
    };
    *steps = next.ac;
    if *last == 63 {
        (*steps, *base, *last) = (next.dc, *base + BLOCK, 0);
    }
    Some(reader)
}

/// Coefficients of a block, row by row.
pub(crate) type Block = [i16; BLOCK];

/// Coefficients in a block.
pub(crate) const BLOCK: usize = 64;

/// The place of each coefficient in coding order (T.81, figure A.6). Places after the last coefficient map to 64,
/// which is not a coefficient.
pub(crate) const ZIGZAG: [u8; 128] = {
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

/// The number of blocks in an MCU: four of luma, then blue, then red.
pub(crate) const MCU: usize = 6;

/// The component of block `i` of an MCU. The first four are luma's.
#[inline(always)]
pub(crate) fn component_of(i: usize) -> usize {
    i.saturating_sub(3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vidrec_format::random::Random;

    /// The number of codes of each length, and their symbols.
    type WrittenCode = ([u8; 16], Vec<u8>);

    /// Creates a code for these symbols, with any lengths.
    fn code(random: &mut Random, symbols: Vec<u8>) -> WrittenCode {
        loop {
            let mut counts = [0u8; 16];
            let shortest = random.below(6);
            symbols.iter().for_each(|_| counts[(shortest + random.below(16 - shortest)) as usize] += 1);
            if AcTable::new(&counts, &symbols).is_some() {
                return (counts, symbols);
            }
        }
    }

    /// Writes bits in the simplest way.
    #[derive(Default)]
    struct Output(Vec<bool>);

    impl Output {
        fn bits(&mut self, value: u32, n: u32) {
            self.0.extend((0..n).rev().map(|i| value >> i & 1 == 1));
        }

        /// Writes a random symbol of `code` that `wanted` accepts, with a random value after it.
        fn symbol(
            &mut self,
            random: &mut Random,
            (counts, symbols): &WrittenCode,
            wanted: impl Fn(u8) -> bool,
        ) -> (u8, i16) {
            let choice = symbols.iter().filter(|&&symbol| wanted(symbol)).count() as u64;
            let (place, &symbol) = symbols
                .iter()
                .enumerate()
                .filter(|&(_, &symbol)| wanted(symbol))
                .nth(random.below(choice) as usize)
                .unwrap();
            let (mut code, mut first, mut length) = (0, 0, 0);
            while first + usize::from(counts[length]) <= place {
                first += usize::from(counts[length]);
                code = (code + u32::from(counts[length])) << 1;
                length += 1;
            }
            self.bits(code + (place - first) as u32, length as u32 + 1);
            let extra = u32::from(symbol & 15);
            let bits = random.below(1 << extra) as i32;
            self.bits(bits as u32, extra);
            (symbol, if extra > 0 && bits < 1 << (extra - 1) { bits - (1 << extra) + 1 } else { bits } as i16)
        }

        /// Writes a random block (T.81, F.1.2), whose DC is a difference.
        fn block(&mut self, random: &mut Random, dc: &WrittenCode, ac: &WrittenCode) -> Block {
            let mut block = [0; BLOCK];
            block[0] = self.symbol(random, dc, |_| true).1;
            let mut last = 0;
            while last < 63 {
                let fits = |symbol: u8| last + usize::from(symbol >> 4) < 63 && (last < 47 || symbol != 0xF0);
                let (symbol, value) = self.symbol(random, ac, fits);
                if symbol == 0 {
                    break;
                }
                last += usize::from(symbol >> 4) + 1;
                block[usize::from(ZIGZAG[last])] = value;
            }
            block
        }

        fn bytes(&self) -> Vec<u8> {
            let byte =
                |bits: &[bool]| bits.iter().enumerate().fold(0, |byte, (i, &bit)| byte | u8::from(bit) << (7 - i));
            self.0.chunks(8).map(byte).chain([0; BitReader::SLACK]).collect()
        }
    }

    #[test]
    fn whatever_is_written_in_any_code_is_read_and_damage_does_no_harm() {
        let (mut read, mut refused) = (0, 0);
        for seed in 0..if cfg!(miri) { 3 } else { 2000 } {
            let random = &mut Random::new(seed, &[7]);
            let widest = 1 + random.below(15);
            let codes: [(WrittenCode, WrittenCode); 3] = std::array::from_fn(|_| {
                let dc = (0..=random.below(12)).map(|_| random.below(widest + 1) as u8).collect();
                let (runs, many) = (1 + random.below(15), random.below(60));
                let mut ac: Vec<_> =
                    (0..many).map(|_| (random.below(runs) << 4 | (1 + random.below(widest))) as u8).collect();
                ac.insert(random.below(many / 4 + 1) as usize, 0);
                ac.insert(random.below(many / 2 + 1) as usize, 0xF0);
                (code(random, dc), code(random, ac))
            });
            let tables =
                codes.each_ref().map(|((n, dc), (m, ac))| (DcTable::new(n, dc).unwrap(), AcTable::new(m, ac).unwrap()));
            let mut output = Output::default();
            let mut mcu = || -> Vec<_> {
                (0..MCU).map(component_of).map(|i| output.block(random, &codes[i].0, &codes[i].1)).collect()
            };
            let mcus = [mcu(), mcu(), mcu()];

            let mut data = output.bytes();
            let (plan, mut blocks) = (BlockTables::new(tables.each_ref().map(|(dc, ac)| (dc, ac))), McuBlocks::new());
            let (mut bits, mut predictions, mut sums) = (BitReader::new(&data), [0; 3], [0i16; 3]);
            for mut expected in mcus {
                for (i, block) in expected.iter_mut().enumerate() {
                    let sum = &mut sums[component_of(i)];
                    *sum = sum.wrapping_add(block[0]);
                    block[0] = *sum;
                }
                let (found, behind) = blocks.read(&plan, bits, &mut predictions).unwrap();
                assert!(found[..] == expected[..], "{seed}");
                bits = behind;
            }
            assert!(bits.ended_well(data.len() - BitReader::SLACK), "{seed}");

            for _ in 0..if cfg!(miri) { 2 } else { 20 } {
                let damaged = random.below(data.len() as u64) as usize;
                data[damaged] ^= random.next_u32() as u8;
                let mut bits = BitReader::new(&data);
                for _ in 0..3 {
                    match blocks.read(&plan, bits, &mut [0; 3]) {
                        Some((_, behind)) => (bits, read) = (behind, read + 1),
                        None => refused += 1,
                    }
                }
            }
        }
        assert!(cfg!(miri) || (read > 100 && refused > 100), "{read} {refused}");
    }
}
