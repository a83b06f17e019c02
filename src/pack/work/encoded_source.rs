//! What was taken from a video or a folder of pictures, encoded.

use serde_json::Value;

use crate::video::VideoFacts;

/// A frame that was taken from a source, encoded.
pub(super) struct EncodedPicture {
    pub jpeg: Vec<u8>,
    /// Width and height in pixels.
    pub size: (u32, u32),
    pub pts: i64,
    pub source_index: u32,
}

/// What was taken from a video or a folder of pictures.
#[derive(Default)]
pub(super) struct EncodedSource {
    /// Ascending by ordinal, without repeats.
    pub pictures: Vec<EncodedPicture>,
    pub time_base: (u32, u32),
    /// Number of frames that there are to choose from.
    pub frame_count: u32,
    pub facts: VideoFacts,
}

impl EncodedSource {
    /// Adds what was found out about a further picture.
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

    /// What the clip's attributes say of the source, under the key `video`.
    pub fn describe(&self) -> Value {
        let mut facts = serde_json::to_value(&self.facts).unwrap_or_default();
        if let Value::Object(map) = &mut facts {
            map.insert("frames".into(), self.frame_count.into());
            map.retain(|_, v| !v.is_null());
        }
        facts
    }
}
