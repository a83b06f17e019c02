//! The inner loops, for each kind of machine: the same bits everywhere.
//!
//! A resized row is made in two steps. [`Isa::blend`] makes one row of a plane out of several, in units of 1/128 of a
//! level; [`Isa::columns`] makes the picture's columns out of those of that row, sixteen at a time, in units of
//! [`UNIT`] to a level. Both are defined by integers. What follows is done with floats, one operation after the other,
//! none of them fused, and so has the same bits everywhere too.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;

use half::f16;
use half::slice::HalfFloatSliceExt;

use super::columns::{Block, Columns, Weights, Windows};
pub(super) use portable::Portable;

/// What one level is after both steps.
pub(super) const UNIT: f64 = (128 * (1 << 14)) as f64;

/// Columns of the picture that are made at a time.
pub(super) const BLOCK: usize = 16;

/// The inner loops for one kind of machine. A value exists only where the machine is of that kind.
pub(in crate::loader) trait Isa: Copy {
    /// Floats of a [`BLOCK`], in registers.
    type Floats: Copy;

    /// Runs `work`, compiled for this machine.
    fn run(self, work: impl Work);

    /// For each row in turn, `line[i] += (row[i] - base[i]) * weight` in units of 1/128, with a weight in units of 2^-15,
    /// rounded to nearest with halves up: what the instruction `pmulhrsw` computes; the sum saturates, for the roundings
    /// of hundreds of rows may add up to more than there is room for. With `begin` the line is first set to `base`.
    ///
    /// `base` and all rows have the same length. `line` has [`Columns::line_len`] samples, of which those behind that length
    /// become anything.
    fn blend<const N: usize>(self, line: &mut [i16], base: &[u8], rows: [(&[u8], i16); N], begin: bool);

    /// Whether there is [`columns`](Self::columns) for them.
    fn has_loops_for(self, windows: Windows) -> bool;

    /// A block of the picture's columns out of those of each line, in units of 1 / ([`UNIT`]).
    ///
    /// Lines have [`Columns::line_len`] samples.
    fn columns<const N: usize>(self, lines: [&[i16]; N], block: (&Block, &[Weights])) -> [Self::Floats; N];

    /// The same for all blocks, of any columns, before they become floats.
    #[inline(always)]
    fn sums(self, line: &[i16], columns: &Columns, out: &mut [[i32; BLOCK]]) {
        for (out, (first, weights)) in out.as_flattened_mut().iter_mut().zip(columns.pixels()) {
            let samples = &line[first..][..weights.len()];
            *out = samples.iter().zip(weights).map(|(&sample, &weight)| i32::from(sample) * i32::from(weight)).sum();
        }
    }

    fn floats(self, sums: &[i32; BLOCK]) -> Self::Floats;

    fn splat(self, value: f32) -> Self::Floats;

    /// `a * factor + b`, rounded twice.
    fn scale_and_add(self, a: Self::Floats, factor: f32, b: Self::Floats) -> Self::Floats;

    /// `if v > low { v } else { low }`, and then `if v < high { v } else { high }`.
    fn clamp(self, values: Self::Floats, low: f32, high: f32) -> Self::Floats;

    fn load(self, values: &[f32; BLOCK]) -> Self::Floats;

    fn store(self, values: Self::Floats, out: &mut [f32; BLOCK]);

    /// The same, perhaps past the caches: a batch is larger than they are, and nobody reads it before it is complete.
    #[inline(always)]
    fn stream(self, values: Self::Floats, out: &mut [f32; BLOCK]) {
        self.store(values, out);
    }

    /// Rounds to the nearest half, ties to even.
    #[inline(always)]
    fn store_halves(self, values: Self::Floats, out: &mut [f16; BLOCK]) {
        let mut floats = [0.0; BLOCK];
        self.store(values, &mut floats);
        out.convert_from_f32_slice(&floats);
    }

    /// Makes what was [`stream`](Self::stream)ed visible to others like any other store. Comes last.
    #[inline(always)]
    fn finish(self) {}
}

/// Work that is generic over the machine.
pub(in crate::loader) trait Work {
    fn run<I: Isa>(self, isa: I);
}

/// Kinds of machines that there are loops for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Machine {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Avx512),
    #[cfg(target_arch = "aarch64")]
    Neon(neon::Neon),
}

impl Machine {
    /// All kinds that this machine is of, the fastest first.
    pub fn all() -> Vec<Machine> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(avx512::Avx512::detect().map(Machine::Avx512));
            all.extend(avx2::Avx2::detect().map(Machine::Avx2));
        }
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

    pub fn run(self, work: impl Work) {
        match self {
            Machine::Portable => Portable.run(work),
            #[cfg(target_arch = "x86_64")]
            Machine::Avx2(isa) => isa.run(work),
            #[cfg(target_arch = "x86_64")]
            Machine::Avx512(isa) => isa.run(work),
            #[cfg(target_arch = "aarch64")]
            Machine::Neon(isa) => isa.run(work),
        }
    }
}
