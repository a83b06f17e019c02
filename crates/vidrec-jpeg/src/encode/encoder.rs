//! Encodes the pictures of a clip as JPEGs.

use super::coefficients::Costs;
use super::dct::{Dct, Scaling, scaling};
use super::huffman::{self, CODES, Code, Counts, END, Symbols, ZEROS};
use super::tile::{Plane, Samples};
use super::tile::{Rules, TileEncoder};
use crate::Planes;
use vidrec_format::error::{Error, Result};

/// An encoder for the pictures of a clip. It keeps its buffers.
///
/// The first picture determines the Huffman codes. Later pictures keep them unless they need a symbol that the
/// codes lack. The bytes of a picture therefore depend on the pictures before it.
#[derive(Debug)]
pub(crate) struct RateDistortionEncoder {
    /// The quantizers of luma and chroma, in zigzag order.
    quantizers: [[u8; 64]; 2],
    lambda: f32,
    dct: Dct,
    scaling: [Scaling; 2],
    rules: Rules,
    tile: TileEncoder,
    symbols: Symbols,
    /// The number of occurrences of each symbol in all pictures.
    counts: Box<[Counts; CODES]>,
    codes: Option<[Code; CODES]>,
}

impl RateDistortionEncoder {
    /// Creates an encoder with libjpeg's `quality`, 1 to 100.
    pub fn new(quality: u8) -> Self {
        Self::on(quality, Dct::all()[0])
    }

    pub(super) fn on(quality: u8, dct: Dct) -> Self {
        let (quantizers, lambda) = quantizers(quality);
        RateDistortionEncoder {
            quantizers,
            lambda,
            dct,
            scaling: quantizers.each_ref().map(scaling),
            rules: Rules { zero_up_to: zero_up_to(lambda), costs: costs(None, lambda) },
            tile: TileEncoder::new(),
            symbols: Symbols::new(),
            counts: Box::new([[0; 256]; CODES]),
            codes: None,
        }
    }

    /// Forgets all earlier pictures.
    pub fn start_clip(&mut self) {
        *self.counts = [[0; 256]; CODES];
        self.codes = None;
        self.rules.costs = costs(None, self.lambda);
    }

    /// Replaces the contents of `jpeg` by the encoded `picture`, in tiles of `restart` MCUs. `restart` is 1 or 2,
    /// and divides a row.
    pub fn encode(&mut self, picture: &Planes, restart: u16, jpeg: &mut Vec<u8>) -> Result<()> {
        let (size, planes) = ((picture.width(), picture.height()), planes(picture)?);
        let scaling = self.scaling;
        self.choose(&Samples { size, planes, dct: self.dct, scaling: &scaling }, restart)?;
        jpeg.clear();
        jpeg.extend_from_slice(&huffman::JFIF);
        huffman::frame(size, &self.quantizers, jpeg);
        self.write(restart, jpeg)
    }

    /// Chooses the symbols of a picture, and makes its codes.
    fn choose(&mut self, source: &Samples<'_>, restart: u16) -> Result<()> {
        self.symbols.clear();
        let mcus = usize::from(restart);
        let (across, down) = (source.size.0.div_ceil(16) as usize, source.size.1.div_ceil(16) as usize);
        for row in 0..down {
            for column in (0..across).step_by(mcus) {
                self.tile.encode(source, (column, row), mcus, &self.rules, &mut self.symbols)?;
            }
        }
        for (all, counts) in self.counts.iter_mut().zip(&*self.symbols.counts) {
            all.iter_mut().zip(counts).for_each(|(all, &count)| *all = all.saturating_add(count) & (u32::MAX >> 4));
        }
        let lacks =
            |codes: &[Code; CODES]| codes.iter().zip(&*self.symbols.counts).any(|(code, counts)| lacks(code, counts));
        if self.codes.as_ref().is_none_or(lacks) {
            self.codes = Some(self.make_codes());
        }
        Ok(())
    }

    fn write(&mut self, restart: u16, jpeg: &mut Vec<u8>) -> Result<()> {
        let codes = match self.codes.take() {
            Some(codes) => codes,
            None => self.make_codes(),
        };
        huffman::scan(self.codes.insert(codes), restart, &self.symbols, jpeg)
    }

    fn make_codes(&mut self) -> [Code; CODES] {
        let codes: [Code; CODES] = std::array::from_fn(|i| Code::best(&with_likely(&self.counts[i], i % 2 == 1)));
        self.rules.costs = costs(Some(&codes), self.lambda);
        codes
    }
}

/// Coefficients up to this size become zero. A 1 instead of a 0 costs at least three bits, and saves 2 * size - 1
/// of distortion.
fn zero_up_to(lambda: f32) -> f32 {
    0.5 + 1.25 * lambda
}

