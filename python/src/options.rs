//! A loader's options from the dict that `vidrec/_options.py` makes of the arguments, and their defaults.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use vidrec::order::{Order, Weights};
use vidrec::sampler::Rate;
use vidrec::{
    Batching, Cameras, ColorJitter, Crop, DecodedCache, Frames, Io, LoaderOptions, Normalize, Prefetch, Start, TrackWindow,
};

use crate::error::{raise, usage};

/// Every key must be there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    batch_size: u32,
    frames: Option<u32>,
    /// Whether clips may have any length; then `frames` is none.
    any_length: bool,
    max_frames: Option<u32>,
    short: String,
    fps: Option<String>,
    hop: u32,
    buckets: Vec<u32>,
    /// Width, height.
    sizes: Vec<(u32, u32)>,
    batch_frames: Option<u64>,
    batch_tokens: Option<u64>,
    patch: [u32; 3],
    fields: Vec<String>,
    tracks: Vec<Track>,
    cameras: Vec<String>,
    camera_attribute: String,
    episode_attribute: String,
    missing_cameras: String,
    cameras_crop: String,
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
    block: Option<u32>,
    window: Option<u32>,
    homes: Option<u32>,
    exchange: f64,
    given: Option<Vec<u64>>,
    weights: Option<Vec<f64>>,
    draws: String,
    seed: u64,
    rank: u32,
    world_size: u32,
    last: String,
    threads: Option<usize>,
    on_bad_frame: String,
    prefetch: u32,
    prefetch_bytes: u64,
    readahead: u32,
    decoded_cache: Option<String>,
    decoded_cache_dir: Option<PathBuf>,
}

/// Of a track its name, window, rate, how, anchor, missing, and maybe steps and times.
#[derive(FromPyObject)]
enum Track {
    Long(LongTrack),
    Short(ShortTrack),
}

type ShortTrack = (String, Option<(f64, f64)>, Option<String>, String, String, String);
type LongTrack =
    (String, Option<(f64, f64)>, Option<String>, String, String, String, Option<(i64, i64)>, Option<Vec<f64>>);

/// What a word stands for. The library's error names the option and its words.
fn word<T: FromStr<Err = vidrec::Error>>(word: &str) -> PyResult<T> {
    word.parse().map_err(|e| usage(format!("loader option {e}")))
}

/// How files are read.
pub fn io(name: &str) -> PyResult<Io> {
    word(name)
}

/// A track's name, and which values come with batches.
fn track(given: &Track) -> PyResult<(String, TrackWindow)> {
    let (name, window, rate, how, anchor, missing, steps, times) = match given {
        Track::Long((name, window, rate, how, anchor, missing, steps, times)) => {
            (name, window, rate, how, anchor, missing, *steps, times.clone())
        }
        Track::Short((name, window, rate, how, anchor, missing)) => {
            (name, window, rate, how, anchor, missing, None, None)
        }
    };
    let refused = |e: vidrec::Error| usage(format!("loader option tracks[{name:?}]: {e}"));
    let window = TrackWindow {
        window: *window,
        steps,
        times,
        rate: rate.as_deref().map(str::parse).transpose().map_err(refused)?,
        how: how.parse().map_err(refused)?,
        anchor: anchor.parse().map_err(refused)?,
        missing: missing.parse().map_err(refused)?,
    };
    Ok((name.clone(), window))
}

impl Options {
    pub fn into_loader_options(self) -> PyResult<LoaderOptions> {
        let is_auto = self.order == "mixed" && self.homes.is_none() && self.block.is_none() && self.exchange == 1.0;
        let normalize = Normalize { mean: self.mean, std: self.std };
        let is_normalized = self.dtype != "uint8" && (self.mean != [0.0; 3] || self.std != [1.0; 3]);
        let (brightness, contrast, saturation, grayscale) = self.color;
        Ok(LoaderOptions {
            batch_size: self.batch_size,
            frames: self.frames()?,
            crop: self.crop()?,
            flip: self.flip,
            color: ColorJitter { brightness, contrast, saturation, grayscale },
            channels: word(&self.channels)?,
            dtype: word(&self.dtype)?,
            normalize: is_normalized.then_some(normalize),
            layout: word(&self.layout)?,
            shuffle: is_auto,
            seed: self.seed,
            rank: (self.rank, self.world_size),
            last: word(&self.last)?,
            batching: self.batching(),
            cameras: self.cameras()?,
            fields: self.fields.clone(),
            tracks: self.tracks.iter().map(track).collect::<PyResult<_>>()?,
            on_bad_frame: word(&self.on_bad_frame)?,
            threads: self.threads,
            prefetch: Prefetch { batches: self.prefetch, bytes: self.prefetch_bytes, readahead: self.readahead },
            decoded_cache: self.decoded_cache()?,
            order: if is_auto { Order::Sequential } else { self.order()? },
            ..LoaderOptions::default()
        })
    }

