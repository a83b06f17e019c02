//! What the options say, in the terms of those who make batches.

use std::collections::BTreeMap;

use super::batching::Budget;
use super::{
    Cameras, DecodedCache, Draws, LoaderOptions, Normalize, OnBadFrame, Pictures, Prefetch, ShortClips, TrackWindow,
};
use crate::draw::{Augmentation, Length, Temporal};
use vidrec_sampler::Rate;
use vidrec_sampler::order::{Last, Order};

/// The options of a loader, taken apart.
#[derive(Debug)]
pub(crate) struct Settings {
    pub batch_size: u32,
    pub frames: Length,
    pub short: ShortClips,
    pub fps: Option<Rate>,
    pub temporal: Temporal,
    pub seed: u64,
    pub threads: Option<usize>,
    pub augmentation: Augmentation,
    pub pictures: Pictures,
    pub batching: Division,
    pub fields: Vec<String>,
    pub tracks: BTreeMap<String, TrackWindow>,
    pub cameras: Option<Cameras>,
    pub sampling: Sampling,
    pub prefetch: Prefetch,
    pub on_bad_frame: OnBadFrame,
    pub decoded_cache: Option<DecodedCache>,
}

/// The samples of an epoch, their order, and how processes share them.
#[derive(Debug)]
pub(crate) struct Sampling {
    pub order: Order,
    pub draws: Draws,
    pub rank: u32,
    pub world_size: u32,
    pub last: Last,
}

/// How clips are divided into batches.
#[derive(Debug)]
pub(crate) struct Division {
    /// The lengths of samples.
    pub buckets: Vec<u32>,
    /// The sizes of pictures.
    pub sizes: Vec<(u32, u32)>,
    /// The maximum content of a batch.
    pub budget: Option<Budget>,
}

impl Division {
    /// Whether clips go to buckets.
    pub fn divides(&self) -> bool {
        !self.buckets.is_empty() || !self.sizes.is_empty()
    }
}

impl LoaderOptions {
    /// Takes the options apart. They must have been checked, and the order settled.
    pub(crate) fn settings(&self) -> Settings {
        let LoaderOptions { batch_size, frames, flip, color, channels, dtype, layout, decoder, .. } = *self;
        let (batching, (rank, world_size)) = (self.batching.as_ref(), self.rank);
        Settings {
            batch_size,
            frames: frames.length(),
            short: frames.short(),
            fps: frames.fps(),
            temporal: frames.temporal(),
            seed: self.seed,
            threads: self.threads,
            augmentation: Augmentation { part: self.crop.part(), resize: self.crop.resize(), flip, color },
            pictures: Pictures {
                size: self.crop.size(),
                channels,
                dtype,
                layout,
                normalize: self.normalize.unwrap_or(Normalize::NONE),
                reducing_gap: self.crop.reducing_gap(),
                decoder,
            },
            batching: Division {
                buckets: batching.map_or(&[][..], |batching| batching.buckets()).to_vec(),
                sizes: self.crop.sizes().to_vec(),
                budget: batching.and_then(|batching| batching.budget()),
            },
            fields: self.fields.clone(),
            tracks: self.tracks.clone(),
            cameras: self.cameras.clone(),
            sampling: Sampling { order: self.order.clone(), draws: frames.draws(), rank, world_size, last: self.last },
            prefetch: self.prefetch,
            on_bad_frame: self.on_bad_frame,
            decoded_cache: self.decoded_cache.clone(),
        }
    }
}
