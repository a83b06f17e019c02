//! Encodes at a measured quality: PSNR, or structural similarity.

use std::fmt;
use std::str::FromStr;

use super::codec::{Decoder, Encoder};
use crate::Planes;
use vidrec_format::error::{Error, Result};

/// A picture that was encoded and measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// The quality of the JPEG, on the encoder's scale.
    pub quality: u8,
    /// The similarity of the JPEG to the original.
    pub scores: Scores,
}

/// Encodes pictures and measures the results. It keeps its buffers.
pub struct MeasuredEncoder {
    encoder: Encoder,
    decoder: Decoder,
    /// The picture after encoding and decoding.
    after: Planes,
    /// A JPEG that may be too large.
    tried: Vec<u8>,
}

/// The quality at which the search for the first picture begins.
const FIRST: u8 = 88;
const MOST: u8 = 100;

impl MeasuredEncoder {
    /// Creates a measuring encoder from `encoder`.
    pub fn new(encoder: Encoder) -> Result<Self> {
        let (decoder, after) = (Decoder::new()?, Planes::new(1, 1)?);
        Ok(MeasuredEncoder { encoder, decoder, after, tried: Vec::new() })
    }

    /// Encodes `picture` at the encoder's own quality.
    pub fn encode(&mut self, picture: &Planes, jpeg: &mut Vec<u8>) -> Result<Measured> {
        self.encoder.encode(picture, jpeg)?;
        self.decoder.decode_planes(jpeg, &mut self.after)?;
        let scores = Scores::between(picture, &self.after);
        Ok(Measured { quality: self.encoder.quality(), scores })
    }

    /// Encodes `picture` at the lowest quality that reaches `target`, or at the best quality if none does.
    ///
    /// The search begins at `near`, the quality of the picture before, which is usually right or one off. A score
    /// need not rise with every step of quality. The result reaches the target in any case, and the next lower
    /// quality does not.
    pub fn search(
        &mut self,
        picture: &Planes,
        target: QualityTarget,
        near: Option<u8>,
        jpeg: &mut Vec<u8>,
    ) -> Result<Measured> {
        let start = self.encoder.state();
        let mut best = None;
        // All qualities up to `fails` are too low.
        let (mut fails, mut quality, mut step) = (0u8, near.unwrap_or(FIRST), 1u8);
        loop {
            self.encoder.set_state(&start);
            self.encoder.set_quality(quality)?;
            let mut tried = std::mem::take(&mut self.tried);
            let measured = self.encode(picture, &mut tried);
            self.tried = tried;
            let measured = measured?;
            if target.is_reached(&measured.scores) || quality == MOST {
                std::mem::swap(jpeg, &mut self.tried);
                best = Some((measured, self.encoder.state()));
            } else {
                fails = quality;
            }
            // The steps grow until the answer is in between, then halve what is left.
            let lowest = best.as_ref().map(|(best, _)| best.quality);
            quality = match lowest {
                Some(lowest) if lowest - fails == 1 => break,
                Some(lowest) if fails > 0 => fails + (lowest - fails) / 2,
                Some(lowest) => lowest.saturating_sub(step).max(1),
                None => fails.saturating_add(step).min(MOST),
            };
            step = step.saturating_mul(2);
        }
        let (measured, state) = best.ok_or_else(|| vidrec_format::error::Error::internal("a search without an end"))?;
        self.encoder.set_state(&state);
        Ok(measured)
    }
}

/// Scores of luma. Chroma follows luma, because one quality sets both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scores {
    /// Peak signal-to-noise ratio in dB.
    pub psnr: f64,
    /// Structural similarity; 1 for identical pictures.
    pub ssim: f64,
}

impl Scores {
    /// Computes the scores of two pictures of the same size.
    pub fn between(before: &Planes, after: &Planes) -> Self {
        Scores { psnr: psnr(&before.y, &after.y), ssim: ssim(&before.y, &after.y, before.width() as usize) }
    }
}

/// The minimum similarity of each JPEG to its picture.
///
/// Both measures use luma. As text, `psnr:40` or `ssim:0.98`.
///
/// ```
/// use vidrec_jpeg::QualityTarget;
///
/// assert_eq!("psnr:40".parse::<QualityTarget>()?, QualityTarget::Psnr(40.0));
/// assert_eq!(QualityTarget::Ssim(0.98).to_string(), "ssim:0.98");
/// # Ok::<(), vidrec_jpeg::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum QualityTarget {
    /// Peak signal-to-noise ratio in dB: 10 lg (255² / mean of the squared errors). From 20 to 60.
    Psnr(f64),
    /// Structural similarity: the mean over windows of 8x8 samples, one every 4 samples in both directions, with equal
    /// weights. From 0.5 to 0.999.
    ///
    /// Wang, Bovik, Sheikh, Simoncelli, "Image Quality Assessment: From Error Visibility to Structural Similarity", IEEE
    /// Trans. Image Processing 13 (2004), equation 13 with K1 = 0.01 and K2 = 0.03.
    Ssim(f64),
}

