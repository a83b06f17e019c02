//! Tracks and attributes for clips that are packed already.

use std::path::PathBuf;

use parking_lot::Mutex;
use pyo3::prelude::*;
use vidrec::edit;
use vidrec::{Error, Result};

use crate::error::{from_json, raise, to_json};
use crate::per_process::PerProcess;
use crate::writer::{NewTrack, track};

/// A data set whose clips get tracks and attributes. It has them when this is finished, and not if it is dropped before.
#[pyclass(frozen, module = "vidrec._vidrec")]
pub struct TrackAdder(PerProcess<Mutex<Option<edit::TrackAdder>>>);

#[pymethods]
impl TrackAdder {
    #[new]
    fn new(py: Python<'_>, path: PathBuf, replace: bool) -> PyResult<Self> {
        let adder = py.detach(|| edit::TrackAdder::open(path, replace)).map_err(raise)?;
        Ok(TrackAdder(PerProcess::new(Mutex::new(Some(adder)))))
    }

    /// The number of clips.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |adder| Ok(adder.as_ref().ok_or_else(closed)?.dataset().len() as usize))
    }

    /// Adds to the next clip. The attributes are JSON.
    fn add(&self, py: Python<'_>, tracks: Vec<NewTrack>, attributes: &str) -> PyResult<()> {
        let attributes = from_json("fields", attributes)?;
        self.with(py, |adder| {
            let tracks = tracks.into_iter().map(track).collect::<Result<Vec<_>>>()?;
            adder.as_mut().ok_or_else(closed)?.add(&tracks, &attributes)
        })
    }

    /// Publishes the data set. The report, as JSON.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        to_json(&self.with(py, |adder| adder.take().ok_or_else(closed)?.finish())?)
    }

    /// Drops what was added.
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |adder| {
            drop(adder.take());
            Ok(())
        })
    }
}

impl TrackAdder {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Option<edit::TrackAdder>) -> Result<T> + Send,
    ) -> PyResult<T> {
        let adder = self.0.get()?;
        py.detach(|| work(&mut adder.lock())).map_err(raise)
    }
}

fn closed() -> Error {
    Error::usage("this was finished, or dropped after an error")
}

/// The report, as JSON.
#[pyfunction]
pub fn remove_tracks(py: Python<'_>, path: PathBuf, tracks: Vec<String>, attributes: Vec<String>) -> PyResult<String> {
    let remove = || edit::remove_tracks(path, &tracks, &attributes);
    to_json(&py.detach(remove).map_err(raise)?)
}
