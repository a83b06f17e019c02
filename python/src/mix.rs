//! Mixes of data sets.

use pyo3::prelude::*;
use vidrec::{MixLabels, MixOptions};

use crate::dataset::Dataset;
use crate::error::{raise, to_json, usage};
use crate::task;

/// Several data sets with weights.
#[pyclass(frozen, module = "vidrec._vidrec")]
pub struct Mix(vidrec::Mix);

impl Mix {
    pub fn get(&self) -> &vidrec::Mix {
        &self.0
    }
}

/// The weight of each source.
type Weights = Vec<(String, f64)>;
/// For some sources the label of each class.
type Maps = Vec<(String, Vec<(String, u32)>)>;

#[pymethods]
impl Mix {
    /// `labels` is a word, unless there are `maps`. `own` is the JSON of the options of each source.
    #[new]
    fn new(
        py: Python<'_>,
        sources: Vec<(String, PyRef<'_, Dataset>, f64)>,
        samples_per_epoch: Option<u64>,
        window: u32,
        schedule: Vec<(u64, Weights)>,
        labels: &str,
        maps: Option<Maps>,
        own: &str,
    ) -> PyResult<Self> {
        let sources: Vec<_> =
            sources.into_iter().map(|(name, set, weight)| (name, set.get().clone(), weight)).collect();
        let labels = match (labels, maps) {
            (_, Some(maps)) => MixLabels::Maps(maps),
            ("joined", None) => MixLabels::Joined,
            ("separate", None) => MixLabels::Separate,
            _ => return Err(usage(format!("mix: labels: expected 'joined', 'separate' or maps, found {labels:?}"))),
        };
        let own = serde_json::from_str(own).map_err(|e| usage(format!("mix: {e}")))?;
        let options = MixOptions { samples_per_epoch, window, schedule, labels, own };
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

    /// Statistics of the tracks of these names, or of all tracks of numbers, as JSON.
    fn track_stats(&self, py: Python<'_>, names: Option<Vec<String>>) -> PyResult<String> {
        let names: Option<Vec<&str>> = names.as_ref().map(|names| names.iter().map(String::as_str).collect());
        to_json(&task::wait(py, true, || self.0.track_stats(names.as_deref()))?)
    }

    /// Statistics of the pixels of some frames of each clip, as JSON.
    fn picture_stats(&self, py: Python<'_>, frames: u32) -> PyResult<String> {
        to_json(&task::wait(py, true, || self.0.picture_stats(frames))?)
    }

    /// What was fetched so far, as JSON; none if no source is remote.
    fn remote_stats(&self) -> PyResult<Option<String>> {
        self.0.dataset().remote_stats().as_ref().map(to_json).transpose()
    }
}
