//! The kinds of machines, and the kind of this one.

#[cfg(target_arch = "x86_64")]
use super::avx2::Avx2Idct;
#[cfg(target_arch = "aarch64")]
use super::neon::NeonIdct;
use super::portable::PortableIdct;
use super::transform::{Idct, IdctWork};

/// The kinds of machines that have code of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdctMachine {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2Idct),
    #[cfg(target_arch = "aarch64")]
    Neon(NeonIdct),
}

impl IdctMachine {
    /// All kinds that this machine supports, the fastest first.
    pub fn all() -> Vec<IdctMachine> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        all.extend(Avx2Idct::detect().map(IdctMachine::Avx2));
        #[cfg(target_arch = "aarch64")]
        all.extend(NeonIdct::detect().map(IdctMachine::Neon));
        all.push(IdctMachine::Portable);
        all
    }

    /// The fastest kind.
    pub fn best() -> IdctMachine {
        static BEST: std::sync::OnceLock<IdctMachine> = std::sync::OnceLock::new();
        *BEST.get_or_init(|| IdctMachine::all()[0])
    }

    pub fn run(self, work: impl IdctWork) -> Option<()> {
        match self {
            IdctMachine::Portable => PortableIdct.run(work),
            #[cfg(target_arch = "x86_64")]
            IdctMachine::Avx2(idct) => idct.run(work),
            #[cfg(target_arch = "aarch64")]
            IdctMachine::Neon(idct) => idct.run(work),
        }
    }
}
