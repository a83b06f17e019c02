//! The inverse DCT: libjpeg's accurate integer one ("islow") and its scaled versions, bit for bit.
//!
//! What counts is what libjpeg-turbo's vector code computes: simd/x86_64/jidctint-avx2.asm and jidctred-sse2.asm, which
//! for the coefficients of any picture is what jidctint.c and jidctred.c compute. The former go on with 16 bits where the
//! latter have 32. For coefficients that overflow those, ours does as they do, in portable Rust as well.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;

use super::blocks::{Block, ZIGZAG};
use portable::Portable;

/// The factors of a component's coefficients, row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quantisation([i16; 64]);

/// Those of two blocks that are transformed together: rows of the first and of the second side by side.
#[derive(Debug, Clone)]
pub(super) struct Factors([[i16; 16]; 8]);

impl Factors {
    pub fn new([first, second]: [&Quantisation; 2]) -> Self {
        let factor = |x: usize, y: usize| if x < 8 { first.0[8 * y + x] } else { second.0[8 * y + x - 8] };
        Factors(std::array::from_fn(|y| std::array::from_fn(|x| factor(x, y))))
    }

    /// Of the first or the second block.
    #[inline(always)]
    fn get(&self, block: usize, x: usize, y: usize) -> i16 {
        self.0[y][8 * block + x]
    }
}

impl Quantisation {
    /// Of factors in the order in which coefficients are coded.
    pub(super) fn from_zigzag(factors: &[u8; 64]) -> Self {
        let mut rows = [0; 64];
        factors.iter().zip(ZIGZAG).for_each(|(&factor, place)| rows[usize::from(place)] = factor.into());
        Quantisation(rows)
    }

    /// Whether coefficients are larger than those of a picture, such that 16 bits might not do everywhere.
    ///
    /// After the first pass no value is above 4 * 1.39 times the sum of magnitudes, and that of two of them is within 16
    /// bits for sums up to 5,900. A block of pixels has no sum above 8,192, and rarely one above 4,000.
    pub fn beyond_pictures(&self, block: &Block) -> bool {
        let magnitude = |(&coefficient, &factor): (&i16, &i16)| i32::from(coefficient).abs() * i32::from(factor);
        block.iter().zip(&self.0).map(magnitude).sum::<i32>() > 5900
    }
}

/// Rows of samples of two blocks side by side: of `N` rows, the first `2 * N`.
pub(super) type Rows = [[u8; 16]; 8];

/// The inverse DCT of two blocks for one kind of machine. A value exists only where the machine is of that kind.
///
/// The answer is false, and `out` anything, where a coefficient in the first row is beyond [`FIRST_ROW_BITS`]. (With
/// no others in the block libjpeg-turbo takes a short cut, in which they overflow in another way.)
pub(super) trait Idct: Copy {
    /// Runs `work`, compiled for this machine.
    fn run(self, work: impl Work) -> Option<()>;

    /// To 8x8 samples.
    fn full(self, blocks: [&Block; 2], factors: &Factors, out: &mut Rows) -> bool;

    /// To 4x4 samples.
    fn half(self, blocks: [&Block; 2], factors: &Factors, out: &mut Rows) -> bool;
}

/// Coefficients of the first row have to be within this many bits, sign included. No picture's are beyond 12.
const FIRST_ROW_BITS: u32 = 14;

/// Work that is generic over the machine.
pub(super) trait Work {
    fn run<I: Idct>(self, idct: I) -> Option<()>;
}

/// Kinds of machines that there is code for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Machine {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "aarch64")]
    Neon(neon::Neon),
}

impl Machine {
    /// All kinds that this machine is of, the fastest first.
    pub fn all() -> Vec<Machine> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        all.extend(avx2::Avx2::detect().map(Machine::Avx2));
        #[cfg(target_arch = "aarch64")]
        all.extend(neon::Neon::detect().map(Machine::Neon));
        all.push(Machine::Portable);
        all
    }

    /// The fastest.
    pub fn best() -> Machine {
        static BEST: std::sync::OnceLock<Machine> = std::sync::OnceLock::new();
        *BEST.get_or_init(|| Machine::all()[0])
    }

    pub fn run(self, work: impl Work) -> Option<()> {
        match self {
            Machine::Portable => Portable.run(work),
            #[cfg(target_arch = "x86_64")]
            Machine::Avx2(idct) => idct.run(work),
            #[cfg(target_arch = "aarch64")]
            Machine::Neon(idct) => idct.run(work),
        }
    }
}

/// Two blocks to `N` by `N` samples each.
#[inline(always)]
pub(super) fn pair<I: Idct, const N: usize>(idct: I, blocks: [&Block; 2], factors: &Factors) -> Option<Rows> {
    let mut out = [[0; 16]; 8];
    let mut each = |samples: fn([&Block; 2], usize, &Factors) -> [[u8; 2]; 2]| {
        for i in 0..2 {
            for (out, samples) in out.iter_mut().zip(samples(blocks, i, factors)) {
                out[i * N..][..N].copy_from_slice(&samples[..N]);
            }
        }
        true
    };
    let fits = match N {
        1 => each(|blocks, i, factors| [[portable::eighth(blocks, i, factors), 0]; 2]),
        2 => each(portable::quarter),
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

/// Whether all coefficients but the first are zero.
#[inline(always)]
fn only_dc([a, b]: [&Block; 2]) -> bool {
    // The next two say no, mostly.
    let likely = a[1] | a[8] | b[1] | b[8];
    likely == 0 && a[1..].iter().chain(&b[1..]).fold(0, |all, coefficient| all | coefficient) == 0
}

/// `FIX(x)` of jidctint.c and jidctred.c: x times 2^13, rounded.
mod fix {
    pub const F_0_211: i32 = 1730;
    pub const F_0_298: i32 = 2446;
    pub const F_0_390: i32 = 3196;
    pub const F_0_509: i32 = 4176;
    pub const F_0_541: i32 = 4433;
    pub const F_0_601: i32 = 4926;
    pub const F_0_720: i32 = 5906;
    pub const F_0_765: i32 = 6270;
    pub const F_0_850: i32 = 6967;
    pub const F_0_899: i32 = 7373;
    pub const F_1_061: i32 = 8697;
    pub const F_1_175: i32 = 9633;
    pub const F_1_272: i32 = 10426;
    pub const F_1_451: i32 = 11893;
    pub const F_1_501: i32 = 12299;
    pub const F_1_847: i32 = 15137;
    pub const F_1_961: i32 = 16069;
    pub const F_2_053: i32 = 16819;
    pub const F_2_172: i32 = 17799;
    pub const F_2_562: i32 = 20995;
    pub const F_3_072: i32 = 25172;
    pub const F_3_624: i32 = 29692;
}
