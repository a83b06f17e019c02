//! Another size of a picture: Catmull and Rom's cubic, as wide as the pixels that become one (Keys, "Cubic convolution
//! interpolation for digital image processing", 1981).

use super::pixels::Picture;

impl Picture {
    /// The picture at another size.
    pub fn scaled(&self, width: u32, height: u32) -> Self {
        let (across, down) = (taps(self.width, width), taps(self.height, height));
        let columns: Vec<Vec<[f32; 3]>> = self
            .pixels
            .chunks_exact(self.width.max(1) as usize)
            .map(|row| {
                let row: Vec<_> = row.iter().map(|pixel| pixel.map(f32::from)).collect();
                across.iter().map(|tap| tap.sum(|x| row[x])).collect()
            })
            .collect();
        let rows = down.iter().flat_map(|tap| {
            let columns = &columns;
            (0..width as usize).map(move |x| tap.sum(|y| columns[y][x]).map(|value| value.round() as u8))
        });
        Picture { width, height, pixels: rows.collect() }
    }
}

/// The pixels of a row or column that become one, and how much of it each is.
struct Tap {
    first: usize,
    weights: Vec<f32>,
}

impl Tap {
    fn sum(&self, pixel: impl Fn(usize) -> [f32; 3]) -> [f32; 3] {
        let parts =
            self.weights.iter().enumerate().map(|(i, weight)| pixel(self.first + i).map(|value| value * weight));
        parts.fold([0.0; 3], |sum, part| std::array::from_fn(|c| sum[c] + part[c]))
    }
}

fn taps(from: u32, to: u32) -> Vec<Tap> {
    /// How far the cubic reaches, in pixels of the smaller picture.
    const REACH: f32 = 2.0;
    let ratio = from as f32 / to as f32;
    let size = ratio.max(1.0);
    let tap = |i: u32| {
        let center = (i as f32 + 0.5) * ratio;
        let first = (center - REACH * size).floor().max(0.0) as usize;
        let last = ((center + REACH * size).ceil() as usize).min(from as usize);
        let weights: Vec<f32> = (first..last).map(|pixel| cubic((pixel as f32 + 0.5 - center) / size)).collect();
        let whole: f32 = weights.iter().sum();
        Tap { first, weights: weights.into_iter().map(|weight| weight / whole).collect() }
    };
    (0..to).map(tap).collect()
}

fn cubic(at: f32) -> f32 {
    let at = at.abs();
    match at {
        0.0..1.0 => (1.5 * at - 2.5) * at * at + 1.0,
        1.0..2.0 => ((2.5 - 0.5 * at) * at - 4.0) * at + 2.0,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_size_is_the_same_picture_and_one_color_stays() {
        let mut picture = Picture::of(5, 4, [9, 200, 255]);
        assert!(picture.scaled(13, 2) == Picture::of(13, 2, [9, 200, 255]));
        *picture.pixel_mut(3, 1).unwrap() = [0, 7, 80];
        assert!(picture.scaled(5, 4) == picture);
    }

    #[test]
    fn a_slope_stays_a_slope_in_its_place() {
        let mut slope = Picture::of(64, 3, [0; 3]);
        (0..64).for_each(|x| (0..3).for_each(|y| *slope.pixel_mut(x, y).unwrap() = [4 * x as u8; 3]));
        let small = slope.scaled(16, 1);
        // The middle of pixel x is at 4 x + 1.5 of the 64.
        assert!((2..14).all(|x| small.pixel(x, 0) == Some([16 * x as u8 + 6; 3])), "{:?}", small.pixels());
    }
}
