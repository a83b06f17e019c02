//! The rules of each clip: those of its source and its camera.

use super::samples::{Samples, SourceSamples};
use crate::loader::options::Rules;

/// The rules of each clip.
#[derive(Debug)]
pub(super) struct RuleBook {
    /// For each source, the rules of each camera.
    rules: Vec<Rules>,
    sources: Vec<SourceFacts>,
}

/// What samples of a source rely on.
#[derive(Debug)]
struct SourceFacts {
    first_clip: u64,
    clip_frames: Option<u32>,
}

impl RuleBook {
    /// The rules of each source, for each of its cameras.
    pub fn new(rules: &[Rules], space: &Samples) -> Self {
        let facts = |source: &SourceSamples| SourceFacts { first_clip: source.first_clip, clip_frames: source.equal };
        RuleBook { rules: rules.to_vec(), sources: space.sources().iter().map(facts).collect() }
    }

    /// The rules of a clip of this camera.
    pub fn of(&self, clip: u64, camera: u32) -> &Rules {
        let cameras = self.rules.len() / self.sources.len();
        &self.rules[self.source(clip) * cameras + camera as usize]
    }

    /// The number of frames that a clip must have, if samples rely on it.
    pub fn clip_frames(&self, clip: u64) -> Option<u32> {
        self.sources[self.source(clip)].clip_frames
    }

    /// The number of the source of a clip.
    pub fn source(&self, clip: u64) -> usize {
        self.sources.partition_point(|source| source.first_clip <= clip).saturating_sub(1)
    }
}
