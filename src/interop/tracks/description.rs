//! Describes a track in the JSON of a clip.

use serde::{Deserialize, Serialize};

use vidrec_core::dataset::{Clip, TrackView};
use vidrec_format::error::Result;
use vidrec_format::track::schema::TrackSchema;

/// A track of a clip without its values. The field names are the keys of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TrackJson {
    /// Name, type, shape and timing.
    #[serde(flatten)]
    pub schema: TrackSchema,
    /// The number of values.
    pub count: u64,
    /// The time of the first value in nanoseconds, for timing `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_ns: Option<i64>,
    /// The values per second as numerator and denominator, for timing `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<(u32, u32)>,
    /// The prefix of the names of its files, if it has files of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<String>,
}

impl TrackJson {
    pub fn of(track: &TrackView<'_>) -> Self {
        let (first_ns, rate) = track.rate().unzip();
        TrackJson { schema: track.schema().clone(), count: track.len() as u64, first_ns, rate, files: None }
    }

    /// Returns the descriptions of all tracks of a clip.
    pub fn of_clip(clip: &Clip<'_>) -> Result<Vec<Self>> {
        Ok(clip.tracks()?.all()?.iter().map(TrackJson::of).collect())
    }
}
