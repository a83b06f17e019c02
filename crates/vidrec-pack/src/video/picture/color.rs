//! Converts a source's own color to JPEG's: range, matrix, chroma position, and the one rounding to 8 bits.
//!
//! Everything is linear algebra on YUV, never through 8-bit RGB. The arithmetic is in `f32`, for three reasons: 24
//! bits of precision for 16-bit samples, the same result on every machine, and loops that the compiler vectorizes.
//! The compiler builds the loops twice, the second time for AVX2. Both have the same operations in the same order,
//! none of them fused, so the bits are the same.

use vidrec_format::allocation;
use vidrec_format::error::Result;
use vidrec_jpeg::Planes;

use super::geometry::{ChromaLayout, Planes16, Size};

/// The shares of red, green and blue in luma and chroma.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Matrix {
    Bt601,
    Bt709,
    Bt2020,
    Smpte240m,
    Fcc,
    YCgCo,
}

/// Which code values are black and white.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColorRange {
    /// 16 to 235, chroma 16 to 240 (scaled to the depth).
    Limited,
    /// All code values of the given depth in bits.
    Full { depth: u32 },
}

type Matrix3 = [[f64; 3]; 3];

impl Matrix {
    pub fn name(self) -> &'static str {
        match self {
            Matrix::Bt601 => "bt601",
            Matrix::Bt709 => "bt709",
            Matrix::Bt2020 => "bt2020",
            Matrix::Smpte240m => "smpte240m",
            Matrix::Fcc => "fcc",
            Matrix::YCgCo => "ycgco",
        }
    }

    /// Returns the weights of red and blue in luma.
    fn weights(self) -> Option<(f64, f64)> {
        match self {
            Matrix::Bt601 => Some((0.299, 0.114)),
            Matrix::Bt709 => Some((0.2126, 0.0722)),
            Matrix::Bt2020 => Some((0.2627, 0.0593)),
            Matrix::Smpte240m => Some((0.212, 0.087)),
            Matrix::Fcc => Some((0.30, 0.11)),
            Matrix::YCgCo => None,
        }
    }

    /// Returns the matrix from (Y, Cb, Cr) to (R, G, B), with luma from 0 to 1 and chroma from -0.5 to 0.5.
    fn to_rgb(self) -> Matrix3 {
        let Some((kr, kb)) = self.weights() else {
            return [[1.0, -1.0, 1.0], [1.0, 1.0, 0.0], [1.0, -1.0, -1.0]];
        };
        let kg = 1.0 - kr - kb;
        let (cr_r, cb_b) = (2.0 * (1.0 - kr), 2.0 * (1.0 - kb));
        [[1.0, 0.0, cr_r], [1.0, -cb_b * kb / kg, -cr_r * kr / kg], [1.0, cb_b, 0.0]]
    }

    /// Returns the matrix from (Y, Cb, Cr) of this kind to (Y, Cb, Cr) of BT.601.
    ///
    /// The first column is always (1, 0, 0): gray stays gray, so new chroma does not depend on old luma.
    fn to_bt601(self) -> Matrix3 {
        let (kr, kb) = (0.299, 0.114);
        let y = [kr, 1.0 - kr - kb, kb];
        let from_rgb = [y, [-y[0] / 1.772, -y[1] / 1.772, 0.5], [0.5, -y[1] / 1.402, -y[2] / 1.402]];
        multiply(&from_rgb, &self.to_rgb())
    }
}

fn multiply(a: &Matrix3, b: &Matrix3) -> Matrix3 {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

/// The whole conversion as coefficients for 16-bit samples: factors and summands that yield 8-bit code values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ColorConversion {
    /// The factor of luma, and a constant that includes the rounding.
    y: (f32, f32),
    /// The amount that chroma adds to luma; `None` if the matrix does not change.
    y_chroma: Option<Mix>,
    cb: Mix,
    cr: Mix,
}

/// `cb * .0 + cr * .1 + .2`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Mix(f32, f32, f32);

impl Mix {
    #[inline(always)]
    fn of(self, cb: f32, cr: f32) -> f32 {
        cb * self.0 + cr * self.1 + self.2
    }
}

/// Neutral chroma in 16 bits.
const NEUTRAL: f64 = 32768.0;

impl ColorConversion {
    pub fn new(matrix: Matrix, range: ColorRange) -> Self {
        let (black, luma, chroma) = match range {
            ColorRange::Limited => (16.0 * 256.0, 219.0 * 256.0, 224.0 * 256.0),
            ColorRange::Full { depth } => {
                let depth = depth.clamp(1, 16);
                let span = f64::from(((1u32 << depth) - 1) << (16 - depth));
                (0.0, span, span)
            }
        };
        let m = matrix.to_bt601();
        let mix = |row: [f64; 3], add: f64| {
            let (cb, cr) = (row[1] * 255.0 / chroma, row[2] * 255.0 / chroma);
            Mix(cb as f32, cr as f32, (add - NEUTRAL * (cb + cr)) as f32)
        };
        let gain = 255.0 / luma;
        ColorConversion {
            y: (gain as f32, (0.5 - black * gain) as f32),
            y_chroma: (matrix != Matrix::Bt601).then(|| mix(m[0], 0.0)),
            cb: mix(m[1], 128.5),
            cr: mix(m[2], 128.5),
        }
    }

