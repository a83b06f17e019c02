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

use super::costs::{Costs, MOST_BITS};
use super::dct::Scaled;
use super::order::COLUMNS;
use super::rounding::round;
use super::symbols::{Block, bits_of};

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
