//! What the options say, in the terms of those who make batches.

use std::collections::BTreeMap;

use super::batching::Budget;
use super::{Cameras, DecodedCache, Draws, OnBadFrame, Pictures, Prefetch, ShortClips, SmartResize, TrackWindow};
use crate::draw::{Augmentation, Length, Temporal};
use vidrec_sampler::Rate;
use vidrec_sampler::order::{Last, Order};

/// The greatest number of combinations of lengths and sizes.
pub(crate) const MAX_BUCKETS: usize = 1 << 16;

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
    /// The rule for the size of each clip's pictures, instead of sizes.
    pub rule: Option<SmartResize>,
    /// The maximum content of a batch.
    pub budget: Option<Budget>,
}

impl Division {
    /// Whether clips go to buckets.
    pub fn divides(&self) -> bool {
        !self.buckets.is_empty() || !self.sizes.is_empty() || self.rule.is_some()
    }
}
