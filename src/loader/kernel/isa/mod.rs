//! The inner loops, for each kind of machine: the same integers everywhere.
//!
//! A resized row is made in two steps. [`Isa::blend`] makes one row of a plane out of several, in units of 1/128 of a
//! level; [`Isa::columns`] makes the picture's columns out of those of that row, in units of [`UNIT`] to a level. Both
//! are defined by integers, so that every implementation gives the same bits; the rest of the work, in floats, is plain
//! Rust that is compiled once for each kind of machine, without fused operations, and so gives the same bits too.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;

use super::columns::Columns;
pub(super) use portable::Portable;

/// What one level is after both steps.
pub(super) const UNIT: f64 = (128 * (1 << 14)) as f64;

/// The inner loops for one kind of machine. A value exists only where the machine is of that kind.
pub(in crate::loader) trait Isa: Copy {
    /// Runs `work`, compiled for this machine.
    fn run(self, work: impl Work);

    /// `line[i] += (row[i] - base[i]) * weight` in units of 1/128, with a weight in units of 2^-15, rounded to nearest
    /// with halves up: what the instruction `pmulhrsw` computes; the sum saturates, for the roundings of hundreds of rows
    /// may add up to more than there is room for. All three slices have the same length.
    ///
    /// With `begin` the line is first set to `base`.
    fn blend(self, line: &mut [i16], base: &[u8], row: &[u8], weight: i16, begin: bool);

    /// The columns of the picture out of those of `line`, in units of 1 / ([`UNIT`]).
    ///
    /// `line` has [`Columns::line_len`] samples and `out` has [`Columns::out_len`].
    fn columns(self, line: &[i16], columns: &Columns, out: &mut [i32]);

    /// Copies `values` to `out`, which is as long, perhaps past the caches: a batch is larger than they are, and
    /// nobody reads it before it is complete.
    #[inline(always)]
    fn store(self, values: &[f32], out: &mut [f32]) {
        out.copy_from_slice(values);
    }

    /// Makes what was [`store`](Self::store)d visible to others like any other store. Comes last.
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