    fn decoded_cache(&self) -> PyResult<Option<DecodedCache>> {
        let Some(size) = &self.decoded_cache else { return Ok(None) };
        let size = vidrec::parse_bytes(size).map_err(|e| usage(format!("loader option decoded_cache: {e}")))?;
        Ok(Some(DecodedCache { size, dir: self.decoded_cache_dir.clone() }))
    }

    fn frames(&self) -> PyResult<Frames> {
        let fps: Option<Rate> = self.fps.as_deref().map(word).transpose()?;
        let frames = match (self.frames, self.temporal.as_str()) {
            (None, _) if self.any_length => Frames::all().with_max(self.max_frames),
            (None, _) => Frames::Stored,
            (Some(count), "uniform") => Frames::uniform(count),
            (Some(count), "random-segments") => Frames::random(count),
            (Some(count), "clip") => Frames::clip(count),
            (Some(count), "clip-center") => Frames::clip(count).with_at(Start::Center),
            (Some(count), "views") => Frames::views(self.views, count),
            (Some(count), "dense") => Frames::windows(count).with_hop(self.hop),
            (_, other) => return Err(usage(format!("loader option temporal: found {other:?}"))),
        };
        let with_rate = frames.with_fps(fps);
        if fps.is_some() && with_rate == frames {
            return Err(usage(format!("loader option fps: {} spreads frames over the clip, at no rate", self.temporal)));
        }
        Ok(with_rate.with_stride(self.stride).with_short(word(&self.short)?).with_draws(word(&self.draws)?))
    }

    fn crop(&self) -> PyResult<Crop> {
        let size = self.size;
        if !self.sizes.is_empty() && !self.crop.starts_with("cover") {
            return Err(usage("loader option sizes: they need the crop cover or cover-random".into()));
        }
        let crop = match self.crop.as_str() {
            "center" => Crop::center(size),
            "random" => Crop::random(size),
            "random-resized" => {
                Crop::RandomResized { size, scale: self.scale, ratio: self.ratio, reducing_gap: 1.125 }
            }
            "multi-scale" => Crop::multi_scale(size, false),
            "multi-scale-fixed" => Crop::multi_scale(size, true),
            "cover" | "cover-random" if !self.sizes.is_empty() => {
                Crop::cover_sizes(self.sizes.clone(), self.crop == "cover-random")
            }
            "cover" => Crop::cover(size, false),
            "cover-random" => Crop::cover(size, true),
            "three" => Crop::three(size),
            other => return Err(usage(format!("loader option crop: found {other:?}"))),
        };
        let crop = crop.with_resize(self.resize_short);
        Ok(match self.reducing_gap {
            Some(gap) => crop.with_reducing_gap(gap),
            None => crop,
        })
    }

    fn cameras(&self) -> PyResult<Option<Cameras>> {
        if self.cameras.is_empty() {
            return Ok(None);
        }
        Ok(Some(Cameras {
            names: self.cameras.clone(),
            camera_attribute: self.camera_attribute.clone(),
            episode_attribute: self.episode_attribute.clone(),
            missing: word(&self.missing_cameras)?,
            crop: word(&self.cameras_crop)?,
        }))
    }

    fn batching(&self) -> Option<Batching> {
        let buckets = self.buckets.clone();
        match (self.batch_frames, self.batch_tokens) {
            (Some(frames), _) => Some(Batching::FrameBudget { frames, buckets }),
            (None, Some(tokens)) => Some(Batching::TokenBudget { tokens, patch: self.patch, buckets }),
            (None, None) if buckets.is_empty() => None,
            (None, None) => Some(Batching::Buckets { lengths: buckets }),
        }
    }

    fn order(self) -> PyResult<Order> {
        if let Some(weights) = self.weights {
            return Ok(Order::Weighted(Arc::new(Weights::new(&weights).map_err(raise)?)));
        }
        if let Some(given) = self.given {
            return Ok(Order::Given(given.into()));
        }
        let order = if self.order == "mixed" { Order::Shuffled } else { word::<Order>(&self.order)? };
        let order = order.with_homes(self.homes, self.exchange);
        Ok(match self.block.zip(self.window) {
            Some((block, window)) => order.with_blocks(block, window),
            None => order,
        })
    }
}

/// The defaults of the library, as the arguments of `vidrec.Loader` that they are. A test holds both together.
#[pyfunction]
pub fn loader_defaults(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let json = serde_json::to_string(&LoaderOptions::default()).map_err(|e| usage(e.to_string()))?;
    Ok(py.import("json")?.call_method1("loads", (json,))?.cast_into::<PyDict>()?)
}
