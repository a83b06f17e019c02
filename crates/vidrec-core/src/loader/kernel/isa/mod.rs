//! The inner loops, for each kind of machine: the same bits everywhere. [`Isa`] says what they compute.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod loops;
#[cfg(target_arch = "aarch64")]
mod neon;

pub(super) use loops::{Isa, IsaWork, LineBlock, Lines, Portable};

/// The kinds of machines that have loops of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Machine {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Avx512),
    #[cfg(target_arch = "aarch64")]
    Neon(neon::Neon),
}

impl Machine {
    /// All kinds that this machine supports, the fastest first.
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

    /// The fastest kind.
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

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::super::spec::BLOCK;
    use super::*;

    /// The results of a machine for sixteen values of each of three channels: bytes and halves of the first, and
    /// all of them interleaved.
    struct Made<'a> {
        channels: [[f32; BLOCK]; 3],
        bytes: &'a mut [u8; BLOCK],
        halves: &'a mut [f16; BLOCK],
        bfloats: &'a mut [bf16; BLOCK],
        interleaved: &'a mut [[f32; BLOCK]; 3],
    }

    impl IsaWork for Made<'_> {
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) {
            // Floats can only come from whole numbers and constants.
            let floats = |values: &[f32; BLOCK]| {
                let mut sums = isa.splat(isa.constant(0.0));
                for (i, &value) in values.iter().enumerate() {
                    let mut chosen = [0; BLOCK];
                    chosen[i] = 1;
                    let part =
                        isa.scale_and_add(isa.floats(&chosen), isa.constant(value), isa.splat(isa.constant(0.0)));
                    sums = if i == 0 { part } else { isa.scale_and_add(part, isa.constant(1.0), sums) };
                }
                sums
            };
            isa.store_bytes(floats(&self.channels[0]), self.bytes);
            isa.store_halves(floats(&self.channels[0]), self.halves);
            isa.store_bfloats(floats(&self.channels[0]), self.bfloats);
            let [r, g, b] = &self.channels;
            for (out, values) in self.interleaved.iter_mut().zip(isa.interleave([floats(r), floats(g), floats(b)])) {
                isa.store(values, out);
            }
        }
    }

    /// The bytes, halves, bfloats and interleaved values.
    type All = ([u8; BLOCK], [f16; BLOCK], [bf16; BLOCK], [[f32; BLOCK]; 3]);

    fn made(machine: Machine, channels: [[f32; BLOCK]; 3]) -> All {
        let (mut bytes, mut interleaved) = ([0; BLOCK], [[0.0; BLOCK]; 3]);
        let (mut halves, mut bfloats) = ([f16::ZERO; BLOCK], [bf16::ZERO; BLOCK]);
        machine.run(Made {
            channels,
            bytes: &mut bytes,
            halves: &mut halves,
            bfloats: &mut bfloats,
            interleaved: &mut interleaved,
        });
        (bytes, halves, bfloats, interleaved)
    }

    #[test]
    fn every_machine_brings_levels_back_to_0_to_255() {
        let levels =
            [-3e30, -1e10, -300.0, -0.6, 0.5, 1.5, 2.5, 127.5, 254.5, 254.6, 255.5, 256.0, 300.0, 65_536.0, 1e10, 3e30];
        for machine in Machine::all() {
            let (bytes, ..) = made(machine, [levels, [0.0; BLOCK], [0.0; BLOCK]]);
            assert_eq!(bytes, [0, 0, 0, 0, 0, 2, 2, 128, 254, 255, 255, 255, 255, 255, 255, 255], "{machine:?}");
        }
    }

    #[test]
    fn every_machine_puts_the_channels_of_a_pixel_side_by_side() {
        let channels = [100.0, 200.0, 300.0].map(|first| std::array::from_fn(|i| first + i as f32));
        for machine in Machine::all() {
            let (.., interleaved) = made(machine, channels);
            for (at, &value) in interleaved.as_flattened().iter().enumerate() {
                assert_eq!(value, channels[at % 3][at / 3], "{machine:?}, value {at}");
            }
        }
    }

    /// Ties of both formats at even and odd values, the values next to them, and other values of every size.
    #[test]
    fn every_machine_rounds_to_the_nearest_half_and_bfloat() {
        let ties = [1.0 + 1.0 / 256.0, 1.0 + 3.0 / 256.0, 1.0 + 1.0 / 2048.0, 1.0 + 3.0 / 2048.0];
        let others = [0.0, 1e-6, 0.1, 2.64, 255.0, 65_000.0, 1e10, 3e38];
        let next = |value: f32, by: i32| f32::from_bits(value.to_bits().wrapping_add_signed(by));
        let mut values: Vec<_> = ties.iter().flat_map(|&tie| [tie, next(tie, 1), next(tie, -1)]).collect();
        values.extend(others);
        values.extend(values.clone().iter().map(|value| -value));
        values.resize(values.len().next_multiple_of(BLOCK), 0.5);
        for machine in Machine::all() {
            for &block in values.as_chunks().0 {
                let (_, halves, bfloats, _) = made(machine, [block, [0.0; BLOCK], [0.0; BLOCK]]);
                assert_eq!(halves, block.map(f16::from_f32), "{machine:?}, {block:?}");
                assert_eq!(bfloats, block.map(bf16::from_f32), "{machine:?}, {block:?}");
            }
        }
    }
}
