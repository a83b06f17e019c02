//! Pictures of a clip to JPEGs.

use super::code::{CODES, Code, Counts};
use super::costs::Costs;
use super::dct::{Dct, scaling};
use super::quantization::quantizers;
use super::symbols::{END, Symbols, ZEROS};
use super::tile::{Plane, Rules, TileEncoder};
use super::write;
use crate::{Error, Planes, Result};

/// An encoder for the pictures of a clip; keeps its buffers.
///
/// The first picture decides the Huffman codes, and later ones keep them unless they need a symbol that those lack. So
/// the bytes of a picture depend on those before it.
#[derive(Debug)]
pub(crate) struct ThriftyEncoder {
    quantizers: [[u8; 64]; 2],
    lambda: f32,
    rules: Rules,
    tile: TileEncoder,
    symbols: Symbols,
    /// How often each symbol occurred in all pictures.
    counts: Box<[Counts; CODES]>,
    codes: Option<[Code; CODES]>,
}

impl ThriftyEncoder {
    /// An encoder at libjpeg's `quality`, 1 to 100.
    pub fn new(quality: u8) -> Self {
        Self::on(quality, Dct::all()[0])
    }

    pub(super) fn on(quality: u8, dct: Dct) -> Self {
        let (quantizers, lambda) = quantizers(quality);
        let usual = Costs::usual(lambda);
        ThriftyEncoder {
            quantizers,
            lambda,
            rules: Rules {
                dct,
                scaling: quantizers.each_ref().map(scaling),
                // 1 instead of 0 costs three bits at least, and saves 2 * size - 1 of distortion.
                zero_up_to: 0.5 + 1.25 * lambda,
                costs: [usual.clone(), usual],
            },
            tile: TileEncoder::new(),
            symbols: Symbols::new(),
            counts: Box::new([[0; 256]; CODES]),
            codes: None,
        }
    }

    /// Forgets the pictures before.
    pub fn start_clip(&mut self) {
        *self.counts = [[0; 256]; CODES];
        self.codes = None;
        self.rules.costs = [Costs::usual(self.lambda), Costs::usual(self.lambda)];
    }

    /// Replaces the contents of `jpeg` by the encoded `picture`, in tiles of `restart` MCUs: 1 or 2, which
    /// divide a row.
    pub fn encode(&mut self, picture: &Planes, restart: u16, jpeg: &mut Vec<u8>) -> Result<()> {
        let planes = planes(picture)?;
        self.symbols.clear();
        let mcus = usize::from(restart);
        let (across, down) = (planes[0].width.div_ceil(16), planes[0].height.div_ceil(16));
        for row in 0..down {
            for column in (0..across).step_by(mcus) {
                self.tile.encode(&planes, (column, row), mcus, &self.rules, &mut self.symbols)?;
            }
        }
        for (all, counts) in self.counts.iter_mut().zip(&*self.symbols.counts) {
            all.iter_mut().zip(counts).for_each(|(all, &count)| *all = all.saturating_add(count) & (u32::MAX >> 4));
        }
        let lacks =
            |codes: &[Code; CODES]| codes.iter().zip(&*self.symbols.counts).any(|(code, counts)| lacks(code, counts));
        let codes = match self.codes.take() {
            Some(codes) if !lacks(&codes) => codes,
            _ => self.make_codes(),
        };
        let header = write::Header { size: (picture.width(), picture.height()), restart, quantizers: &self.quantizers };
        let codes = self.codes.insert(codes);
        write::jpeg(&header, codes, &self.symbols, jpeg)
    }

    fn make_codes(&mut self) -> [Code; CODES] {
        let codes: [Code; CODES] = std::array::from_fn(|i| Code::best(&with_likely(&self.counts[i], i % 2 == 1)));
        self.rules.costs = [0, 1].map(|kind| Costs::of_codes(&codes[2 * kind], &codes[2 * kind + 1], self.lambda));
        codes
    }
}

/// Whether a symbol has no code.
fn lacks(code: &Code, counts: &Counts) -> bool {
    let words = code.words();
    counts.iter().zip(words).any(|(&count, (_, length))| count > 0 && length == 0)
}

/// The counts, with 1 for each symbol that did not occur but is likelier than one that did: of fewer zeros and fewer
/// bits. So the next pictures seldom need another code.
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
        // One bit more than any.
        let likely = if longest > 0 || zeros < 15 { longest + 1 } else { 0 };
        for bits in 1..=likely.min(if ac { 10 } else { 11 }) {
            let count = &mut counts[zeros << 4 | bits];
            *count = (*count).max(1);
        }
    }
    // The end of a block and sixteen zeros; no difference of DC.
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
            return Err(Error::usage("planes whose lengths do not fit the size of the picture"));
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
