//! The sources of the coefficients of blocks: samples, or a JPEG.

use super::dct::{Dct, Scaled, Scaling};

/// The source of a picture's blocks. Component 0 is luma, 1 blue, 2 red.
pub(super) trait Source {
    /// Width and height in pixels.
    fn size(&self) -> (u32, u32);

    /// Returns the coefficients of the block in column `x` and row `y` of a component, in units of their
    /// quantizers. At least a part of the block must be inside the picture. The result has a bit for each
    /// coefficient, as in [`Dct::forward`].
    fn block(&self, component: usize, at: (usize, usize), zero_up_to: f32, out: &mut Scaled) -> [u8; 8];
}

/// A plane of samples, one row after another.
#[derive(Clone, Copy)]
pub(super) struct Plane<'a> {
    pub samples: &'a [u8],
    pub width: usize,
    pub height: usize,
}

/// Samples, which the DCT turns into coefficients.
pub(super) struct Samples<'a> {
    pub size: (u32, u32),
    pub planes: [Plane<'a>; 3],
    pub dct: Dct,
    /// The factors of luma and chroma.
    pub scaling: &'a [Scaling; 2],
}

impl Source for Samples<'_> {
    fn size(&self) -> (u32, u32) {
        self.size
    }

    #[inline]
    fn block(&self, component: usize, (x, y): (usize, usize), zero_up_to: f32, out: &mut Scaled) -> [u8; 8] {
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

/// The coefficients of a JPEG, which get other quantizers.
pub(super) struct Stored<'a> {
    pub size: (u32, u32),
    /// The blocks of each MCU, row by row: four of luma, then blue and red. Each block is row by row.
    pub mcus: &'a [[[i16; 64]; 6]],
    /// For each component, the factors of the coefficients, in the order of [`Scaled`].
    pub factors: [Scaling; 3],
}

impl Source for Stored<'_> {
    fn size(&self) -> (u32, u32) {
        self.size
    }

    #[inline]
    fn block(&self, component: usize, (x, y): (usize, usize), zero_up_to: f32, out: &mut Scaled) -> [u8; 8] {
        let across = self.size.0.div_ceil(16) as usize;
        let block = match component {
            0 => &self.mcus[y / 2 * across + x / 2][y % 2 * 2 + x % 2],
            _ => &self.mcus[y * across + x][3 + component],
        };
        std::array::from_fn(|u| {
            out[u] = std::array::from_fn(|v| f32::from(block[8 * v + u]) * self.factors[component][u][v]);
            (0..8).fold(0, |mask, v| mask | u8::from(out[u][v].abs() > zero_up_to) << v)
        })
    }
}