    /// Converts a picture whose chroma is centered (or as fine as luma).
    ///
    /// # Errors
    ///
    /// [`Planes`] refuses the size.
    pub fn run(&self, deep: &Planes16) -> Result<Planes> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: this machine has AVX2.
            return unsafe { self.run_avx2(deep) };
        }
        self.run_anywhere(deep)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn run_avx2(&self, deep: &Planes16) -> Result<Planes> {
        self.run_anywhere(deep)
    }

    #[inline(always)]
    fn run_anywhere(&self, deep: &Planes16) -> Result<Planes> {
        let mut out = Planes::new(deep.size.width, deep.size.height)?;
        self.luma(deep, self.y_chroma, &mut out.y)?;
        match deep.layout {
            ChromaLayout::Gray => {} // `Planes` starts with neutral chroma
            ChromaLayout::Half => self.chroma(&deep.cb, &deep.cr, &mut out),
            ChromaLayout::Full => self.chroma(&halve(&deep.cb, deep.size)?, &halve(&deep.cr, deep.size)?, &mut out),
        }
        Ok(out)
    }

    /// Converts luma. `mix` says what chroma adds to it.
    #[inline(always)]
    fn luma(&self, deep: &Planes16, mix: Option<Mix>, out: &mut [u8]) -> Result<()> {
        let scaled = |v: u16| f32::from(v) * self.y.0 + self.y.1;
        match (deep.layout, mix) {
            (ChromaLayout::Gray, _) | (_, None) => {
                for (o, &v) in out.iter_mut().zip(&deep.y) {
                    *o = byte(scaled(v));
                }
            }
            (ChromaLayout::Full, Some(mix)) => {
                for ((o, &v), (&cb, &cr)) in out.iter_mut().zip(&deep.y).zip(deep.cb.iter().zip(&deep.cr)) {
                    *o = byte(scaled(v) + mix.of(f32::from(cb), f32::from(cr)));
                }
            }
            (ChromaLayout::Half, Some(mix)) => self.luma_with_half_chroma(deep, mix, out)?,
        }
        Ok(())
    }

    #[inline(always)]
    fn chroma(&self, cb: &[u16], cr: &[u16], out: &mut Planes) {
        for ((o, p), (&cb, &cr)) in out.cb.iter_mut().zip(&mut out.cr).zip(cb.iter().zip(cr)) {
            let (cb, cr) = (f32::from(cb), f32::from(cr));
            *o = byte(self.cb.of(cb, cr));
            *p = byte(self.cr.of(cb, cr));
        }
    }

    /// New luma needs chroma at each luma sample: bilinear between the centered chroma samples, 3 parts to 1.
    #[inline(always)]
    fn luma_with_half_chroma(&self, deep: &Planes16, mix: Mix, out: &mut [u8]) -> Result<()> {
        let width = deep.size.width as usize;
        let chroma = deep.chroma_size();
        let cw = chroma.width as usize;
        let mut term = allocation::with_capacity(deep.cb.len(), "a picture")?;
        term.extend(deep.cb.iter().zip(&deep.cr).map(|(&cb, &cr)| mix.of(f32::from(cb), f32::from(cr))));
        let mut blend = vec![0f32; cw];
        for (y, (out, luma)) in out.chunks_exact_mut(width).zip(deep.y.chunks_exact(width)).enumerate() {
            let near = y / 2;
            let far = if y % 2 == 0 { near.saturating_sub(1) } else { (near + 1).min(chroma.height as usize - 1) };
            let (near, far) = (&term[near * cw..][..cw], &term[far * cw..][..cw]);
            for ((b, &n), &f) in blend.iter_mut().zip(near).zip(far) {
                *b = 0.75 * n + 0.25 * f;
            }
            for (x, (o, &v)) in out.iter_mut().zip(luma).enumerate() {
                let near = x / 2;
                let far = if x % 2 == 0 { near.saturating_sub(1) } else { (near + 1).min(cw - 1) };
                let c = 0.75 * blend[near] + 0.25 * blend[far];
                *o = byte(f32::from(v) * self.y.0 + self.y.1 + c);
            }
        }
        Ok(())
    }
}

