//! The similarity of a decoded picture to the one that was encoded.

use std::fmt;
use std::str::FromStr;

use vidrec_format::error::{Error, Result};
use vidrec_format::planes::Planes;

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
    pub fn of(before: &Planes, after: &Planes) -> Self {
        Scores { psnr: psnr(&before.y, &after.y), ssim: ssim(&before.y, &after.y, before.width() as usize) }
    }
}

/// The minimum similarity of each JPEG to its picture.
///
/// Both measures use luma. As text, `psnr:40` or `ssim:0.98`.
///
/// ```
/// use vidrec::jpeg::QualityTarget;
///
/// assert_eq!("psnr:40".parse::<QualityTarget>()?, QualityTarget::Psnr(40.0));
/// assert_eq!(QualityTarget::Ssim(0.98).to_string(), "ssim:0.98");
/// # Ok::<(), vidrec::Error>(())
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
    use vidrec_format::random::Random;

    fn picture(width: u32, height: u32, noise: u32) -> Planes {
        let mut random = Random::new(2, &[noise.into()]);
        let mut picture = Planes::new(width, height).unwrap();
        let wave = |i: usize| 120.0 + 90.0 * (f64::from(i as u32 % width) / 5.0).sin();
        let values =
            (0..picture.y.len()).map(|i| (wave(i) + f64::from(random.next_u32() % (noise + 1))) as u8).collect();
        picture.y = values;
        picture
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
            let (a, b) = (picture(width, height, 0), picture(width, height, 40));
            let scores = Scores::of(&a, &b);
            let squares: f64 = a.y.iter().zip(&b.y).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2)).sum();
            let psnr = 10.0 * (255.0f64.powi(2) / (squares / a.y.len() as f64)).log10();
            assert!((scores.psnr - psnr.min(99.0)).abs() < 1e-9, "{width}x{height}");
            let ssim = ssim_of_windows(&a.y, &b.y, width as usize);
            assert!((scores.ssim - ssim).abs() < 1e-6, "{width}x{height}: {} {ssim}", scores.ssim);
            assert_eq!(Scores::of(&a, &a).psnr, 99.0);
            assert!((Scores::of(&a, &a).ssim - 1.0).abs() < 1e-12);
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
