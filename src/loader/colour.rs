//! Colour of a clip: what is drawn, and the affine map that it comes to.

use super::options::LoaderOptions;
use crate::random::{Random, stream};

/// How much the colours of clips vary; one draw a clip.
///
/// Each of the three draws a factor evenly from `max(0, 1 - x)` to `1 + x`, and they are applied in an order that is
/// drawn too, as torchvision's `ColorJitter` (0.20) does. Two differences make it one affine map for a whole clip:
///
/// * contrast blends with mid-grey, where torchvision takes the mean grey of each picture, so here it also moves the
///   brightness of pictures that are dark or bright as a whole;
/// * levels are clamped once at the end, not after each of the three.
///
/// Hue is not offered: it is no such map.
///
/// ```
/// use vidrec::{ColorJitter, LoaderOptions};
///
/// let color = ColorJitter { brightness: 0.4, contrast: 0.4, saturation: 0.4, grayscale: 0.2 };
/// let options = LoaderOptions { color, ..LoaderOptions::default() };
/// assert_ne!(options.color, ColorJitter::default());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ColorJitter {
    /// Default 0: unchanged.
    pub brightness: f32,
    /// Default 0: unchanged.
    pub contrast: f32,
    /// Default 0: unchanged.
    pub saturation: f32,
    /// Probability that a clip becomes grey, after the rest: torchvision's `RandomGrayscale`. Default 0.
    pub grayscale: f32,
}

/// One of the three things that [`ColorJitter`] changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ColorStep {
    /// Levels times the factor.
    Brightness,
    /// Away from mid-grey by the factor.
    Contrast,
    /// Away from the pixel's own grey by the factor.
    Saturation,
}

/// What was drawn for a clip. A factor of 1 changes nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColorDraw {
    /// Factor of brightness.
    pub brightness: f32,
    /// Factor of contrast.
    pub contrast: f32,
    /// Factor of saturation.
    pub saturation: f32,
    /// The order in which the three are applied.
    pub order: [ColorStep; 3],
    /// Whether the clip is then made grey.
    pub grayscale: bool,
}

impl Default for ColorDraw {
    fn default() -> Self {
        ColorDraw { brightness: 1.0, contrast: 1.0, saturation: 1.0, order: ORDERS[0], grayscale: false }
    }
}

use ColorStep::{Brightness as B, Contrast as C, Saturation as S};
const ORDERS: [[ColorStep; 3]; 6] = [[B, C, S], [B, S, C], [C, B, S], [C, S, B], [S, B, C], [S, C, B]];

/// Weights of red, green and blue in grey: ITU-R BT.601 as torchvision rounds it.
const GREY: [f32; 3] = [0.2989, 0.587, 0.114];

/// The middle of 0 and 255, which contrast keeps.
const MID_GREY: f32 = 127.5;

/// An affine map of (red, green, blue), levels of 0 to 255 before and after: `rows * rgb + offset`, then clamped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColorMatrix {
    /// One row for each channel of the result.
    pub rows: [[f32; 3]; 3],
    /// Added to each channel of the result.
    pub offset: [f32; 3],
}

impl ColorMatrix {
    /// Changes nothing.
    pub const IDENTITY: ColorMatrix =
        ColorMatrix { rows: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], offset: [0.0; 3] };

    /// Keeps `factor` of each pixel and takes the rest of a mix of its channels and a constant.
    fn blend(factor: f32, mix: [f32; 3], constant: f32) -> Self {
        let rest = 1.0 - factor;
        let rows = Self::IDENTITY.rows.map(|row| std::array::from_fn(|c| factor * row[c] + rest * mix[c]));
        ColorMatrix { rows, offset: [rest * constant; 3] }
    }

    /// This map, and `next` after it.
    fn then(self, next: ColorMatrix) -> Self {
        let dot = |row: [f32; 3], column: [f32; 3]| row[0] * column[0] + row[1] * column[1] + row[2] * column[2];
        let column = |c: usize| self.rows.map(|row| row[c]);
        ColorMatrix {
            rows: next.rows.map(|row| std::array::from_fn(|c| dot(row, column(c)))),
            offset: std::array::from_fn(|r| dot(next.rows[r], self.offset) + next.offset[r]),
        }
    }

    /// The map of one colour.
    pub fn apply(&self, rgb: [f32; 3]) -> [f32; 3] {
        std::array::from_fn(|r| {
            let row = self.rows[r];
            (row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2] + self.offset[r]).clamp(0.0, 255.0)
        })
    }
}

