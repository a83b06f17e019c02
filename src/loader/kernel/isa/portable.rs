//! The inner loops in plain Rust: for any machine, and the definition of what the others compute.

use super::super::columns::Columns;
use super::{Isa, Work};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Portable;

impl Isa for Portable {
    fn run(self, work: impl Work) {
        work.run(self);
    }

    #[inline(always)]
    fn blend(self, line: &mut [i16], base: &[u8], row: &[u8], weight: i16, begin: bool) {
        let samples = line.iter_mut().zip(base).zip(row);
        if begin {
            samples
                .for_each(|((sum, &base), &row)| *sum = (i16::from(base) << 7).saturating_add(step(base, row, weight)));
        } else {
            samples.for_each(|((sum, &base), &row)| *sum = sum.saturating_add(step(base, row, weight)));
        }
    }

    #[inline(always)]
    fn columns(self, line: &[i16], columns: &Columns, out: &mut [i32]) {
        for (out, (first, weights)) in out.iter_mut().zip(columns.pixels()) {
            let samples = &line[first..][..weights.len()];
            *out = samples.iter().zip(weights).map(|(&sample, &weight)| i32::from(sample) * i32::from(weight)).sum();
        }
    }
}

/// What a row adds to the base where it differs from it. Within an i16: the difference is at most 255 * 128.
#[inline(always)]
fn step(base: u8, row: u8, weight: i16) -> i16 {
    let difference = (i32::from(row) - i32::from(base)) << 7;
    ((difference * i32::from(weight) + (1 << 14)) >> 15) as i16
}
