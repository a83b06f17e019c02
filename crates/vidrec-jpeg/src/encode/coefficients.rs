//! The choice of the coefficients of a block that are worth their bits.
//!
//! A coefficient that is not zero costs bits, whose number depends on the zeros before it. A coefficient that is
//! not rounded to the nearest value costs distortion. The best values are a shortest path, which dynamic
//! programming finds: Ramchandran and Vetterli, "Rate-Distortion Optimal Fast Thresholding with Complete JPEG/MPEG
//! Decoder Compatibility", IEEE Trans. Image Processing 3 (1994); Crouse and Ramchandran, "Joint Thresholding and
//! Quantizer Selection for Transform Image Coding", IEEE Trans. Image Processing 6 (1997).
//!
//! Here, more zeros before a coefficient never reduce a cost ([`Costs`]). A path to an earlier coefficient is
//! therefore never part of the best path if it is not cheaper than one to a later coefficient. A coefficient is
//! sure if, after the last one that is sure, it saves more distortion than it costs. It is then part of the best
//! path, whatever follows. Most coefficients are sure and need no search.

use super::dct::Scaled;
use super::huffman::Code;
use super::huffman::{Block, END, ZEROS, bits_of};
use super::order::COLUMNS;

/// The coefficients that are not zero: place in zigzag order, and value.
pub(super) type Values = [(u8, i16); 64];

/// A path to a coefficient that is not zero.
#[derive(Debug, Clone, Copy)]
struct Path {
    /// The place of the coefficient in zigzag order; 0 if there is none.
    place: u32,
    /// The number of the step; 0 if there is none.
    step: u32,
    /// The cost of the bits, plus the distortion, less the distortion of zeros alone.
    cost: f32,
}

/// Chooses the values of blocks.
#[derive(Debug)]
pub(super) struct AcChooser {
    /// For each coefficient that may be nonzero, from 1: its place, the step before, its value.
    steps: [(u8, u8, i16); 64],
    /// The paths that may be part of the best path, the cheapest first.
    paths: [Path; 64],
    values: Values,
}

const START: Path = Path { place: 0, step: 0, cost: 0.0 };

impl AcChooser {
    pub fn new() -> Self {
        AcChooser { steps: [(0, 0, 0); 64], paths: [START; 64], values: [(0, 0); 64] }
    }

    /// Adds the values of a block. Only the coefficients in `mask`, by zigzag order, may be nonzero.
    #[inline]
    pub fn choose(&mut self, scaled: &Scaled, mut mask: u64, costs: &Costs, block: &mut Block<'_>) {
        let mut last = 0;
        while mask != 0 {
            let place = mask.trailing_zeros();
            let signed = at(scaled, place);
            let size = signed.abs();
            let (rounded, nearest) = round(size);
            let bits = bits_of_float(rounded).min(MOST_BITS);
            let zeros = (place - last - 1) as usize & 63;
            let cost = costs.ac[bits][zeros];
            // The coefficient costs at most as much as it saves, so it belongs to the best path, whatever follows.
            if cost + rounded * (rounded - 2.0 * size) <= 0.0 {
                // One less saves a bit if the smaller value has one bit less. It is worth a try if the distortion
                // is about the same.
                let saved = cost - costs.ac[bits.max(1) - 1][zeros];
                let less = (nearest & (nearest - 1) == 0) & (nearest > 1) & (2.0 * (size - rounded) + 1.0 < saved);
                let value = nearest as i32 - i32::from(less);
                block.value(place, if signed < 0.0 { -value } else { value }, bits - usize::from(less));
                last = place;
                mask &= mask - 1;
            } else {
                let (count, rest);
                (last, count, rest) = self.search(scaled, mask, costs, last);
                mask = rest;
                for &(place, value) in &self.values[..count & 63] {
                    let value = i32::from(value);
                    block.value(place.into(), value, bits_of(value.unsigned_abs()));
                }
            }
        }
    }

