//! The constants of the algorithm: cosines and sums of them.

pub const C4: f32 = 0.707_106_77;
pub const C6: f32 = 0.382_683_43;
pub const C2_MINUS_C6: f32 = 0.541_196_1;
pub const C2_PLUS_C6: f32 = 1.306_563;
