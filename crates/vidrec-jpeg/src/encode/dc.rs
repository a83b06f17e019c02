//! The DC of the blocks of a tile. Only differences are stored, so each value determines the cost of the next one.

use super::costs::Costs;
use super::rounding::round;
use super::symbols::bits_of;

/// The maximum number of blocks of a component in a tile.
pub(super) const MOST: usize = 8;

/// Larger than any DC in units of a quantizer.
const OFFSET: f32 = 2048.0;

/// The best values next to `scaled`, by the algorithm of Viterbi with two candidates for each block.
pub(super) fn choose(scaled: &[f32], costs: &Costs) -> [i16; MOST] {
    let mut before = [(0, 0.0), (0, f32::INFINITY)];
    let (mut candidates, mut from) = ([[0i32; 2]; MOST], [[0usize; 2]; MOST]);
    for (block, &scaled) in scaled.iter().enumerate().take(MOST) {
        let below = round(scaled + OFFSET - 0.5).1 as i32 - OFFSET as i32;
        let mut paths = [(0, f32::INFINITY); 2];
        for (i, value) in [below, below + 1].into_iter().enumerate() {
            let error = scaled - value as f32;
            let cost = |(last, cost): (i32, f32)| {
                let bits = bits_of((value - last).unsigned_abs());
                cost + error * error + costs.dc[bits & 15]
            };
            let both = before.map(cost);
            // A selection instead of a branch, which nobody could predict.
            from[block][i] = usize::from(both[1] < both[0]);
            paths[i] = (value, both[1].min(both[0]));
            candidates[block][i] = value;
        }
        before = paths;
    }
    let mut path = usize::from(before[1].1 < before[0].1);
    let mut values = [0; MOST];
    for block in (0..scaled.len().min(MOST)).rev() {
        values[block] = candidates[block][path] as i16;
        path = from[block][path];
    }
    values
}