    /// Finds the best path from the coefficient at `last_place` through those in `mask`, up to the point where
    /// only one path is left. Returns the end of the path, its number of values, and the rest of the mask.
    fn search(&mut self, scaled: &Scaled, mut mask: u64, costs: &Costs, last_place: u32) -> (u32, usize, u64) {
        self.paths[0] = Path { place: last_place, ..START };
        let (mut last, mut step, mut full) = (0, 0, f32::INFINITY);
        while mask != 0 {
            let place = mask.trailing_zeros();
            mask &= mask - 1;
            let signed = at(scaled, place);
            let size = signed.abs();
            let (rounded, nearest) = round(size);
            let (mut best, mut value) = (self.extend(last, place, nearest, rounded, size, costs), nearest);
            // One less saves a bit if the smaller value has one bit less. It is worth a try if the distortion is
            // about the same.
            if (nearest & (nearest - 1) == 0) & (nearest > 1) & (rounded > size) {
                let less = self.extend(last, place, nearest - 1, rounded - 1.0, size, costs);
                if less.1 < best.1 {
                    (best, value) = (less, nearest - 1);
                }
            }
            step += 1;
            let (before, cost) = best;
            let value = if signed < 0.0 { -(value as i16) } else { value as i16 };
            self.steps[step & 63] = (place as u8, before as u8, value);
            if place == 63 {
                full = cost;
                break;
            }
            let path = Path { place, step: step as u32, cost };
            last = self.kept(last, cost);
            self.paths[last & 63] = path;
            if last == 0 {
                break;
            }
        }
        // A block whose last coefficient is not zero needs no end symbol.
        let cheapest = self.paths[0];
        let step = if full < cheapest.cost + costs.end { step } else { cheapest.step as usize };
        let count = self.collect(step);
        (cheapest.place, count, mask)
    }

    /// Finds the best of the paths `..=last` to continue to `value` at `place`. Returns its step and the cost.
    #[inline(always)]
    fn extend(&self, last: usize, place: u32, value: u32, exact: f32, size: f32, costs: &Costs) -> (u32, f32) {
        let costs = &costs.ac[bits_of(value).min(MOST_BITS)];
        let cost = |path: &Path| path.cost + costs[(place - path.place - 1) as usize & 63];
        let (mut step, mut least) = (self.paths[0].step, cost(&self.paths[0]));
        if last > 0 {
            for path in &self.paths[1..=last & 63] {
                let cost = cost(path);
                (step, least) = if cost < least { (path.step, cost) } else { (step, least) };
            }
        }
        // The square of the error, less the square of the error of a zero.
        (step, least + exact * (exact - 2.0 * size))
    }

    /// The number of the paths `..=last` that are cheaper than `cost`.
    fn kept(&self, last: usize, cost: f32) -> usize {
        self.paths[..=last & 63].iter().rposition(|path| path.cost < cost).map_or(0, |i| i + 1)
    }

    /// Collects the values along the path that ends with `step`, and returns their number.
    fn collect(&mut self, mut step: usize) -> usize {
        let mut end = step;
        let mut count = 0;
        while end != 0 {
            count += 1;
            end = self.steps[end & 63].1.into();
        }
        for i in (0..count).rev() {
            let (place, before, value) = self.steps[step & 63];
            self.values[i & 63] = (place, value);
            step = before.into();
        }
        count
    }
}

/// The number of bits of a whole number.
#[inline(always)]
fn bits_of_float(whole: f32) -> usize {
    // The exponent is one less.
    (whole.to_bits() >> 23).saturating_sub(126) as usize
}

/// The coefficient at a place in zigzag order.
#[inline(always)]
fn at(scaled: &Scaled, place: u32) -> f32 {
    scaled.as_flattened()[usize::from(COLUMNS[place as usize & 63]) & 63]
}

/// The maximum number of blocks of a component in a tile.
pub(super) const MAX_DC: usize = 8;

/// Larger than any DC in units of a quantizer.
const OFFSET: f32 = 2048.0;

