//! Computes the perceptual hash of a frame: the signs of the low frequencies of its luma.
//!
//! As in pHash (Zauner, *Implementation and benchmarking of perceptual image hash functions*, 2010), the picture
//! is averaged to 32 x 32 pixels, whatever its shape, and transformed by a DCT. A bit of the hash says whether a
//! coefficient is positive. The size, quality, brightness and contrast of a picture change few of the signs. There
//! are 256 bits, those of the 16 x 16 lowest frequencies. The 64 bits of pHash are the [`key`](Hash::key), which
//! finds similar hashes. All 256 together distinguish pages of text, which are alike in low frequencies. A
//! mirrored picture has the opposite sign at every odd horizontal frequency.

use std::f64::consts::PI;

use image::GrayImage;
use image::imageops::{self, FilterType};

/// The side of the picture that is transformed.
const SIDE: usize = 32;

/// The number of frequencies that are kept along each axis.
const KEPT: usize = 16;

/// The number of cells along each side of a [`Hash`].
const CELLS: usize = 8;

/// The content of a frame, in 96 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hash {
    /// The signs. The sign of horizontal frequency u and vertical frequency v is bit `16 v + u`.
    bits: [u64; 4],
    /// The mean luma of 8 x 8 cells, row by row.
    cells: [u8; CELLS * CELLS],
}

/// The picture to hash: luma, averaged to 32 x 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Thumb(pub [u8; SIDE * SIDE]);

impl Thumb {
    pub fn of(luma: &GrayImage) -> Self {
        let small = imageops::resize(luma, SIDE as u32, SIDE as u32, FilterType::Triangle);
        Thumb(std::array::from_fn(|i| small.as_raw()[i]))
    }

    /// Returns the mean difference of the pixels of two pictures.
    pub fn mean_change(&self, other: &Thumb) -> f32 {
        let sum: u32 = self.0.iter().zip(&other.0).map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
        sum as f32 / (SIDE * SIDE) as f32
    }

    /// Returns how much the distribution of brightness differs: half the sum of the differences of two histograms
    /// of 16 bins, 0 to 1.
    pub fn spread_change(&self, other: &Thumb) -> f32 {
        let histogram = |thumb: &Thumb| {
            let mut bins = [0i32; 16];
            thumb.0.iter().for_each(|luma| bins[usize::from(luma >> 4)] += 1);
            bins
        };
        let bins = histogram(self).into_iter().zip(histogram(other));
        bins.map(|(a, b)| (a - b).abs()).sum::<i32>() as f32 / (2 * SIDE * SIDE) as f32
    }

    /// Returns the standard deviation of the luma.
    pub fn contrast(&self) -> f32 {
        let count = (SIDE * SIDE) as f32;
        let mean = self.0.iter().map(|&luma| f32::from(luma)).sum::<f32>() / count;
        let squares = self.0.iter().map(|&luma| (f32::from(luma) - mean) * (f32::from(luma) - mean));
        (squares.sum::<f32>() / count).sqrt()
    }
}

/// Returns `cos((2 x + 1) u pi / 64)` in units of 2^-14, from a table of the 65 values of a quarter wave. Whole
/// numbers make the signs the same on every machine.
fn cosine(x: usize, u: usize) -> i64 {
    let at = (2 * x + 1) * u % 128;
    let quarter = |at: usize| (((at as f64) * PI / 64.0).cos() * 16384.0).round() as i64;
    match at {
        0..=32 => quarter(at),
        33..=64 => -quarter(64 - at),
        65..=96 => -quarter(at - 64),
        _ => quarter(128 - at),
    }
}

/// The cosines of all pixels and frequencies.
pub(super) struct Cosines(Box<[[i64; SIDE]; KEPT]>);

impl Cosines {
    pub fn new() -> Self {
        let mut table = Box::new([[0; SIDE]; KEPT]);
        for (u, row) in table.iter_mut().enumerate() {
            row.iter_mut().enumerate().for_each(|(x, value)| *value = cosine(x, u));
        }
        Cosines(table)
    }

