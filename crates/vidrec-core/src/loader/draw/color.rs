//! Colors of a clip: the draw, and the affine map that results from it.

use super::key::DrawKey;
use crate::loader::kernel::ColorMatrix;
use crate::loader::options::ColorJitter;
use serde::Serialize;
use vidrec_format::random::stream;

/// One of the three things that [`ColorJitter`] changes.
///
/// As a word (serde): `brightness`, `contrast` or `saturation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ColorStep {
    /// Multiplies levels by the factor.
    Brightness,
    /// Moves levels away from mid-gray by the factor.
    Contrast,
    /// Moves levels away from the pixel's own gray by the factor.
    Saturation,
}

/// The colors that were drawn for a clip. A factor of 1 changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ColorDraw {
    /// Factor of brightness.
    pub brightness: f32,
    /// Factor of contrast.
    pub contrast: f32,
    /// Factor of saturation.
    pub saturation: f32,
    /// The order in which the three apply.
    pub order: [ColorStep; 3],
    /// Whether the clip then becomes gray.
    pub grayscale: bool,
}

impl Default for ColorDraw {
    fn default() -> Self {
        ColorDraw { brightness: 1.0, contrast: 1.0, saturation: 1.0, order: ORDERS[0], grayscale: false }
    }
}

use ColorStep::{Brightness as B, Contrast as C, Saturation as S};
const ORDERS: [[ColorStep; 3]; 6] = [[B, C, S], [B, S, C], [C, B, S], [C, S, B], [S, B, C], [S, C, B]];

/// The weights of red, green and blue in gray: ITU-R BT.601, as rounded in torchvision.
const GRAY: [f32; 3] = [0.2989, 0.587, 0.114];

/// The middle of 0 and 255, which contrast does not change.
const MID_GRAY: f32 = 127.5;

impl ColorDraw {
    /// Draws the colors of a sample.
    pub(crate) fn new(jitter: &ColorJitter, key: DrawKey) -> Self {
        let ColorJitter { brightness, contrast, saturation, grayscale } = *jitter;
        if *jitter == ColorJitter::default() {
            return ColorDraw::default();
        }
        let mut random = key.random(stream::COLOR);
        let order = ORDERS[random.below(6) as usize];
        let mut factor = |x: f32| {
            let least = (1.0 - x).max(0.0);
            (f64::from(least) + f64::from(1.0 + x - least) * random.unit()) as f32
        };
        let (brightness, contrast, saturation) = (factor(brightness), factor(contrast), factor(saturation));
        ColorDraw { brightness, contrast, saturation, order, grayscale: random.unit() < f64::from(grayscale) }
    }

    /// The affine map of these colors; `None` if it changes nothing.
    pub fn matrix(&self) -> Option<ColorMatrix> {
        let step = |step: &ColorStep| match step {
            B => ColorMatrix::blend(self.brightness, [0.0; 3], 0.0),
            C => ColorMatrix::blend(self.contrast, [0.0; 3], MID_GRAY),
            S => ColorMatrix::blend(self.saturation, GRAY, 0.0),
        };
        let gray = self.grayscale.then(|| ColorMatrix::blend(0.0, GRAY, 0.0));
        let map = self.order.iter().map(step).chain(gray).fold(ColorMatrix::IDENTITY, ColorMatrix::then);
        (map != ColorMatrix::IDENTITY).then_some(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Applies one step after another, as in torchvision, but with mid-gray and without clamping in between.
    fn naive(draw: &ColorDraw, rgb: [f32; 3]) -> [f32; 3] {
        let gray = |v: [f32; 3]| v[0] * GRAY[0] + v[1] * GRAY[1] + v[2] * GRAY[2];
        let mut v = rgb;
        for step in draw.order {
            let (factor, other) = match step {
                B => (draw.brightness, 0.0),
                C => (draw.contrast, MID_GRAY),
                S => (draw.saturation, gray(v)),
            };
            v = v.map(|x| factor * x + (1.0 - factor) * other);
        }
        if draw.grayscale { [gray(v).clamp(0.0, 255.0); 3] } else { v.map(|x| x.clamp(0.0, 255.0)) }
    }

    proptest! {
        #[test]
        fn the_map_is_the_steps_one_after_another(
            factors in prop::array::uniform3(0.0f32..2.0), order in 0usize..6, grayscale: bool,
            rgb in prop::array::uniform3(0.0f32..255.0),
        ) {
            let [brightness, contrast, saturation] = factors;
            let draw = ColorDraw { brightness, contrast, saturation, order: ORDERS[order], grayscale };
            let ColorMatrix { rows, offset } = draw.matrix().unwrap_or(ColorMatrix::IDENTITY);
            for ((row, offset), b) in rows.iter().zip(offset).zip(naive(&draw, rgb)) {
                let a = (row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2] + offset).clamp(0.0, 255.0);
                prop_assert!((a - b).abs() < 2e-3, "{:?}: {} {}", draw, a, b);
            }
        }
    }

    #[test]
    fn nothing_asked_for_is_nothing_done() {
        let draw = ColorDraw::new(&ColorJitter::default(), DrawKey { seed: 0, epoch: 1, sample: 2 });
        assert_eq!((draw, draw.matrix()), (ColorDraw::default(), None));
    }

    #[test]
    fn draws_are_in_range_and_of_their_sample() {
        let color = ColorJitter { brightness: 0.4, contrast: 1.5, saturation: 0.0, grayscale: 0.25 };
        let draw = |epoch, sample| ColorDraw::new(&color, DrawKey { seed: 0, epoch, sample });
        let draws: Vec<_> = (0..2000).map(|sample| draw(0, sample)).collect();
        assert!(draws.iter().all(|d| (0.6..=1.4).contains(&d.brightness) && (0.0..=2.5).contains(&d.contrast)));
        assert!(draws.iter().all(|d| d.saturation == 1.0));
        assert!((400..600).contains(&draws.iter().filter(|d| d.grayscale).count()));
        assert!(ORDERS.iter().all(|order| draws.iter().filter(|d| d.order == *order).count() > 250));
        assert_eq!(draw(0, 7), draws[7]);
        assert_ne!(draw(1, 7), draws[7]);
    }
}
