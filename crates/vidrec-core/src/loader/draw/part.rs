//! The part of a frame that becomes the picture.

/// The part of a frame that becomes the picture: see [`Crop`](crate::loader::Crop).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Part {
    Center,
    Random,
    Cover { random: bool },
    RandomResized { scale: (f64, f64), ratio: (f64, f64) },
    MultiScale { fixed: bool },
    Three,
    Whole,
}

impl Part {
    /// The number of samples of each clip that differ in the part of the frame.
    pub fn count(self) -> u32 {
        if self == Part::Three { 3 } else { 1 }
    }
}
