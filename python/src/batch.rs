//! One batch.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use vidrec::{Dtype, PrefetchedBatch, SampleParams};

use crate::memory::Samples;

/// What the loader gives: samples (none where they went to memory of the caller), and what is known of each clip.
#[pyclass(frozen, module = "vidrec._vidrec")]
pub struct Batch {
    #[pyo3(get)]
    samples: Option<Py<Samples>>,
    labels: Vec<i64>,
    clips: Vec<u64>,
    mask: Vec<bool>,
    params: Vec<SampleParams>,
}

impl Batch {
    /// A batch made ahead.
    pub fn ahead(py: Python<'_>, batch: PrefetchedBatch, dtype: Dtype) -> PyResult<Self> {
        let whole = Batch::known(&batch);
        let samples = Some(Py::new(py, Samples::ahead(batch, dtype))?);
        Ok(Batch { samples, ..whole })
    }

    /// All but the samples.
    pub fn known(batch: &vidrec::Batch) -> Self {
        Batch {
            samples: None,
            labels: batch.labels.clone(),
            clips: batch.clips.clone(),
            mask: batch.mask.clone(),
            params: batch.params.clone(),
        }
    }

    /// A batch made at once.
    pub fn made(py: Python<'_>, batch: vidrec::Batch, dtype: Dtype) -> PyResult<Self> {
        let whole = Batch::known(&batch);
        let samples = Some(Py::new(py, Samples::made(batch, dtype))?);
        Ok(Batch { samples, ..whole })
    }
}

#[pymethods]
impl Batch {
    /// Labels as 64-bit integers of this machine, -1 for none.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.labels.iter().map(|label| label.to_ne_bytes()))
    }

    /// Ordinals of the clips, likewise.
    #[getter]
    fn clips<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.clips.iter().map(|clip| clip.to_ne_bytes()))
    }

    /// Whether each clip counts, a byte each.
    #[getter]
    fn mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.mask.iter().map(|&counts| [u8::from(counts)]))
    }

    /// What was drawn for each clip, a dict each.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for params in &self.params {
            list.append(dict(py, params)?)?;
        }
        Ok(list)
    }
}

fn bytes<'py, const N: usize>(py: Python<'py>, values: impl Iterator<Item = [u8; N]>) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &values.flatten().collect::<Vec<u8>>())
}

fn dict<'py>(py: Python<'py>, params: &SampleParams) -> PyResult<Bound<'py, PyDict>> {
    let color = PyDict::new(py);
    color.set_item("brightness", params.color.brightness)?;
    color.set_item("contrast", params.color.contrast)?;
    color.set_item("saturation", params.color.saturation)?;
    color.set_item("order", params.color.order.map(|step| step.to_string()))?;
    color.set_item("grayscale", params.color.grayscale)?;
    let dict = PyDict::new(py);
    dict.set_item("sample", params.sample)?;
    dict.set_item("view", params.view)?;
    dict.set_item("frames", &params.frames)?;
    dict.set_item("window", params.window)?;
    dict.set_item("flip", params.flip)?;
    dict.set_item("color", color)?;
    dict.set_item("instead_of", params.instead_of)?;
    Ok(dict)
}