/// Limits a value to 0 to 255, and drops the fraction. The constants already include the 0.5 of rounding.
///
/// The result is that of a cast to `u8`, in a form that the compiler vectorizes.
#[inline(always)]
#[allow(clippy::manual_clamp)] // `clamp` would leave a NaN
fn byte(v: f32) -> u8 {
    // SAFETY: `max` and `min` leave a number from 0 to 255 (and 0 of a NaN), which an `i32` can hold.
    unsafe { v.max(0.0).min(255.0).to_int_unchecked::<i32>() as u8 }
}

/// Returns the mean of each 2x2 block. A block cut by the edge repeats its last sample.
#[inline(always)]
fn halve(plane: &[u16], size: Size) -> Result<Vec<u16>> {
    let (w, h) = (size.width as usize, size.height as usize);
    let mut out = allocation::with_capacity(w.div_ceil(2) * h.div_ceil(2), "a picture")?;
    // A mean of u16s is a u16.
    let mean = |top: [u16; 2], bottom: [u16; 2]| {
        let [a, b, c, d] = [top[0], top[1], bottom[0], bottom[1]].map(u32::from);
        ((a + b + c + d + 2) / 4) as u16
    };
    for y in (0..h).step_by(2) {
        let (top, bottom) = (&plane[y * w..][..w], &plane[(y + 1).min(h - 1) * w..][..w]);
        let (top_pairs, top_last) = top.as_chunks();
        let (bottom_pairs, bottom_last) = bottom.as_chunks();
        out.extend(top_pairs.iter().zip(bottom_pairs).map(|(&top, &bottom)| mean(top, bottom)));
        out.extend(top_last.iter().zip(bottom_last).map(|(&top, &bottom)| mean([top; 2], [bottom; 2])));
    }
    Ok(out)
}

/// Moves chroma by a quarter of its own sample distance to the right (`x`) and down or up (`y`: 1, 0, -1).
///
/// This moves left-sited chroma, or chroma on the upper or lower luma row, to the center between four luma
/// samples.
pub(crate) fn center_chroma(plane: &mut [u16], size: Size, x: bool, y: i32) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: this machine has AVX2.
        return unsafe { center_chroma_avx2(plane, size, x, y) };
    }
    center_chroma_anywhere(plane, size, x, y);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn center_chroma_avx2(plane: &mut [u16], size: Size, x: bool, y: i32) {
    center_chroma_anywhere(plane, size, x, y);
}

#[inline(always)]
fn center_chroma_anywhere(plane: &mut [u16], size: Size, x: bool, y: i32) {
    let (w, h) = (size.width as usize, size.height as usize);
    if x && w > 1 {
        let mut line = vec![0u16; w];
        for row in plane.chunks_exact_mut(w) {
            line.copy_from_slice(row);
            // The inner samples come first, in a form that the compiler vectorizes; then those at the edges.
            for (o, v) in row.iter_mut().skip(1).zip(line.windows(4)) {
                *o = quarter(v[0], v[1], v[2], v[3]);
            }
            for i in [0, w.saturating_sub(2), w - 1] {
                row[i] =
                    quarter(line[i.saturating_sub(1)], line[i], line[(i + 1).min(w - 1)], line[(i + 2).min(w - 1)]);
            }
        }
    }
    if y != 0 && h > 1 {
        let before = plane.to_vec();
        let row = |i: i64| &before[(i.clamp(0, h as i64 - 1) as usize) * w..][..w];
        for (i, out) in plane.chunks_exact_mut(w).enumerate() {
            let (i, d) = (i as i64, i64::from(y));
            let (a, b, c, e) = (row(i - d), row(i), row(i + d), row(i + 2 * d));
            for ((((o, &a), &b), &c), &e) in out.iter_mut().zip(a).zip(b).zip(c).zip(e) {
                *o = quarter(a, b, c, e);
            }
        }
    }
}

/// Returns the value a quarter of the way from `b` to `c`, by Catmull-Rom through four samples. It keeps detail
/// that a plain 3:1 mean would blur.
#[inline(always)]
fn quarter(a: u16, b: u16, c: u16, d: u16) -> u16 {
    let [a, b, c, d] = [a, b, c, d].map(i32::from);
    let v = (-9 * a + 111 * b + 29 * c - 3 * d + 64) >> 7;
    v.clamp(0, 65535) as u16 // clamped, so the cast keeps the value
}

#[cfg(test)]
mod tests {
    use super::*;
    use vidrec_format::random::Random;

