//! The options that decide what is in the batches.

use serde_json::json;

use super::LoaderOptions;
use vidrec_format::error::Result;
use vidrec_format::json_object::JsonObject;

/// The options that may differ when a run is resumed, and those that a state has in other fields.
const OTHERS: [&str; 9] =
    ["batch_size", "rank", "threads", "prefetch", "decoded_cache", "shuffle", "order", "seed", "batching"];

impl LoaderOptions {
    /// The options that decide what is in the batches, by name. The order is not among them, because it may depend on
    /// the data set. Neither are those that may differ when a run is resumed.
    pub(crate) fn deciding(&self) -> Result<JsonObject> {
        let mut options = JsonObject::of(self)?;
        options.0.retain(|name, _| !OTHERS.contains(&name.as_str()));
        // A budget is a size of batches.
        let buckets = self.batching.as_ref().map(|batching| batching.buckets());
        options.insert("buckets", json!(buckets))?;
        Ok(options)
    }
}
