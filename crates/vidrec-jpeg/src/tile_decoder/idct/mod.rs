//! The inverse DCT: libjpeg's accurate integer one ("islow") and its scaled versions, bit for bit.
//!
//! The reference is libjpeg-turbo's vector code, simd/x86_64/jidctint-avx2.asm and jidctred-sse2.asm. For the
//! coefficients of any picture, it computes the same as jidctint.c and jidctred.c, but it continues with 16 bits
//! where those have 32. For coefficients that overflow 16 bits, our code does the same as the vector code, even in
//! portable Rust.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod machine;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
mod transform;

pub(crate) use machine::{IdctMachine, pair};
#[cfg(test)]
pub(crate) use transform::SampleRows;
pub(crate) use transform::{Factors, Idct, IdctWork, Quantization};