impl QualityTarget {
    /// Whether these scores suffice.
    pub(crate) fn is_reached(self, scores: &Scores) -> bool {
        match self {
            QualityTarget::Psnr(least) => scores.psnr >= least,
            QualityTarget::Ssim(least) => scores.ssim >= least,
        }
    }

    /// Checks that a picture can have this number.
    #[doc(hidden)]
    pub fn check(self) -> Result<()> {
        let (name, value, range) = match self {
            QualityTarget::Psnr(psnr) => ("psnr", psnr, 20.0..=60.0),
            QualityTarget::Ssim(ssim) => ("ssim", ssim, 0.5..=0.999),
        };
        if range.contains(&value) {
            return Ok(());
        }
        let expected = format!("{} to {}", range.start(), range.end());
        Err(Error::usage(format!("the target {name} is out of range")).expected(expected).found(value))
    }
}

impl FromStr for QualityTarget {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let target = text.split_once(':').and_then(|(name, number)| {
            let number = number.parse().ok()?;
            match name {
                "psnr" => Some(QualityTarget::Psnr(number)),
                "ssim" => Some(QualityTarget::Ssim(number)),
                _ => None,
            }
        });
        let target = target.ok_or_else(|| {
            Error::usage(format!("expected a target quality such as psnr:40 or ssim:0.98, found {text:?}"))
        })?;
        target.check().map(|()| target)
    }
}

impl fmt::Display for QualityTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QualityTarget::Psnr(psnr) => write!(f, "psnr:{psnr}"),
            QualityTarget::Ssim(ssim) => write!(f, "ssim:{ssim}"),
        }
    }
}

/// The score of equal samples, which would otherwise be infinite.
const MOST_PSNR: f64 = 99.0;

pub(crate) fn psnr(before: &[u8], after: &[u8]) -> f64 {
    let square = |(&a, &b): (&u8, &u8)| u64::from(a.abs_diff(b)) * u64::from(a.abs_diff(b));
    let squares: u64 = before.iter().zip(after).map(square).sum();
    let least = 255.0 * 255.0 * before.len() as f64 / squares as f64;
    (10.0 * least.log10()).min(MOST_PSNR)
}

/// Samples along the side of a cell. A window is two cells wide and high.
const CELL: usize = 4;

/// Sums over the samples of a cell or window.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    count: u32,
    a: u32,
    b: u32,
    squares: u32,
    products: u32,
}

impl Sums {
    fn add(self, other: Sums) -> Self {
        Sums {
            count: self.count + other.count,
            a: self.a + other.a,
            b: self.b + other.b,
            squares: self.squares + other.squares,
            products: self.products + other.products,
        }
    }

    /// The sums of the cell in column `x` and row `y`, which ends with the picture.
    fn of_cell(before: &[u8], after: &[u8], width: usize, (x, y): (usize, usize)) -> Self {
        let mut sums = Sums::default();
        let columns = CELL * x..(CELL * (x + 1)).min(width);
        let rows = before.chunks_exact(width).zip(after.chunks_exact(width)).skip(CELL * y).take(CELL);
        for (before, after) in rows {
            for (&a, &b) in before[columns.clone()].iter().zip(&after[columns.clone()]) {
                let (a, b) = (u32::from(a), u32::from(b));
                sums = sums.add(Sums { count: 1, a, b, squares: a * a + b * b, products: a * b });
            }
        }
        sums
    }

    fn ssim(self) -> f64 {
        const C1: f64 = (0.01 * 255.0) * (0.01 * 255.0);
        const C2: f64 = (0.03 * 255.0) * (0.03 * 255.0);
        let n = f64::from(self.count);
        let (a, b) = (f64::from(self.a) / n, f64::from(self.b) / n);
        // The sum of both variances, and the covariance.
        let variances = f64::from(self.squares) / n - a * a - b * b;
        let covariance = f64::from(self.products) / n - a * b;
        (2.0 * a * b + C1) * (2.0 * covariance + C2) / ((a * a + b * b + C1) * (variances + C2))
    }
}