    /// Returns the coefficient of each kept frequency, up to a factor.
    fn transform(&self, thumb: &Thumb) -> [[i64; KEPT]; KEPT] {
        let mut across = [[0i64; SIDE]; KEPT];
        for (u, cosines) in self.0.iter().enumerate() {
            for (y, row) in thumb.0.chunks_exact(SIDE).enumerate() {
                across[u][y] = row.iter().zip(cosines).map(|(&luma, cosine)| i64::from(luma) * cosine).sum();
            }
        }
        let mut found = [[0; KEPT]; KEPT];
        for (v, cosines) in self.0.iter().enumerate() {
            for (u, column) in across.iter().enumerate() {
                found[v][u] = column.iter().zip(cosines).map(|(value, cosine)| value * cosine).sum();
            }
        }
        found
    }
}

/// The lowest contrast of a picture with meaningful signs. Below it, the signs are noise. A black picture has no
/// contrast.
const MIN_CONTRAST: f32 = 6.0;

impl Hash {
    pub fn of(thumb: &Thumb, cosines: &Cosines) -> Self {
        let mut bits = [0u64; 4];
        if thumb.contrast() >= MIN_CONTRAST {
            for (v, row) in cosines.transform(thumb).iter().enumerate() {
                for (u, &value) in row.iter().enumerate().filter(|(u, _)| (*u, v) != (0, 0)) {
                    bits[v / 4] |= u64::from(value > 0) << (v % 4 * KEPT + u);
                }
            }
        }
        let mut cells = [0; CELLS * CELLS];
        let size = SIDE / CELLS;
        for (i, cell) in cells.iter_mut().enumerate() {
            let (x, y) = (i % CELLS * size, i / CELLS * size);
            let rows = (y..y + size).map(|y| &thumb.0[y * SIDE + x..][..size]);
            let sum: u32 = rows.flatten().map(|&luma| u32::from(luma)).sum();
            *cell = (sum / (size * size) as u32) as u8;
        }
        Hash { bits, cells }
    }

    /// Whether the picture has too little contrast for meaningful signs.
    pub fn is_flat(&self) -> bool {
        self.bits == [0; 4]
    }

    /// Returns the 64 bits of the frequencies 1 to 8, as in pHash.
    pub fn key(&self) -> u64 {
        let bits_of = |v: usize| self.bits[v / 4] >> (v % 4 * KEPT + 1) & 0xff;
        (1..=8).fold(0, |key, v| key | bits_of(v) << ((v - 1) * 8))
    }

    /// Returns the hash of the mirrored picture.
    pub fn mirrored(&self) -> Self {
        const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
        let mut cells = self.cells;
        cells.chunks_exact_mut(CELLS).for_each(<[u8]>::reverse);
        Hash { bits: if self.is_flat() { self.bits } else { self.bits.map(|bits| bits ^ ODD) }, cells }
    }

    /// Returns the number of different bits, up to 256.
    pub fn distance(&self, other: &Hash) -> u32 {
        self.bits.iter().zip(&other.bits).map(|(a, b)| (a ^ b).count_ones()).sum()
    }

