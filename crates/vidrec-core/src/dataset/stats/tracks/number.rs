//! Numbers of tracks as keys: whole numbers in the same order.

use vidrec_format::track::payload::TrackNumber;

/// A number of a track.
pub(super) trait Number: TrackNumber {
    /// The number of bits of a key.
    const BITS: u32;

    /// Whether it is neither infinite nor something that is not a number.
    fn is_finite(self) -> bool;

    /// The number, rounded to the nearest if it is a whole number of more than 53 bits.
    fn float(self) -> f64;

    /// The key of a number, which is finite. Keys have the order of the numbers. Both zeros are the same number.
    fn key(self) -> u64;

    /// The number of a key.
    fn of_key(key: u64) -> f64;
}

macro_rules! whole {
    ($($number:ty, $unsigned:ty),+ $(,)?) => {
        $(impl Number for $number {
            const BITS: u32 = <$number>::BITS;

            fn is_finite(self) -> bool {
                true
            }

            #[allow(clippy::cast_lossless, reason = "one macro for all types")]
            fn float(self) -> f64 {
                self as f64
            }

            #[allow(clippy::cast_lossless, reason = "one macro for all types")]
            fn key(self) -> u64 {
                self.wrapping_sub(<$number>::MIN) as $unsigned as u64
            }

            #[allow(clippy::cast_lossless, reason = "one macro for all types")]
            fn of_key(key: u64) -> f64 {
                (key as $number).wrapping_add(<$number>::MIN) as f64
            }
        })+
    };
}

whole!(u8, u8, u16, u16, i16, u16, i32, u32, i64, u64);

macro_rules! float {
    ($($number:ty, $bits:ty),+ $(,)?) => {
        $(impl Number for $number {
            const BITS: u32 = <$bits>::BITS;

            fn is_finite(self) -> bool {
                <$number>::is_finite(self)
            }

            #[allow(clippy::cast_lossless, reason = "one macro for both types")]
            fn float(self) -> f64 {
                self as f64
            }

            #[allow(clippy::cast_lossless, reason = "one macro for both types")]
            fn key(self) -> u64 {
                // Adding 0 turns the negative zero into the positive one.
                let bits = (self + 0.0).to_bits();
                let sign: $bits = 1 << (<$bits>::BITS - 1);
                (if bits & sign == 0 { bits | sign } else { !bits }) as u64
            }

            #[allow(clippy::cast_lossless, reason = "one macro for both types")]
            fn of_key(key: u64) -> f64 {
                let (key, sign): ($bits, $bits) = (key as $bits, 1 << (<$bits>::BITS - 1));
                <$number>::from_bits(if key & sign == 0 { !key } else { key & !sign }) as f64
            }
        })+
    };
}

float!(f32, u32, f64, u64);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check<T: Number + PartialOrd>(a: T, b: T) -> bool {
        let in_order = a.partial_cmp(&b) == Some(a.key().cmp(&b.key()));
        in_order && T::of_key(a.key()) == a.float() && a.key().checked_shr(T::BITS).is_none_or(|rest| rest == 0)
    }

    #[test]
    fn zeros_are_one_number() {
        assert_eq!((0.0f32.key(), 0.0f64.key()), ((-0.0f32).key(), (-0.0f64).key()));
    }

    proptest! {
        #[test]
        fn keys_have_the_order_of_numbers(a: (u8, i16, i32, i64), b: (u8, i16, i32, i64), x: (f32, f64), y: (f32, f64)) {
            prop_assert!(check(a.0, b.0) && check(a.1, b.1) && check(a.2, b.2) && check(a.3, b.3));
            prop_assert!(check(x.0, y.0) && check(x.1, y.1) && check(x.0, x.0) && check(x.1, -x.1));
        }
    }
}
