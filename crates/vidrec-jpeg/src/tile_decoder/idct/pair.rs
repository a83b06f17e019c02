//! The transform of two blocks at once, at any scale.

use super::factors::Factors;
use super::portable;
use super::transform::{Idct, SampleRows};
use crate::tile_decoder::block::Block;

/// Transforms two blocks to `N` by `N` samples each.
#[inline(always)]
pub(crate) fn pair<I: Idct, const N: usize>(idct: I, blocks: [&Block; 2], factors: &Factors) -> Option<SampleRows> {
    let mut out = [[0; 16]; 8];
    let fits = match N {
        1 => {
            (out[0][0], out[0][1]) = (portable::eighth(blocks, 0, factors), portable::eighth(blocks, 1, factors));
            true
        }
        2 => {
            idct.quarter(blocks, factors, &mut out);
            true
        }
        _ if only_dc(blocks) => {
            let (first, second) = (portable::dc_alone(blocks, 0, factors), portable::dc_alone(blocks, 1, factors));
            let row: [u8; 16] = std::array::from_fn(|x| if x < N { first } else { second });
            out = [row; 8];
            true
        }
        4 => idct.half(blocks, factors, &mut out),
        _ => idct.full(blocks, factors, &mut out),
    };
    fits.then_some(out)
}

/// Whether all coefficients except the first are zero.
#[inline(always)]
fn only_dc([a, b]: [&Block; 2]) -> bool {
    // These four coefficients decide for most blocks.
    let likely = a[1] | a[8] | b[1] | b[8];
    likely == 0 && a[1..].iter().chain(&b[1..]).fold(0, |all, coefficient| all | coefficient) == 0
}
