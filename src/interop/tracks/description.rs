//! What the JSON of a clip says of a track.

use serde::{Deserialize, Serialize};

use crate::{Clip, Result, TrackSchema, TrackView};

/// A track of a clip without its values. The field names are the keys of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TrackJson {
    /// Name, type, shape and timing.
    #[serde(flatten)]
    pub schema: TrackSchema,
    /// Number of values.
    pub count: u64,
    /// The time of the first value in nanoseconds, of timing `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_ns: Option<i64>,
    /// Values per second as numerator and denominator, of timing `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<(u32, u32)>,
    /// What the names of its files begin with, where it has files of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<String>,
}

impl TrackJson {
    pub fn of(track: &TrackView<'_>) -> Self {
        let (first_ns, rate) = track.rate().unzip();
        TrackJson { schema: track.schema().clone(), count: track.len() as u64, first_ns, rate, files: None }
    }

    /// Of all tracks of a clip.
    pub fn of_clip(clip: &Clip<'_>) -> Result<Vec<Self>> {
        Ok(clip.tracks()?.all()?.iter().map(TrackJson::of).collect())
    }
}
