//! The encoded frames of a video or a folder of pictures.

use serde_json::{Value, json};

use crate::video::VideoFacts;
use vidrec_jpeg::Measured;

/// An encoded frame of a video or a folder.
pub(super) struct EncodedPicture {
    pub jpeg: Vec<u8>,
    /// Width and height in pixels.
    pub size: (u32, u32),
    pub pts: i64,
    pub source_index: u32,
    /// The measured quality, if it was measured.
    pub measured: Option<Measured>,
}

/// The encoded frames of a video or a folder of pictures, and the facts about it.
#[derive(Default)]
pub(super) struct EncodedSource {
    /// Ascending by ordinal, without repeats.
    pub pictures: Vec<EncodedPicture>,
    pub time_base: (u32, u32),
    /// The number of frames to choose from.
    pub frame_count: u32,
    pub facts: VideoFacts,
}

impl EncodedSource {
    /// Adds the facts about another picture.
    pub fn take_facts(&mut self, facts: VideoFacts) {
        if self.pictures.is_empty() {
            self.facts = facts;
            return;
        }
        self.facts.decode_errors += facts.decode_errors;
        self.facts.corrupt_packets += facts.corrupt_packets;
        self.facts.damaged_frames += facts.damaged_frames;
        self.facts.logged_errors += facts.logged_errors;
        self.facts.first_error = self.facts.first_error.take().or(facts.first_error);
    }

    /// Returns the entry `jpeg` of the clip attribute `video`: the lowest and highest quality, and the lowest
    /// score of luma of each measure.
    ///
    /// Returns `None` if nothing was measured.
    pub fn describe_quality(&self) -> Option<Value> {
        let measured = || self.pictures.iter().filter_map(|picture| picture.measured);
        let (least, most) = (measured().map(|m| m.quality).min()?, measured().map(|m| m.quality).max()?);
        let lowest = |score: fn(Measured) -> f64| measured().map(score).fold(f64::INFINITY, f64::min);
        // The scores are rounded down, so that none claims more than was measured.
        let (psnr, ssim) = (lowest(|m| m.scores.psnr), lowest(|m| m.scores.ssim));
        let (psnr, ssim) = ((psnr * 100.0).floor() / 100.0, (ssim * 1e4).floor() / 1e4);
        Some(json!({"quality": [least, most], "psnr": psnr, "ssim": ssim}))
    }

    /// Returns the clip attribute `video`, which describes the source.
    pub fn describe(&self) -> Value {
        let mut facts = serde_json::to_value(&self.facts).unwrap_or_default();
        if let Value::Object(map) = &mut facts {
            map.insert("frames".into(), self.frame_count.into());
            map.retain(|_, v| !v.is_null());
        }
        facts
    }
}
