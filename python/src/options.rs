//! A loader's options from the dict that `vidrec/_options.py` makes of the arguments.

use std::sync::Arc;

use pyo3::prelude::*;
use vidrec::order::{LastBatch, Order, Weights};
use vidrec::{Channels, ColorJitter, Crop, Draws, Dtype, Io, Layout, LoaderOptions, OnBadFrame, Start, Temporal};

use crate::error::{raise, usage};

/// Every key must be there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    batch_size: u32,
    frames: Option<u32>,
    temporal: String,
    stride: u32,
    views: u32,
    /// Width, height.
    size: (u32, u32),
    resize_short: Option<(u32, u32)>,
    crop: String,
    scale: (f64, f64),
    ratio: (f64, f64),
    flip: f32,
    /// Brightness, contrast, saturation, grayscale.
    color: (f32, f32, f32, f32),
    channels: String,
    dtype: String,
    layout: String,
    mean: [f32; 3],
    std: [f32; 3],
    reducing_gap: Option<f64>,
    order: String,
    block: u32,
    window: u32,
    given: Option<Vec<u64>>,
    weights: Option<Vec<f64>>,
    draws: String,
    seed: u64,
    rank: u32,
    world_size: u32,
    last: String,
    threads: Option<usize>,
    check_crc: bool,
    on_bad_frame: String,
    prefetch: u32,
    prefetch_bytes: u64,
    readahead: u32,
}

/// What `word` stands for.
fn word<T: Copy>(option: &str, word: &str, words: &[(&str, T)]) -> PyResult<T> {
    let found = words.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let names: Vec<_> = words.iter().map(|(name, _)| format!("'{name}'")).collect();
        usage(format!("loader option {option}: expected one of {}, found '{word}'", names.join(", ")))
    })
}

/// How files are read.
pub fn io(name: &str) -> PyResult<Io> {
    word("io", name, &[("map", Io::Map), ("read", Io::Read), ("read-uncached", Io::ReadUncached)])
}

impl Options {
    // Allowed: an option that is added to the library has its default here until it is added to `Options`.
    #[allow(clippy::needless_update)]
    pub fn into_loader_options(self) -> PyResult<LoaderOptions> {
        let defaults = LoaderOptions::default();
        let (brightness, contrast, saturation, grayscale) = self.color;
        Ok(LoaderOptions {
            batch_size: self.batch_size,
            frames: self.frames,
            temporal: self.temporal()?,
            size: self.size,
            resize_short: self.resize_short.map(|(least, _)| least),
            resize_short_max: self.resize_short.map(|(_, most)| most),
            crop: self.crop()?,
            flip: self.flip,
            color: ColorJitter { brightness, contrast, saturation, grayscale },
            channels: word(
                "channels",
                &self.channels,
                &[("rgb", Channels::Rgb), ("gray", Channels::Gray), ("ycbcr", Channels::YCbCr)],
            )?,
            dtype: word(
                "dtype",
                &self.dtype,
                &[("uint8", Dtype::U8), ("float16", Dtype::F16), ("bfloat16", Dtype::Bf16), ("float32", Dtype::F32)],
            )?,
            layout: word(
                "layout",
                &self.layout,
                &[("BTCHW", Layout::Btchw), ("BCTHW", Layout::Bcthw), ("BTHWC", Layout::Bthwc)],
            )?,
            mean: self.mean,
            std: self.std,
            reducing_gap: self.reducing_gap.unwrap_or(defaults.reducing_gap),
            draws: word("draws", &self.draws, &[("rotate", Draws::Rotate), ("all", Draws::All)])?,
            seed: self.seed,
            rank: self.rank,
            world_size: self.world_size,
            last: word(
                "last",
                &self.last,
                &[("pad", LastBatch::Pad), ("drop", LastBatch::Drop), ("wrap", LastBatch::Wrap)],
            )?,
            threads: self.threads,
            check_crc: self.check_crc,
            on_bad_frame: word(
                "on_bad_frame",
                &self.on_bad_frame,
                &[("error", OnBadFrame::Error), ("substitute", OnBadFrame::Substitute)],
            )?,
            prefetch: self.prefetch,
            prefetch_bytes: self.prefetch_bytes,
            readahead: self.readahead,
            order: self.order()?,
            ..defaults
        })
    }

    fn temporal(&self) -> PyResult<Temporal> {
        let (stride, views) = (self.stride, self.views);
        let kinds = [
            ("uniform", Temporal::Uniform),
            ("random-segments", Temporal::RandomSegments),
            ("clip", Temporal::Clip { stride, start: Start::Random }),
            ("clip-center", Temporal::Clip { stride, start: Start::Center }),
            ("views", Temporal::Views { stride, views }),
            ("dense", Temporal::Dense { stride }),
        ];
        word("temporal", &self.temporal, &kinds)
    }

    fn crop(&self) -> PyResult<Crop> {
        let kinds = [
            ("center", Crop::Center),
            ("random", Crop::Random),
            ("random-resized", Crop::RandomResized { scale: self.scale, ratio: self.ratio }),
            ("multi-scale", Crop::MultiScale { fixed: false }),
            ("multi-scale-fixed", Crop::MultiScale { fixed: true }),
            ("three", Crop::Three),
        ];
        word("crop", &self.crop, &kinds)
    }

    fn order(self) -> PyResult<Order> {
        if let Some(weights) = self.weights {
            return Ok(Order::Weighted(Arc::new(Weights::new(&weights).map_err(raise)?)));
        }
        if let Some(given) = self.given {
            return Ok(Order::Given(given.into()));
        }
        match word("order", &self.order, &[("sequential", 0), ("shuffled", 1), ("blocks", 2)])? {
            0 => Ok(Order::Sequential),
            1 => Ok(Order::Shuffled),
            _ => Ok(Order::Blocks { block: self.block, window: self.window }),
        }
    }
}
