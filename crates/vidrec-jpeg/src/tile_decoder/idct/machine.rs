//! The kinds of machines, and the kind of this one.

use super::transform::{Factors, Idct, IdctWork, SampleRows};
use crate::tile_decoder::mcu::Block;

#[cfg(target_arch = "x86_64")]
use super::avx2::Avx2Idct;
#[cfg(target_arch = "aarch64")]
use super::neon::NeonIdct;
use super::portable::{self, PortableIdct};

/// The kinds of machines that have code of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdctMachine {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2Idct),
    #[cfg(target_arch = "aarch64")]
    Neon(NeonIdct),
}

impl IdctMachine {
    /// All kinds that this machine supports, the fastest first.
    pub fn all() -> Vec<IdctMachine> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        all.extend(Avx2Idct::detect().map(IdctMachine::Avx2));
        #[cfg(target_arch = "aarch64")]
        all.extend(NeonIdct::detect().map(IdctMachine::Neon));
        all.push(IdctMachine::Portable);
        all
    }

    /// The fastest kind.
    pub fn best() -> IdctMachine {
        static BEST: std::sync::OnceLock<IdctMachine> = std::sync::OnceLock::new();
        *BEST.get_or_init(|| IdctMachine::all()[0])
    }

    pub fn run(self, work: impl IdctWork) -> Option<()> {
        match self {
            IdctMachine::Portable => PortableIdct.run(work),
            #[cfg(target_arch = "x86_64")]
            IdctMachine::Avx2(idct) => idct.run(work),
            #[cfg(target_arch = "aarch64")]
            IdctMachine::Neon(idct) => idct.run(work),
        }
    }
}

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
