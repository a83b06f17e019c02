//! The costs of symbols: bits, in units of the distortion that one bit is worth.

use super::code::Code;
use super::symbols::{END, ZEROS};

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
    pub fn of_codes(dc: &Code, ac: &Code, lambda: f32) -> Self {
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
