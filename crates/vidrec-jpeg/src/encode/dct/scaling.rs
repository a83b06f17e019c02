//! Coefficients in units of their quantizers, and the factors that convert to these units.

use super::super::order::ZIGZAG;

/// The factors of coefficients, in the order of [`Scaled`].
pub(crate) type Scaling = [[f32; 8]; 8];

/// The coefficients of a block in units of their quantizers: the whole first column, then the second, and so on.
pub(crate) type Scaled = [[f32; 8]; 8];

/// The factors for quantizers in zigzag order.
pub(crate) fn scaling(quantizers: &[u8; 64]) -> Scaling {
    // 1, then cos(i * pi / 16) * sqrt(2).
    const FACTORS: [f64; 8] =
        [1.0, 1.387_039_845, 1.306_562_965, 1.175_875_602, 1.0, 0.785_694_958, 0.541_196_1, 0.275_899_379];
    let mut scaling = [[0.0; 8]; 8];
    for (&quantizer, &place) in quantizers.iter().zip(&ZIGZAG) {
        let (row, column) = (usize::from(place / 8), usize::from(place % 8));
        scaling[column][row] = (1.0 / (8.0 * FACTORS[row] * FACTORS[column] * f64::from(quantizer))) as f32;
    }
    scaling
}