fn ssim(before: &[u8], after: &[u8], width: usize) -> f64 {
    let (across, down) = (width.div_ceil(CELL), (before.len() / width).div_ceil(CELL));
    let row = |y: usize| (0..across).map(|x| Sums::of_cell(before, after, width, (x, y))).collect::<Vec<_>>();
    let (mut sum, mut count) = (0.0, 0u32);
    let mut above = row(0);
    // A picture of one cell is a window of its own.
    for y in 1..down.max(2) {
        let below = if y < down { row(y) } else { vec![Sums::default(); across] };
        let columns: Vec<Sums> = above.iter().zip(&below).map(|(&above, &below)| above.add(below)).collect();
        for x in 0..across.max(2) - 1 {
            let right = columns.get(x + 1).copied().unwrap_or_default();
            sum += columns[x].add(right).ssim();
            count += 1;
        }
        above = below;
    }
    sum / f64::from(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing;

    fn picture(noise: u32) -> Planes {
        fuzzing::picture(96, 64, noise)
    }

    fn encoder(effort: u8) -> MeasuredEncoder {
        let mut encoder = Encoder::new(90).unwrap();
        encoder.set_effort(effort).unwrap();
        MeasuredEncoder::new(encoder).unwrap()
    }

    #[test]
    fn the_lowest_quality_that_reaches_the_target_is_found_from_anywhere() {
        for target in [QualityTarget::Psnr(32.0), QualityTarget::Psnr(41.5), QualityTarget::Ssim(0.97)] {
            let mut all = Vec::new();
            for quality in 1..=100 {
                let encoder = Encoder::new(quality).unwrap();
                let measured = MeasuredEncoder::new(encoder).unwrap().encode(&picture(25), &mut Vec::new()).unwrap();
                all.push(target.is_reached(&measured.scores));
            }
            for near in [None, Some(1), Some(37), Some(99), Some(100)] {
                let (mut jpeg, mut plain) = (Vec::new(), Vec::new());
                let found = encoder(0).search(&picture(25), target, near, &mut jpeg).unwrap();
                assert!(target.is_reached(&found.scores));
                assert!(!all[usize::from(found.quality) - 2], "{target}: {found:?} from {near:?}");
                Encoder::new(found.quality).unwrap().encode(&picture(25), &mut plain).unwrap();
                assert!(jpeg == plain, "the JPEG is that of the quality found");
            }
        }
    }

    #[test]
    fn what_was_tried_leaves_no_trace_in_the_pictures_that_follow() {
        let target = QualityTarget::Psnr(38.0);
        let run = |near| {
            let mut encoder = encoder(1);
            let mut jpegs = [Vec::new(), Vec::new(), Vec::new()];
            let mut last = near;
            for (noise, jpeg) in (24..).zip(&mut jpegs) {
                let found = encoder.search(&picture(noise), target, last, jpeg).unwrap();
                assert!(target.is_reached(&found.scores), "{found:?}");
                last = Some(found.quality);
            }
            (jpegs, last)
        };
        // Paths of any length must lead to the same quality.
        assert_eq!(run(Some(3)), run(Some(97)));
    }

    #[test]
    fn a_target_beyond_all_qualities_gives_the_best() {
        let found = encoder(1).search(&picture(255), QualityTarget::Ssim(1.1), None, &mut Vec::new()).unwrap();
        assert_eq!(found.quality, 100);
    }

    /// Computes each window by itself, as in the paper.
    fn ssim_of_windows(a: &[u8], b: &[u8], width: usize) -> f64 {
        let height = a.len() / width;
        let cells = |side: usize| side.div_ceil(4).max(2) - 1;
        let mut all = Vec::new();
        for y in 0..cells(height) {
            for x in 0..cells(width) {
                let places: Vec<_> = (4 * y..(4 * y + 8).min(height))
                    .flat_map(|y| (4 * x..(4 * x + 8).min(width)).map(move |x| y * width + x))
                    .collect();
                let n = places.len() as f64;
                let mean = |s: &[u8]| places.iter().map(|&i| f64::from(s[i])).sum::<f64>() / n;
                let (ma, mb) = (mean(a), mean(b));
                let sum = |s: &[u8], ms: f64, t: &[u8], mt: f64| {
                    places.iter().map(|&i| (f64::from(s[i]) - ms) * (f64::from(t[i]) - mt)).sum::<f64>() / n
                };
                let (c1, c2) = (6.5025, 58.5225);
                all.push(
                    (2.0 * ma * mb + c1) * (2.0 * sum(a, ma, b, mb) + c2)
                        / ((ma * ma + mb * mb + c1) * (sum(a, ma, a, ma) + sum(b, mb, b, mb) + c2)),
                );
            }
        }
        all.iter().sum::<f64>() / all.len() as f64
    }

    #[test]
    fn scores_are_those_of_the_formulas() {
        for (width, height) in [(1, 1), (3, 2), (4, 9), (8, 8), (21, 13), (64, 48)] {
            let [a, b] = [1, 40].map(|noise| fuzzing::picture(width, height, noise));
            let scores = Scores::between(&a, &b);
            let squares: f64 = a.y.iter().zip(&b.y).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2)).sum();
            let psnr = 10.0 * (255.0f64.powi(2) / (squares / a.y.len() as f64)).log10();
            assert!((scores.psnr - psnr.min(99.0)).abs() < 1e-9, "{width}x{height}");
            let ssim = ssim_of_windows(&a.y, &b.y, width as usize);
            assert!((scores.ssim - ssim).abs() < 1e-6, "{width}x{height}: {} {ssim}", scores.ssim);
            assert_eq!(Scores::between(&a, &a).psnr, 99.0);
            assert!((Scores::between(&a, &a).ssim - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn targets_read_back_as_themselves_and_others_are_refused() {
        for text in ["psnr:40", "psnr:38.5", "ssim:0.98"] {
            assert_eq!(text.parse::<QualityTarget>().unwrap().to_string(), text);
        }
        for bad in ["", "40", "psnr", "psnr:", "psnr:x", "psnr:nan", "psnr:19", "ssim:1", "ssim:40", "mse:3", "PSNR:40"]
        {
            assert!(bad.parse::<QualityTarget>().is_err(), "{bad}");
        }
    }
}