/// The best values next to `scaled`, by the algorithm of Viterbi with two candidates for each block.
pub(super) fn choose_dc(scaled: &[f32], costs: &Costs) -> [i16; MAX_DC] {
    let mut before = [(0, 0.0), (0, f32::INFINITY)];
    let (mut candidates, mut from) = ([[0i32; 2]; MAX_DC], [[0usize; 2]; MAX_DC]);
    for (block, &scaled) in scaled.iter().enumerate().take(MAX_DC) {
        let below = round(scaled + OFFSET - 0.5).1 as i32 - OFFSET as i32;
        let mut paths = [(0, f32::INFINITY); 2];
        for (i, value) in [below, below + 1].into_iter().enumerate() {
            let error = scaled - value as f32;
            let cost = |(last, cost): (i32, f32)| {
                let bits = bits_of((value - last).unsigned_abs());
                cost + error * error + costs.dc[bits & 15]
            };
            let both = before.map(cost);
            // A selection instead of a branch, which would often be mispredicted.
            from[block][i] = usize::from(both[1] < both[0]);
            paths[i] = (value, both[1].min(both[0]));
            candidates[block][i] = value;
        }
        before = paths;
    }
    let mut path = usize::from(before[1].1 < before[0].1);
    let mut values = [0; MAX_DC];
    for block in (0..scaled.len().min(MAX_DC)).rev() {
        values[block] = candidates[block][path] as i16;
        path = from[block][path];
    }
    values
}

/// The number of bits of a symbol that a code lacks. It is larger than that of any symbol in a code.
const LACKING: u8 = 20;

/// The maximum size of a coefficient at 8 bits a sample, in bits.
pub(super) const MOST_BITS: usize = 10;

/// The costs of one kind of component.
#[derive(Debug, Clone)]
pub(super) struct Costs {
    /// The cost of a coefficient by its number of bits, and by the number of zeros before it. It is never less
    /// than with fewer zeros.
    pub ac: [[f32; 64]; MOST_BITS + 1],
    /// The cost of the end of the block.
    pub end: f32,
    /// The cost of a difference of DC by its number of bits.
    pub dc: [f32; 16],
}

impl Costs {
    /// Costs of symbols with the lengths from `dc` and `ac`, at `lambda` for a bit.
    fn new(dc: impl Fn(u8) -> u8, ac: impl Fn(u8) -> u8, lambda: f32) -> Self {
        let mut costs = Costs { ac: [[0.0; 64]; MOST_BITS + 1], end: lambda * f32::from(ac(END)), dc: [0.0; 16] };
        for (bits, costs) in (0..).zip(&mut costs.dc) {
            *costs = lambda * f32::from(dc(bits) + bits);
        }
        for (bits, costs) in (0..).zip(&mut costs.ac).skip(1) {
            let mut most = 0;
            for (zeros, cost) in (0u8..).zip(costs) {
                most = most.max(zeros / 16 * ac(ZEROS) + ac(((zeros % 16) << 4) | bits) + bits);
                *cost = lambda * f32::from(most);
            }
        }
        costs
    }

    /// Costs of the symbols of two codes.
    pub fn from_codes(dc: &Code, ac: &Code, lambda: f32) -> Self {
        let length = |code: &Code| code.words().map(|(_, length)| if length == 0 { LACKING } else { length });
        let (dc, ac) = (length(dc), length(ac));
        Costs::new(|symbol| dc[usize::from(symbol)], |symbol| ac[usize::from(symbol)], lambda)
    }

    /// Approximate costs of the symbols of usual codes: those of T.81, K.3, by a formula.
    pub fn usual(lambda: f32) -> Self {
        let ac = |symbol: u8| match (symbol >> 4, symbol & 15) {
            (0, 0) => 4,
            (15, 0) => 11,
            (0, bits) => bits.max(2),
            (zeros, bits) => (2 + bits + zeros * bits).min(16),
        };
        Costs::new(|bits| bits.max(4) - 1, ac, lambda)
    }
}

/// The nearest whole number, as both kinds of number, for numbers from 0 to below 2^22. Ties go to the even one.
#[inline(always)]
pub(super) fn round(number: f32) -> (f32, u32) {
    // An f32 in this range has no fraction.
    const WHOLE: f32 = 8_388_608.0;
    let shifted = number + WHOLE;
    (shifted - WHOLE, shifted.to_bits() & 0x7F_FFFF)
}
