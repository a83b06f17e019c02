//! A loader's options from the JSON that Python writes of its arguments, and their defaults.

use pyo3::prelude::*;
use serde_json::{Value, json};
use vidrec::{Io, LoaderOptions, TrackNormalize, TrackStats};

use crate::error::{raise, to_json, usage};

/// How files are read.
pub fn io(name: &str) -> PyResult<Io> {
    name.parse().map_err(|e| usage(format!("loader option {e}")))
}

/// The options that a JSON text has.
pub fn from_json(json: &str) -> PyResult<LoaderOptions> {
    serde_json::from_str(json).map_err(|e| usage(format!("loader options: {e}")))
}

/// The normalization by statistics of a track, both as JSON.
#[pyfunction]
pub fn track_normalize(stats: &str, scaling: &str) -> PyResult<String> {
    let stats: TrackStats = serde_json::from_str(stats).map_err(|e| usage(format!("statistics of a track: {e}")))?;
    to_json(&TrackNormalize::of(&stats, scaling.parse().map_err(|e| usage(format!("{e}")))?))
}

/// Refuses a value of an option, given as JSON, that makes no sense.
#[pyfunction]
pub fn check_option(name: &str, value: &str) -> PyResult<()> {
    let refused = |e| usage(format!("loader option {name}: {e}"));
    let value: Value = serde_json::from_str(value).map_err(refused)?;
    // Bytes cannot be normalized.
    let options = json!({ "dtype": "float32", name: value });
    let options: LoaderOptions = serde_json::from_value(options).map_err(refused)?;
    options.check_values().map_err(raise)
}

/// The defaults of the library, as JSON. A test compares them with those of `vidrec.Loader`.
#[pyfunction]
pub fn loader_defaults() -> PyResult<String> {
    to_json(&LoaderOptions::default())
}
