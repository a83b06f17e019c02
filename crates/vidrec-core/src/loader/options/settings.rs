//! What the options say, in the terms of those who make batches.

use std::collections::BTreeMap;

use super::batching::Budget;
use super::{Cameras, DecodedCache, OnBadFrame, Pictures, Prefetch, Rules, TrackWindow};
use vidrec_format::sampler::order::{LastBatch, Order};

/// The greatest number of combinations of lengths and sizes.
pub(crate) const MAX_BUCKETS: usize = 1 << 16;

/// The options of a loader, taken apart.
#[derive(Debug)]
pub(crate) struct Settings {
    pub batch_size: u32,
    /// The rules of each source of a mix, or of the only data set: those of each camera.
    pub rules: Vec<Rules>,
    pub seed: u64,
    pub threads: Option<usize>,
    pub pictures: Pictures,
    pub batching: Division,
    pub fields: Vec<String>,
    /// The tracks of each source.
    pub tracks: Vec<BTreeMap<String, TrackWindow>>,
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
    pub rank: u32,
    pub world_size: u32,
    pub last: LastBatch,
}

/// How clips are divided into batches.
#[derive(Debug)]
pub(crate) struct Division {
    /// The lengths of samples.
    pub buckets: Vec<u32>,
    /// The sizes of pictures that are known before any clip is.
    pub sizes: Vec<(u32, u32)>,
    /// Whether sizes follow from those of frames, in any source.
    pub follow_frames: bool,
    /// The maximum content of a batch.
    pub budget: Option<Budget>,
}

impl Division {
    /// Whether clips go to buckets.
    pub fn divides(&self) -> bool {
        !self.buckets.is_empty() || self.sizes.len() > 1 || self.follow_frames
    }
}
