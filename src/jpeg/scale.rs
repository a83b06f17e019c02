//! How much smaller than the picture a decode is.

/// How much smaller than the picture a decode is: the inverse DCT of fewer coefficients gives fewer samples per block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scale {
    Full,
    Half,
    Quarter,
    Eighth,
}

impl Scale {
    /// From the largest picture to the smallest.
    pub const ALL: [Scale; 4] = [Scale::Full, Scale::Half, Scale::Quarter, Scale::Eighth];

    /// Pixels of the picture for one of the decode, along each axis.
    pub fn step(self) -> u32 {
        1 << self as u32
    }

    /// A side of the decode, for one of `side` pixels.
    pub fn side(self, side: u32) -> u32 {
        side.div_ceil(self.step())
    }
}
