//! The inner loops, for each kind of machine: the same bits everywhere. [`Isa`] says what they compute.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod loops;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;

pub(super) use loops::{Isa, IsaWork};
pub(super) use portable::Portable;

/// Kinds of machines that have loops of their own.
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
    /// All kinds that this machine belongs to, the fastest first.
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

    pub fn run(self, work: impl IsaWork) {
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
