//! Mixes of data sets.

use pyo3::prelude::*;
use vidrec::MixOptions;

use crate::dataset::Dataset;
use crate::error::{raise, to_json, usage};

/// Several data sets with weights.
#[pyclass(frozen, module = "vidrec._vidrec")]
pub struct Mix(vidrec::Mix);

impl Mix {
    pub fn get(&self) -> &vidrec::Mix {
        &self.0
    }
}

#[pymethods]
impl Mix {
    /// `options` is JSON.
    #[new]
    fn new(py: Python<'_>, sources: Vec<(String, PyRef<'_, Dataset>, f64)>, options: &str) -> PyResult<Self> {
        let sources: Vec<_> =
            sources.into_iter().map(|(name, set, weight)| (name, set.get().clone(), weight)).collect();
        let options: MixOptions = serde_json::from_str(options).map_err(|e| usage(format!("mix: {e}")))?;
        py.detach(|| vidrec::Mix::new(sources, options)).map(Mix).map_err(raise)
    }

    fn __len__(&self) -> usize {
        usize::try_from(self.0.dataset().len()).unwrap_or(usize::MAX)
    }

    fn classes(&self) -> Vec<String> {
        self.0.classes().to_vec()
    }

    /// The number of the source that has a clip, and the clip's ordinal in it.
    fn place(&self, clip: u64) -> Option<(usize, u64)> {
        self.0.place(clip)
    }

    /// What was fetched so far, as JSON; none if no source is remote.
    fn remote_stats(&self) -> PyResult<Option<String>> {
        self.0.dataset().remote_stats().as_ref().map(to_json).transpose()
    }
}
