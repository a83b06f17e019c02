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