    /// Returns the largest difference of the brightness of a cell, without that of the whole picture.
    pub fn largest_cell_change(&self, other: &Hash) -> u32 {
        let difference = |(a, b): (&u8, &u8)| i32::from(*a) - i32::from(*b);
        let cells = || self.cells.iter().zip(&other.cells).map(difference);
        let mean = cells().sum::<i32>() / (CELLS * CELLS) as i32;
        cells().map(|d| (d - mean).unsigned_abs()).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a picture whose pixels are means of 8 x 8 points.
    fn luma(width: usize, height: usize, of: impl Fn(f64, f64) -> f64) -> GrayImage {
        let at = |i: usize, part: usize, length: usize| ((8 * i + part) as f64 + 0.5) / (8 * length) as f64;
        let point = |i: usize, p: usize| of(at(i % width, p % 8, width), at(i / width, p / 8, height));
        let pixel = |i: usize| ((0..64).map(|p| point(i, p)).sum::<f64>() / 64.0) as u8;
        GrayImage::from_raw(width as u32, height as u32, (0..width * height).map(pixel).collect()).unwrap()
    }

    /// Returns waves, and patches with sharp edges, so that the picture contains all frequencies.
    fn scene(x: f64, y: f64) -> f64 {
        let (column, row) = ((x * 9.0) as u32, (y * 7.0) as u32);
        let patch = f64::from((column * 7 + row * 13 + column * row * 5) % 11);
        60.0 + 40.0 * (5.0 * x + 2.0 * y).sin() + 30.0 * (9.0 * y * x).cos() + 9.0 * patch
    }

    fn hash(luma: &GrayImage) -> Hash {
        Hash::of(&Thumb::of(luma), &Cosines::new())
    }

    #[test]
    fn size_brightness_and_contrast_change_few_bits() {
        let first = hash(&luma(43, 32, scene));
        for (width, height) in [(32, 32), (64, 48), (160, 120), (33, 57)] {
            let other = hash(&luma(width, height, |x, y| 30.0 + 0.7 * scene(x, y)));
            assert!(first.distance(&other) <= 48, "{width}x{height}: {}", first.distance(&other));
        }
        let other = hash(&luma(43, 32, |x, y| 120.0 + 100.0 * (17.0 * x * y + 3.0 * x).sin()));
        assert!(first.distance(&other) > 80, "{}", first.distance(&other));
        assert!(first.largest_cell_change(&other) > 40);
    }

    #[test]
    fn a_mirrored_picture_has_the_mirrored_hash() {
        let (there, back) = (hash(&luma(64, 48, scene)), hash(&luma(64, 48, |x, y| scene(1.0 - x, y))));
        assert!(there.mirrored().distance(&back) <= 4, "{}", there.mirrored().distance(&back));
        assert!(there.distance(&back) > 60 && there.mirrored().largest_cell_change(&back) <= 1);
        assert_eq!(there.mirrored().mirrored(), there);
    }

    #[test]
    fn flat_pictures_have_no_signs() {
        let flat = hash(&luma(43, 32, |x, _| 16.0 + 3.0 * x));
        assert!(flat.is_flat() && flat.mirrored().is_flat() && flat.key() == 0);
        assert!(!hash(&luma(43, 32, scene)).is_flat());
    }

    #[test]
    fn the_key_has_the_low_frequencies() {
        let first = hash(&luma(43, 32, scene));
        let mut other = first;
        other.bits[0] ^= 1 << 17; // u = 1, v = 1
        other.bits[2] ^= 1 << 8; // u = 8, v = 8
        other.bits[3] ^= 1 << 40;
        assert_eq!((first.key() ^ other.key(), first.distance(&other)), (1 | 1 << 63, 3));
    }

    /// The copies have other sizes, so their pixels lie elsewhere.
    #[test]
    fn a_scaled_copy_has_nearly_the_same_hash() {
        use crate::report::check::luma::{Detail, LumaDecoder};
        use vidrec_jpeg::Encoder;
        use vidrec_jpeg::Planes;
        let mut decoder = LumaDecoder::new().unwrap();
        let mut hash = |width: u32, height: u32| {
            let mut picture = Planes::new(width, height).unwrap();
            for (i, luma) in picture.y.iter_mut().enumerate() {
                let (x, y) = (i % width as usize, i / width as usize);
                let (x, y) = ((x as f64 + 0.5) / f64::from(width), (y as f64 + 0.5) / f64::from(height));
                let waves = (1..14).map(|k| {
                    let k = f64::from(k);
                    ((k * 2.3 * x + 0.7 * k * k * y).sin() + (k * 3.1 * y - 0.4 * k * k * x).cos()) / k.sqrt()
                });
                *luma = (128.0 + 22.0 * waves.sum::<f64>()).clamp(0.0, 255.0) as u8;
            }
            let mut jpeg = Vec::new();
            Encoder::new(80).unwrap().encode(&picture, &mut jpeg).unwrap();
            let luma = decoder.decode(&jpeg, Detail::Fine).unwrap();
            Hash::of(&Thumb::of(&luma), &Cosines::new())
        };
        let whole = hash(340, 256);
        for (width, height) in [(212, 160), (214, 160), (266, 200), (170, 128), (680, 512)] {
            let copy = hash(width, height);
            let bits = whole.distance(&copy);
            assert!(bits <= 8 && whole.largest_cell_change(&copy) <= 4, "{width}x{height}: {bits} bits");
        }
    }
}
