//! The scale of a decode, which may be smaller than the picture.

/// The scale of a decode. The inverse DCT of fewer coefficients makes fewer samples per block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scale {
    /// As large as the picture.
    Full,
    /// Half of each side.
    Half,
    /// A quarter of each side.
    Quarter,
    /// An eighth of each side.
    Eighth,
}

impl Scale {
    /// All scales, from the largest to the smallest.
    pub const ALL: [Scale; 4] = [Scale::Full, Scale::Half, Scale::Quarter, Scale::Eighth];

    /// The number of pixels of the picture for one of the decode, along each axis.
    pub fn step(self) -> u32 {
        1 << self as u32
    }

    /// The length of a side of the decode for a side of `side` pixels.
    pub fn side(self, side: u32) -> u32 {
        side.div_ceil(self.step())
    }
}
