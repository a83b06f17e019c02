//! The forward DCT, in floating point. It has the same bits on every machine, because each sum and product is
//! rounded by itself.
//!
//! The algorithm is that of Arai, Agui and Nakajima (Trans. IEICE E-71, 1988), as in libjpeg's jfdctflt.c. It
//! takes five multiplications for eight samples, and a factor for each coefficient. Here, this factor also divides
//! by the quantizer.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

pub(super) use super::order::{Scaled, Scaling, scaling};

/// The forward DCT of one kind of machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dct {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
}

impl Dct {
    /// The kinds that this machine supports, the fastest first.
    pub fn all() -> Vec<Dct> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        all.extend(avx2::Avx2::detect().map(Dct::Avx2));
        all.push(Dct::Portable);
        all
    }

    /// Computes the scaled coefficients of 8x8 samples. The result has a byte for each column, and in it a bit for
    /// each coefficient: 1 if its size exceeds `zero_up_to`.
    #[inline]
    pub fn forward(self, samples: &[[u8; 8]; 8], scaling: &Scaling, zero_up_to: f32, out: &mut Scaled) -> [u8; 8] {
        match self {
            Dct::Portable => portable::forward(samples, scaling, zero_up_to, out),
            #[cfg(target_arch = "x86_64")]
            Dct::Avx2(dct) => dct.forward(samples, scaling, zero_up_to, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::order::ZIGZAG;
    use super::*;
    use vidrec_format::random::Random;

    fn blocks() -> impl Iterator<Item = [[u8; 8]; 8]> {
        let mut random = Random::new(3, &[]);
        let noise = move |i: u32| {
            let (low, span) = ((i * 13 % 200) as u8, 1 + i % 256);
            std::array::from_fn(|_| std::array::from_fn(|_| low.saturating_add((random.next_u32() % span) as u8)))
        };
        [[[0; 8]; 8], [[255; 8]; 8]].into_iter().chain((0..500).map(noise))
    }

    /// The definition of T.81, A.3.3, in 64 bits.
    fn by_definition(samples: &[[u8; 8]; 8], u: usize, v: usize) -> f64 {
        let scale = |k: usize| if k == 0 { 0.5f64.sqrt() } else { 1.0 };
        let cosine = |x: usize, k: usize| ((2 * x + 1) as f64 * k as f64 * std::f64::consts::PI / 16.0).cos();
        let mut sum = 0.0;
        for (y, row) in samples.iter().enumerate() {
            for (x, &sample) in row.iter().enumerate() {
                sum += (f64::from(sample) - 128.0) * cosine(x, u) * cosine(y, v);
            }
        }
        sum * scale(u) * scale(v) / 4.0
    }

    #[test]
    fn it_is_the_transform_of_the_standard() {
        let quantizers: [u8; 64] = std::array::from_fn(|k| k as u8 + 1);
        for samples in blocks().take(50) {
            let mut out = [[0.0; 8]; 8];
            Dct::Portable.forward(&samples, &scaling(&quantizers), 0.5, &mut out);
            for (&quantizer, &place) in quantizers.iter().zip(&ZIGZAG) {
                let (v, u) = (usize::from(place / 8), usize::from(place % 8));
                let expected = by_definition(&samples, u, v);
                assert!((f64::from(out[u][v]) * f64::from(quantizer) - expected).abs() < 2e-3, "{u} {v}");
            }
        }
    }

    #[test]
    fn every_kind_of_machine_gives_the_same_bits() {
        let scaling = scaling(&[3; 64]);
        for samples in blocks() {
            let results = Dct::all().into_iter().map(|dct| {
                let mut out = [[0.0; 8]; 8];
                let mask = dct.forward(&samples, &scaling, 0.6, &mut out);
                (out.map(|column| column.map(f32::to_bits)), mask)
            });
            let results: Vec<_> = results.collect();
            assert!(results.iter().all(|result| *result == results[0]));
            let (out, mask) = results[0];
            for (column, mask) in out.iter().zip(mask) {
                for (row, &bits) in column.iter().enumerate() {
                    assert_eq!(mask >> row & 1 == 1, f32::from_bits(bits).abs() > 0.6);
                }
            }
        }
    }
}
