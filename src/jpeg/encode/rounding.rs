//! Rounding that is the same on every machine.

/// The nearest whole number, as both kinds of number; of two, the even one. For numbers from 0 to below 2^22.
#[inline(always)]
pub(super) fn round(number: f32) -> (f32, u32) {
    // In this range an f32 has no fraction.
    const WHOLE: f32 = 8_388_608.0;
    let shifted = number + WHOLE;
    (shifted - WHOLE, shifted.to_bits() & 0x7F_FFFF)
}
