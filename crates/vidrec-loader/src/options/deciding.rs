//! The options that decide what is in the batches.

use serde_json::json;

use super::{Batching, LoaderOptions, Pictures, Sampling};
use crate::draw::Augmentation;
use vidrec_format::error::Result;
use vidrec_format::json_object::JsonObject;

impl LoaderOptions {
    /// The options that decide what is in the batches, by name. The order is not among them, because it may depend on
    /// the data set. Neither are those that may differ when a run is resumed.
    pub(crate) fn deciding(&self) -> Result<JsonObject> {
        let Augmentation { crop, resize_short, resize_short_max, flip, color } = self.augmentation;
        let Pictures { size, channels, dtype, layout, mean, std, reducing_gap, decoder: _ } = self.pictures;
        let Batching { buckets, sizes, budget: _ } = &self.batching;
        let Sampling { draws, last, .. } = &self.sampling;
        JsonObject::of(json!({
            "frames": format!("{:?}", self.frames),
            "short": self.short.to_string(),
            "fps": self.fps.map(|fps| fps.to_string()),
            "temporal": format!("{:?}", self.temporal),
            "crop": format!("{crop:?}"),
            "resize_short": resize_short,
            "resize_short_max": resize_short_max,
            "flip": flip,
            "color": format!("{color:?}"),
            "size": size,
            "channels": channels.to_string(),
            "dtype": dtype.to_string(),
            "layout": layout.to_string(),
            "mean": mean,
            "std": std,
            "reducing_gap": reducing_gap,
            "buckets": buckets,
            "sizes": sizes,
            "fields": self.fields,
            "tracks": format!("{:?}", self.tracks),
            "cameras": format!("{:?}", self.cameras),
            "draws": draws.to_string(),
            "last": last.to_string(),
            "on_bad_frame": self.safety.on_bad_frame.to_string(),
        }))
    }
}