    /// Compares all code of this file on a machine of the best kind with that on any machine, for all layouts and
    /// odd sizes.
    #[test]
    fn every_machine_has_the_same_bits() {
        for (n, size) in [(1, 1), (2, 3), (33, 16), (70, 41), (128, 5)].into_iter().enumerate() {
            let size = Size { width: size.0, height: size.1 };
            for layout in [ChromaLayout::Gray, ChromaLayout::Half, ChromaLayout::Full] {
                let mut random = Random::new(n as u64, &[]);
                let mut deep = Planes16::new(size, layout).unwrap();
                for plane in [&mut deep.y, &mut deep.cb, &mut deep.cr] {
                    plane.fill_with(|| random.next_u32() as u16);
                }
                for matrix in [Matrix::Bt601, Matrix::Bt709, Matrix::YCgCo] {
                    for range in [ColorRange::Limited, ColorRange::Full { depth: 10 }] {
                        let conversion = ColorConversion::new(matrix, range);
                        assert_eq!(conversion.run(&deep).unwrap(), conversion.run_anywhere(&deep).unwrap());
                    }
                }
                for (x, y) in [(true, 0), (true, 1), (false, -1)] {
                    let (mut here, mut anywhere) = (deep.y.clone(), deep.y.clone());
                    center_chroma(&mut here, size, x, y);
                    center_chroma_anywhere(&mut anywhere, size, x, y);
                    assert_eq!(here, anywhere);
                }
            }
        }
    }

    fn flat(layout: ChromaLayout, y: u16, cb: u16, cr: u16) -> Planes16 {
        let mut d = Planes16::new(Size { width: 3, height: 3 }, layout).unwrap();
        d.y.fill(y);
        d.cb.fill(cb);
        d.cr.fill(cr);
        d
    }

    /// Compares pure BT.709 colors in limited range with BT.601 in full range, computed from RGB by the
    /// definitions.
    #[test]
    fn primaries_survive_the_change_of_matrix() {
        for rgb in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0], [0.25, 0.5, 0.75]] {
            let yuv = |kr: f64, kb: f64| {
                let y = kr * rgb[0] + (1.0 - kr - kb) * rgb[1] + kb * rgb[2];
                (y, (rgb[2] - y) / (2.0 * (1.0 - kb)), (rgb[0] - y) / (2.0 * (1.0 - kr)))
            };
            let (y, cb, cr) = yuv(0.2126, 0.0722);
            let deep = |v: f64, scale: f64, add: f64| ((v * scale + add) * 256.0).round() as u16;
            let source = (deep(y, 219.0, 16.0), deep(cb, 224.0, 128.0), deep(cr, 224.0, 128.0));
            let (y, cb, cr) = yuv(0.299, 0.114);
            let expect = [255.0 * y, 128.0 + 255.0 * cb, 128.0 + 255.0 * cr];
            for layout in [ChromaLayout::Half, ChromaLayout::Full] {
                let p = ColorConversion::new(Matrix::Bt709, ColorRange::Limited)
                    .run(&flat(layout, source.0, source.1, source.2))
                    .unwrap();
                for (got, want) in [p.y[4], p.cb[0], p.cr[0]].into_iter().zip(expect) {
                    assert!(
                        (f64::from(got) - want.min(255.0)).abs() <= 0.51,
                        "{rgb:?} {layout:?}: {got} is not {want}"
                    );
                }
            }
        }
    }

    #[test]
    fn centering_moves_a_ramp_by_a_quarter() {
        let size = Size { width: 8, height: 8 };
        let ramp = |f: fn(usize, usize) -> usize| -> Vec<u16> {
            (0..64).map(|i| (1000 + 400 * f(i % 8, i / 8)) as u16).collect()
        };
        let mut p = ramp(|x, _| x);
        center_chroma(&mut p, size, true, 0);
        assert_eq!(p[3], 1000 + 1200 + 100);
        let mut p = ramp(|_, y| y);
        center_chroma(&mut p, size, false, 1);
        assert_eq!(p[3 * 8], 1000 + 1200 + 100);
        let mut p = ramp(|_, y| y);
        center_chroma(&mut p, size, false, -1);
        assert_eq!(p[3 * 8], 1000 + 1200 - 100);
    }

    /// The rows are so short that most samples lie at an edge.
    #[test]
    fn centering_repeats_the_edges() {
        for w in 2..7u32 {
            let before: Vec<u16> = (0..w).map(|x| 5000 + 900 * (x * x % 7) as u16).collect();
            let mut after = before.clone();
            center_chroma(&mut after, Size { width: w, height: 1 }, true, 0);
            let at = |i: i64| before[i.clamp(0, i64::from(w) - 1) as usize];
            let expected: Vec<u16> =
                (0..i64::from(w)).map(|i| quarter(at(i - 1), at(i), at(i + 1), at(i + 2))).collect();
            assert_eq!(after, expected, "{w}");
        }
    }

    #[test]
    fn halving_repeats_the_edge() {
        assert_eq!(halve(&[1, 3, 9, 5, 7, 9, 20, 30, 40], Size { width: 3, height: 3 }).unwrap(), [4, 9, 25, 40]);
    }
}