/// The costs of luma's and chroma's symbols in `codes`, or in usual codes if there are none yet.
fn costs(codes: Option<&[Code; CODES]>, lambda: f32) -> [Costs; 2] {
    match codes {
        Some([luma_dc, luma_ac, chroma_dc, chroma_ac]) => {
            [Costs::from_codes(luma_dc, luma_ac, lambda), Costs::from_codes(chroma_dc, chroma_ac, lambda)]
        }
        None => [Costs::usual(lambda), Costs::usual(lambda)],
    }
}

/// Whether the code lacks any of the symbols.
fn lacks(code: &Code, counts: &Counts) -> bool {
    let words = code.words();
    counts.iter().zip(words).any(|(&count, (_, length))| count > 0 && length == 0)
}

/// Returns the counts, with 1 for each symbol that did not occur but is likelier than one that did, because it has
/// fewer zeros and fewer bits. The next pictures then seldom need another code.
fn with_likely(counts: &Counts, ac: bool) -> Counts {
    let mut counts = *counts;
    let most = if ac { 15 } else { 0 };
    let mut longest = 0;
    for zeros in (0..=most).rev() {
        for bits in (1..16).rev() {
            if counts[zeros << 4 | bits] > 0 {
                longest = longest.max(bits);
            }
        }
        // One bit more than any symbol has.
        let likely = if longest > 0 || zeros < 15 { longest + 1 } else { 0 };
        for bits in 1..=likely.min(if ac { 10 } else { 11 }) {
            let count = &mut counts[zeros << 4 | bits];
            *count = (*count).max(1);
        }
    }
    // For AC, these are the end of a block and sixteen zeros. For DC, it is the symbol for no difference.
    for symbol in [END, ZEROS].into_iter().take(if ac { 2 } else { 1 }) {
        let count = &mut counts[usize::from(symbol)];
        *count = (*count).max(1);
    }
    counts
}

fn planes(picture: &Planes) -> Result<[Plane<'_>; 3]> {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let plane = |samples: &'_ [u8], width, height| {
        if samples.len() != width * height {
            return Err(Error::usage("the lengths of the planes do not fit the size of the picture"));
        }
        Ok(())
    };
    let (chroma_width, chroma_height) = (width.div_ceil(2), height.div_ceil(2));
    plane(&picture.y, width, height)?;
    plane(&picture.cb, chroma_width, chroma_height)?;
    plane(&picture.cr, chroma_width, chroma_height)?;
    Ok([
        Plane { samples: &picture.y, width, height },
        Plane { samples: &picture.cb, width: chroma_width, height: chroma_height },
        Plane { samples: &picture.cr, width: chroma_width, height: chroma_height },
    ])
}

/// The quantizer of the highest frequency, relative to that of the lowest, less 1.
const LUMA_SLOPE: f64 = 4.0;
const CHROMA_SLOPE: f64 = 2.5;
/// Chroma's lowest quantizer, in units of luma's. Each chroma sample affects four pixels.
const CHROMA: f64 = 0.85;

/// The worth of a bit, in squared quantizers. At high rates, the slope of distortion over rate is 2 ln 2 / 12 =
/// 0.116.
const LAMBDA: f64 = 0.1;

/// Luma's quantizer of the lowest frequency, in 256ths, at some qualities. With these, the mean PSNR in RGB is
/// that of libjpeg at the same quality. Values in between are interpolated linearly.
const STEPS: [(u8, u32); 10] = [
    (1, 60_000),
    (10, 11_200),
    (25, 4460),
    (50, 2480),
    (75, 1450),
    (85, 970),
    (90, 714),
    (95, 413),
    (98, 229),
    (100, 50),
];

/// The quantizers of luma and chroma in zigzag order, and the worth of a bit.
pub(super) fn quantizers(quality: u8) -> ([[u8; 64]; 2], f32) {
    // At the best quality, no coefficient is given up.
    let worth = f64::from(100 - quality.min(100)) / 5.0;
    (of_step(step(quality) / 256.0), (LAMBDA * worth.min(1.0)) as f32)
}

fn of_step(step: f64) -> [[u8; 64]; 2] {
    [(1.0, LUMA_SLOPE), (CHROMA, CHROMA_SLOPE)].map(|(lowest, slope)| {
        super::order::ZIGZAG.map(|place| {
            let (row, column) = (f64::from(place / 8), f64::from(place % 8));
            let frequency = ((row * row + column * column) / 98.0).sqrt();
            (step * lowest * (1.0 + slope * frequency)).round().clamp(1.0, 255.0) as u8
        })
    })
}

fn step(quality: u8) -> f64 {
    let after = STEPS.iter().position(|&(anchor, _)| quality <= anchor).unwrap_or(STEPS.len() - 1).max(1);
    let [(low, from), (high, to)] = [STEPS[after - 1], STEPS[after]].map(|(q, step)| (f64::from(q), f64::from(step)));
    from + (to - from) * (f64::from(quality) - low) / (high - low)
}