impl ColorDraw {
    /// What is drawn for `sample` in `epoch`.
    pub(super) fn new(options: &LoaderOptions, epoch: u64, sample: u64) -> Self {
        let ColorJitter { brightness, contrast, saturation, grayscale } = options.color;
        if options.color == ColorJitter::default() {
            return ColorDraw::default();
        }
        let mut random = Random::new(options.seed, &[stream::COLOUR, epoch, sample]);
        let order = ORDERS[random.below(6) as usize];
        let mut factor = |x: f32| {
            let least = (1.0 - x).max(0.0);
            (f64::from(least) + f64::from(1.0 + x - least) * random.unit()) as f32
        };
        let (brightness, contrast, saturation) = (factor(brightness), factor(contrast), factor(saturation));
        ColorDraw { brightness, contrast, saturation, order, grayscale: random.unit() < f64::from(grayscale) }
    }

    /// The map that this comes to; `None` if it changes nothing.
    pub fn matrix(&self) -> Option<ColorMatrix> {
        let step = |step: &ColorStep| match step {
            B => ColorMatrix::blend(self.brightness, [0.0; 3], 0.0),
            C => ColorMatrix::blend(self.contrast, [0.0; 3], MID_GREY),
            S => ColorMatrix::blend(self.saturation, GREY, 0.0),
        };
        let grey = self.grayscale.then(|| ColorMatrix::blend(0.0, GREY, 0.0));
        let map = self.order.iter().map(step).chain(grey).fold(ColorMatrix::IDENTITY, ColorMatrix::then);
        (map != ColorMatrix::IDENTITY).then_some(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One step after another, as torchvision writes it, but with mid-grey and without clamping in between.
    fn naive(draw: &ColorDraw, rgb: [f32; 3]) -> [f32; 3] {
        let grey = |v: [f32; 3]| v[0] * GREY[0] + v[1] * GREY[1] + v[2] * GREY[2];
        let mut v = rgb;
        for step in draw.order {
            let (factor, other) = match step {
                B => (draw.brightness, 0.0),
                C => (draw.contrast, MID_GREY),
                S => (draw.saturation, grey(v)),
            };
            v = v.map(|x| factor * x + (1.0 - factor) * other);
        }
        if draw.grayscale { [grey(v).clamp(0.0, 255.0); 3] } else { v.map(|x| x.clamp(0.0, 255.0)) }
    }

    proptest! {
        #[test]
        fn the_map_is_the_steps_one_after_another(
            factors in prop::array::uniform3(0.0f32..2.0), order in 0usize..6, grayscale: bool,
            rgb in prop::array::uniform3(0.0f32..255.0),
        ) {
            let [brightness, contrast, saturation] = factors;
            let draw = ColorDraw { brightness, contrast, saturation, order: ORDERS[order], grayscale };
            let found = draw.matrix().unwrap_or(ColorMatrix::IDENTITY).apply(rgb);
            for (a, b) in found.iter().zip(naive(&draw, rgb)) {
                prop_assert!((a - b).abs() < 2e-3, "{:?}: {} {}", draw, a, b);
            }
        }
    }

    #[test]
    fn nothing_asked_for_is_nothing_done() {
        let draw = ColorDraw::new(&LoaderOptions::default(), 1, 2);
        assert_eq!((draw, draw.matrix()), (ColorDraw::default(), None));
    }

    #[test]
    fn draws_are_in_range_and_of_their_sample() {
        let color = ColorJitter { brightness: 0.4, contrast: 1.5, saturation: 0.0, grayscale: 0.25 };
        let options = LoaderOptions { color, ..LoaderOptions::default() };
        let draws: Vec<_> = (0..2000).map(|sample| ColorDraw::new(&options, 0, sample)).collect();
        assert!(draws.iter().all(|d| (0.6..=1.4).contains(&d.brightness) && (0.0..=2.5).contains(&d.contrast)));
        assert!(draws.iter().all(|d| d.saturation == 1.0));
        assert!((400..600).contains(&draws.iter().filter(|d| d.grayscale).count()));
        assert!(ORDERS.iter().all(|order| draws.iter().filter(|d| d.order == *order).count() > 250));
        assert_eq!(ColorDraw::new(&options, 0, 7), draws[7]);
        assert_ne!(ColorDraw::new(&options, 1, 7), draws[7]);
    }
}
