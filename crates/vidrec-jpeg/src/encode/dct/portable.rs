//! The forward DCT in plain Rust.

use std::array::from_fn;

use crate::encode::order::{Scaled, Scaling};

type Line = [f32; 8];

pub(super) fn forward(samples: &[[u8; 8]; 8], scaling: &Scaling, zero_up_to: f32, out: &mut Scaled) -> [u8; 8] {
    let rows = from_fn(|y| from_fn(|x| f32::from(samples[y][x]) - 128.0));
    let lines = transform(transpose(transform(rows)));
    from_fn(|u| {
        out[u] = from_fn(|v| lines[u][v] * scaling[u][v]);
        (0..8).fold(0, |mask, v| mask | u8::from(out[u][v].abs() > zero_up_to) << v)
    })
}

fn transpose(lines: [Line; 8]) -> [Line; 8] {
    from_fn(|i| from_fn(|j| lines[j][i]))
}

fn add(a: Line, b: Line) -> Line {
    from_fn(|i| a[i] + b[i])
}

fn sub(a: Line, b: Line) -> Line {
    from_fn(|i| a[i] - b[i])
}

fn times(a: Line, factor: f32) -> Line {
    a.map(|a| a * factor)
}

/// The transform across the eight lines.
fn transform(d: [Line; 8]) -> [Line; 8] {
    let (s07, d07, s16, d16) = (add(d[0], d[7]), sub(d[0], d[7]), add(d[1], d[6]), sub(d[1], d[6]));
    let (s25, d25, s34, d34) = (add(d[2], d[5]), sub(d[2], d[5]), add(d[3], d[4]), sub(d[3], d[4]));
    let (outer, outer_difference) = (add(s07, s34), sub(s07, s34));
    let (inner, inner_difference) = (add(s16, s25), sub(s16, s25));
    let even = times(add(inner_difference, outer_difference), C4);

    let (low, middle, high) = (add(d34, d25), add(d25, d16), add(d16, d07));
    let z5 = times(sub(low, high), C6);
    let z2 = add(times(low, C2_MINUS_C6), z5);
    let z4 = add(times(high, C2_PLUS_C6), z5);
    let z3 = times(middle, C4);
    let (z11, z13) = (add(d07, z3), sub(d07, z3));
    [
        add(outer, inner),
        add(z11, z4),
        add(outer_difference, even),
        sub(z13, z2),
        sub(outer, inner),
        add(z13, z2),
        sub(outer_difference, even),
        sub(z11, z4),
    ]
}

pub const C4: f32 = 0.707_106_77;
pub const C6: f32 = 0.382_683_43;
pub const C2_MINUS_C6: f32 = 0.541_196_1;
pub const C2_PLUS_C6: f32 = 1.306_563;
