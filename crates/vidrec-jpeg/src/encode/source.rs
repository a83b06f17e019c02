//! The coefficients of the blocks of a picture, in units of their quantizers.

use super::dct::{Dct, Scaled, Scaling};

/// A plane of samples, one row after another.
#[derive(Clone, Copy)]
pub(super) struct Plane<'a> {
    pub samples: &'a [u8],
    pub width: usize,
    pub height: usize,
}

/// Samples, which the DCT turns into coefficients.
pub(super) struct Samples<'a> {
    /// Width and height in pixels.
    pub size: (u32, u32),
    /// Luma, blue and red.
    pub planes: [Plane<'a>; 3],
    pub dct: Dct,
    /// The factors of luma and chroma.
    pub scaling: &'a [Scaling; 2],
}

impl Samples<'_> {
    /// Returns the coefficients of the block in column `x` and row `y` of a component. At least a part of the block must be
    /// inside the picture. The result has a bit for each coefficient, as in [`Dct::forward`].
    #[inline]
    pub fn block(&self, component: usize, (x, y): (usize, usize), zero_up_to: f32, out: &mut Scaled) -> [u8; 8] {
        let samples = self.planes[component].block(8 * x, 8 * y);
        self.dct.forward(&samples, &self.scaling[component.min(1)], zero_up_to, out)
    }
}

impl Plane<'_> {
    /// Reads 8x8 samples. Beyond the picture, it repeats the last column and row.
    #[inline]
    fn block(&self, x: usize, y: usize) -> [[u8; 8]; 8] {
        let mut block = [[0; 8]; 8];
        for (i, row) in block.iter_mut().enumerate() {
            let samples = &self.samples[(y + i).min(self.height - 1) * self.width..][..self.width];
            *row = match samples.get(x..x + 8) {
                Some(eight) => std::array::from_fn(|i| eight[i]),
                None => std::array::from_fn(|i| samples[(x + i).min(self.width - 1)]),
            };
        }
        block
    }
}
