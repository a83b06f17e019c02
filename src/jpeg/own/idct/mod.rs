//! The inverse DCT: libjpeg's accurate integer one ("islow") and its scaled versions, bit for bit.
//!
//! What counts is what libjpeg-turbo's vector code computes: simd/x86_64/jidctint-avx2.asm and jidctred-sse2.asm, which
//! for the coefficients of any picture is what jidctint.c and jidctred.c compute. The former go on with 16 bits where the
//! latter have 32. For coefficients that overflow those, ours does as they do, in portable Rust as well.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod factors;
mod fix;
mod machine;
#[cfg(target_arch = "aarch64")]
mod neon;
mod pair;
mod portable;
mod transform;

pub(crate) use factors::{Factors, Quantisation};
pub(crate) use machine::IdctMachine;
pub(crate) use pair::pair;
#[cfg(test)]
pub(crate) use transform::SampleRows;
pub(crate) use transform::{Idct, IdctWork};
