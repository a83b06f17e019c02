//! A loader's options from the dict that `vidrec/_options.py` makes of the arguments, and their defaults.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use vidrec::order::{Order, Weights};
use vidrec::{
    Augmentation, Batching, Budget, Cameras, ColorJitter, Crop, Dataset, DecodedCache, Frames, Io, LoaderOptions,
    Pictures, Prefetch, Safety, Sampling, Temporal, TrackWindow,
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
    allow_empty: bool,
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
    check_crc: bool,
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
    pub fn into_loader_options(self, dataset: &Dataset) -> PyResult<LoaderOptions> {
        Ok(LoaderOptions {
            batch_size: self.batch_size,
            frames: self.frame_count(),
            short: word(&self.short)?,
            fps: self.fps.as_deref().map(word).transpose()?,
            temporal: word::<Temporal>(&self.temporal)?
                .with_stride(self.stride)
                .with_views(self.views)
                .with_hop(self.hop),
            batching: self.batching(),
            cameras: self.cameras()?,
            fields: self.fields.clone(),
            tracks: self.tracks.iter().map(track).collect::<PyResult<_>>()?,
            seed: self.seed,
            threads: self.threads,
            augmentation: self.augmentation()?,
            pictures: self.pictures()?,
            prefetch: Prefetch { batches: self.prefetch, bytes: self.prefetch_bytes, readahead: self.readahead },
            safety: Safety { check_crc: self.check_crc, on_bad_frame: word(&self.on_bad_frame)? },
            decoded_cache: self.decoded_cache()?,
            sampling: self.sampling(dataset)?,
        })
    }

    fn decoded_cache(&self) -> PyResult<Option<DecodedCache>> {
        let Some(size) = &self.decoded_cache else { return Ok(None) };
        let bytes = vidrec::parse_bytes(size).map_err(|e| usage(format!("loader option decoded_cache: {e}")))?;
        Ok(Some(DecodedCache { bytes, dir: self.decoded_cache_dir.clone() }))
    }

    fn frame_count(&self) -> Frames {
        match self.frames {
            Some(frames) => Frames::Fixed(frames),
            None if self.any_length => Frames::Any { most: self.max_frames },
            None => Frames::Stored,
        }
    }

    fn cameras(&self) -> PyResult<Cameras> {
        Ok(Cameras {
            names: self.cameras.clone(),
            attribute: self.camera_attribute.clone(),
            episode: self.episode_attribute.clone(),
            missing: word(&self.missing_cameras)?,
            crop: word(&self.cameras_crop)?,
        })
    }

    fn batching(&self) -> Batching {
        let tokens = self.batch_tokens.map(|tokens| Budget::Tokens { tokens, patch: self.patch });
        let budget = self.batch_frames.map(Budget::Frames).or(tokens);
        Batching { buckets: self.buckets.clone(), sizes: self.sizes.clone(), budget }
    }

    fn augmentation(&self) -> PyResult<Augmentation> {
        let (brightness, contrast, saturation, grayscale) = self.color;
        Ok(Augmentation {
            crop: match word(&self.crop)? {
                Crop::RandomResized { .. } => Crop::RandomResized { scale: self.scale, ratio: self.ratio },
                crop => crop,
            },
            resize_short: self.resize_short.map(|(least, _)| least),
            resize_short_max: self.resize_short.map(|(_, most)| most),
            flip: self.flip,
            color: ColorJitter { brightness, contrast, saturation, grayscale },
        })
    }

    fn pictures(&self) -> PyResult<Pictures> {
        let defaults = Pictures::default();
        Ok(Pictures {
            size: self.size,
            channels: word(&self.channels)?,
            dtype: word(&self.dtype)?,
            layout: word(&self.layout)?,
            mean: self.mean,
            std: self.std,
            reducing_gap: self.reducing_gap.unwrap_or(defaults.reducing_gap),
            ..defaults
        })
    }

    fn sampling(self, dataset: &Dataset) -> PyResult<Sampling> {
        let (draws, last) = (word(&self.draws)?, word(&self.last)?);
        let Options { rank, world_size, allow_empty, .. } = self;
        let shuffle = self.order == "mixed" && self.homes.is_none() && self.block.is_none() && self.exchange == 1.0;
        let order = if shuffle { Order::Sequential } else { self.order(dataset)? };
        Ok(Sampling { draws, rank, world_size, last, allow_empty, shuffle, order })
    }

    fn order(self, dataset: &Dataset) -> PyResult<Order> {
        if let Some(weights) = self.weights {
            return Ok(Order::Weighted(Arc::new(Weights::new(&weights).map_err(raise)?)));
        }
        if let Some(given) = self.given {
            return Ok(Order::Given(given.into()));
        }
        let order = if self.order == "mixed" { Sampling::order_for(dataset) } else { word::<Order>(&self.order)? };
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
    let LoaderOptions {
        batch_size,
        frames,
        short,
        fps,
        temporal,
        batching,
        fields,
        tracks,
        seed,
        threads,
        augmentation,
        pictures,
        cameras,
        sampling,
        prefetch,
        safety,
        decoded_cache,
    } = LoaderOptions::default();
    let dict = PyDict::new(py);
    dict.set_item("batch_size", batch_size)?;
    dict.set_item("frames", if let Frames::Fixed(frames) = frames { Some(frames) } else { None })?;
    dict.set_item("short", short.to_string())?;
    dict.set_item("fps", fps.map(|fps| fps.to_string()))?;
    dict.set_item("buckets", batching.buckets)?;
    dict.set_item("sizes", batching.sizes)?;
    dict.set_item("fields", fields)?;
    dict.set_item("tracks", tracks.into_keys().collect::<Vec<_>>())?;
    dict.set_item("cameras", cameras.names)?;
    dict.set_item("camera_attribute", cameras.attribute)?;
    dict.set_item("episode_attribute", cameras.episode)?;
    dict.set_item("missing_cameras", cameras.missing.to_string())?;
    dict.set_item("cameras_crop", cameras.crop.to_string())?;
    dict.set_item("allow_empty", sampling.allow_empty)?;
    if let Temporal::Dense { hop, .. } = word("dense")? {
        dict.set_item("hop", hop)?;
    }
    dict.set_item("temporal", temporal.to_string())?;
    if let Temporal::Views { stride, views } = word("views")? {
        dict.set_item("stride", stride)?;
        dict.set_item("views", views)?;
    }
    dict.set_item("size", pictures.size)?;
    dict.set_item("resize_short", augmentation.resize_short)?;
    dict.set_item("crop", augmentation.crop.to_string())?;
    if let Crop::RandomResized { scale, ratio } = word("random-resized")? {
        dict.set_item("scale", scale)?;
        dict.set_item("ratio", ratio)?;
    }
    dict.set_item("flip", augmentation.flip)?;
    let ColorJitter { brightness, contrast, saturation, grayscale } = augmentation.color;
    dict.set_item("color", (brightness, contrast, saturation, grayscale))?;
    dict.set_item("channels", pictures.channels.to_string())?;
    dict.set_item("dtype", pictures.dtype.to_string())?;
    dict.set_item("mean", (pictures.mean[0], pictures.mean[1], pictures.mean[2]))?;
    dict.set_item("std", (pictures.std[0], pictures.std[1], pictures.std[2]))?;
    dict.set_item("layout", pictures.layout.to_string())?;
    dict.set_item("reducing_gap", pictures.reducing_gap)?;
    dict.set_item("order", sampling.order.to_string())?;
    if let Order::Homes { homes, exchange, .. } = word("homes")? {
        dict.set_item("homes", homes)?;
        dict.set_item("exchange", exchange)?;
    }
    dict.set_item("draws", sampling.draws.to_string())?;
    dict.set_item("seed", seed)?;
    dict.set_item("rank", sampling.rank)?;
    dict.set_item("world_size", sampling.world_size)?;
    dict.set_item("last", sampling.last.to_string())?;
    dict.set_item("threads", threads)?;
    dict.set_item("check_crc", safety.check_crc)?;
    dict.set_item("on_bad_frame", safety.on_bad_frame.to_string())?;
    dict.set_item("prefetch", prefetch.batches)?;
    dict.set_item("prefetch_bytes", prefetch.bytes)?;
    dict.set_item("readahead", prefetch.readahead)?;
    dict.set_item("decoded_cache", decoded_cache.as_ref().map(|cache| cache.bytes))?;
    dict.set_item("decoded_cache_dir", decoded_cache.and_then(|cache| cache.dir))?;
    Ok(dict)
}
