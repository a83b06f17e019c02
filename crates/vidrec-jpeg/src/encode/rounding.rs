//! Rounding that is the same on every machine.

/// The nearest whole number, as both kinds of number, for numbers from 0 to below 2^22. Ties go to the even one.
#[inline(always)]
pub(super) fn round(number: f32) -> (f32, u32) {
    // An f32 in this range has no fraction.
    const WHOLE: f32 = 8_388_608.0;
    let shifted = number + WHOLE;
    (shifted - WHOLE, shifted.to_bits() & 0x7F_FFFF)
}
