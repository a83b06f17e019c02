//! The loader, and batches that are made ahead.

use std::time::Duration;

use parking_lot::Mutex;
use pyo3::prelude::*;
use serde_json::{Value, json};
use vidrec::{
    Epochs, JpegBatch, LoaderOptions, LoaderState, PinnedAllocator, PinnedMemory, TrackNormalize, TrackStats,
};

use crate::batch::{Batch, Kind};
use crate::dataset::{Dataset, Mix};
use crate::error::{from_json, raise, to_json, usage};
use crate::memory::Foreign;
use crate::per_process::PerProcess;
use crate::task;

/// How long a wait goes on before Python may handle a signal.
const WAIT: Duration = Duration::from_millis(50);

/// The data of a loader.
#[derive(FromPyObject)]
pub enum Data<'py> {
    One(PyRef<'py, Dataset>),
    Mix(PyRef<'py, Mix>),
}

/// A loader with its threads.
#[pyclass(frozen, module = "vidrec._vidrec")]
pub struct Engine {
    loader: PerProcess<vidrec::Loader>,
    kind: Kind,
    #[pyo3(get)]
    first_epoch: u64,
    #[pyo3(get)]
    batches_per_epoch: u64,
    #[pyo3(get)]
    shape: [usize; 5],
    #[pyo3(get)]
    batch_bytes: usize,
    #[pyo3(get)]
    is_even: bool,
}

#[pymethods]
impl Engine {
    /// `options` is JSON, and so is `state`, where a run goes on.
    #[new]
    #[pyo3(signature = (dataset, options, state=None))]
    fn new(py: Python<'_>, dataset: Data<'_>, options: &str, state: Option<&str>) -> PyResult<Self> {
        let (dataset, mix) = match dataset {
            Data::One(dataset) => (dataset.get().clone(), None),
            Data::Mix(mix) => (mix.get().dataset().clone(), Some(mix.get().clone())),
        };
        let options: LoaderOptions = from_json("loader options", options)?;
        let kind = Kind { dtype: options.dtype, dataset: dataset.clone() };
        let state: Option<LoaderState> =
            state.map(|text| from_json("the saved state is not a state of a vidrec loader", text)).transpose()?;
        let loader = task::wait(py, dataset.is_remote(), || match (&mix, &state) {
            (Some(mix), Some(state)) => vidrec::Loader::resume_mix(mix, options, state),
            (Some(mix), None) => vidrec::Loader::mix(mix, options),
            (None, Some(state)) => vidrec::Loader::resume(&dataset, options, state),
            (None, None) => vidrec::Loader::new(&dataset, options),
        })?;
        Ok(Engine {
            first_epoch: loader.first_epoch(),
            batches_per_epoch: loader.batches_per_epoch(),
            shape: loader.shape(),
            batch_bytes: loader.batch_bytes(),
            is_even: loader.is_even(),
            loader: PerProcess::new(loader),
            kind,
        })
    }

    fn batches_in(&self, epoch: u64) -> PyResult<u64> {
        Ok(self.loader.get()?.batches_in(epoch))
    }

    /// The warnings of the loader, or those of an epoch.
    #[pyo3(signature = (epoch=None))]
    fn warnings(&self, epoch: Option<u64>) -> PyResult<Vec<String>> {
        let loader = self.loader.get()?;
        Ok(epoch.map_or_else(|| loader.warnings(), |epoch| loader.warnings_of(epoch)))
    }

    /// The state after some batches of an epoch, as JSON.
    fn state(&self, epoch: u64, batches: u64) -> PyResult<String> {
        to_json(&self.loader.get()?.state(epoch, batches))
    }

    /// For each source of a mix its name, the samples used up to some batches of an epoch, and its rounds.
    fn sources(&self, epoch: u64, batches: u64) -> PyResult<Vec<(String, u64, f64)>> {
        let sources = self.loader.get()?.sources(epoch, batches);
        Ok(sources.into_iter().map(|count| (count.name.clone(), count.samples, count.rounds())).collect())
    }

    /// Counters, as JSON.
    fn stats(&self) -> PyResult<String> {
        to_json(&self.loader.get()?.stats())
    }

    /// Batches ahead: of pictures, of pictures in memory of Python (`into`), or of `jpegs` with plans for a device.
    fn iter(&self, kind: &str, epoch: u64, first: u64, step: u64) -> PyResult<Batches> {
        let (loader, epochs) = (self.loader.get()?, Epochs::from(epoch).part(first, step));
        let batches = match kind {
            "into" => loader.iter_into(epochs).map(Prefetched::Into),
            "jpegs" => loader.iter_jpegs(epochs).map(Prefetched::Jpegs),
            _ => loader.iter(epochs).map(Prefetched::Pictures),
        };
        let batches = Some(PerProcess::new(Mutex::new(batches.map_err(raise)?)));
        Ok(Batches { batches, kind: self.kind.clone() })
    }

    /// One batch, made at once: of pictures, of `jpegs`, or of the pictures of a batch that a device `declined`.
    fn batch(&self, py: Python<'_>, kind: &str, epoch: u64, number: u64) -> PyResult<Batch> {
        let loader = self.loader.get()?;
        let is_remote = self.kind.dataset.is_remote();
        if kind == "jpegs" {
            let batch = task::wait(py, is_remote, || loader.batch_jpegs(epoch, number))?;
            return Batch::jpegs(py, Box::new(batch), &self.kind);
        }
        let batch = task::wait(py, is_remote, || match kind {
            "declined" => loader.batch_for_device(epoch, number),
            _ => loader.batch(epoch, number),
        })?;
        Batch::pictures(py, Box::new(batch), &self.kind)
    }

    /// The samples at some positions of an epoch as one batch, made at once.
    fn batch_at(&self, py: Python<'_>, epoch: u64, positions: Vec<u64>) -> PyResult<Batch> {
        let loader = self.loader.get()?;
        let batch = task::wait(py, self.kind.dataset.is_remote(), || loader.batch_at(epoch, &positions))?;
        Batch::pictures(py, Box::new(batch), &self.kind)
    }

    /// Makes batches of JPEGs with plans for a device that has so many bytes to keep JPEGs. `allocate` makes memory of so many
    /// bytes, which the device reads fast: its address, its bytes, and the object that keeps it alive.
    #[pyo3(signature = (room, allocate=None))]
    fn serve_device(&self, room: u64, allocate: Option<Py<PyAny>>) -> PyResult<()> {
        let allocate = allocate.map(|allocate| -> PinnedAllocator { Box::new(move |len| pinned(&allocate, len)) });
        self.loader.get()?.serve_device(room, allocate);
        Ok(())
    }

    /// Notes that the device has what this batch brought.
    fn device_has(&self, batch: &Batch) -> PyResult<()> {
        let loader = self.loader.get()?;
        batch.plan.iter().for_each(|plan| loader.device_has(plan));
        Ok(())
    }
}

/// Batches made ahead, of which the second kind is in memory of Python.
enum Prefetched {
    Pictures(vidrec::Batches),
    Into(vidrec::BatchesInto<Foreign>),
    Jpegs(vidrec::Batches<JpegBatch>),
}

/// Makes the batch for Python.
type Finish = Box<dyn FnOnce(Python<'_>, &Kind) -> PyResult<Batch> + Send>;

impl Prefetched {
    /// Waits for a batch, at most for a while. Returns whether `next` returns at once.
    fn wait(&mut self, time: Duration) -> bool {
        match self {
            Prefetched::Pictures(batches) => batches.wait(time),
            Prefetched::Into(batches) => batches.wait(time),
            Prefetched::Jpegs(batches) => batches.wait(time),
        }
    }

    fn next(&mut self) -> Option<vidrec::Result<Finish>> {
        fn finish(f: impl FnOnce(Python<'_>, &Kind) -> PyResult<Batch> + Send + 'static) -> Finish {
            Box::new(f)
        }
        Some(match self {
            Prefetched::Pictures(batches) => batches.next()?.map(|b| finish(|py, kind| Batch::pictures(py, b, kind))),
            Prefetched::Jpegs(batches) => batches.next()?.map(|b| finish(|py, kind| Batch::jpegs(py, b, kind))),
            Prefetched::Into(batches) => batches.next()?.map(|(memory, mut b, _)| {
                finish(move |py, kind| {
                    drop(memory);
                    Batch::known(py, &mut b, kind)
                })
            }),
        })
    }
}

/// Batches made ahead.
#[pyclass(frozen, module = "vidrec._vidrec")]
pub struct Batches {
    /// Until this is dropped. The lock is taken without the interpreter's lock, so that no thread waits for both.
    batches: Option<PerProcess<Mutex<Prefetched>>>,
    kind: Kind,
}

impl Batches {
    fn get(&self) -> PyResult<&Mutex<Prefetched>> {
        self.batches.as_ref().map_or_else(|| Err(usage("the batches have been closed".into())), PerProcess::get)
    }
}

#[pymethods]
impl Batches {
    /// The next batch; none after the last.
    fn next(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let batches = self.get()?;
        while !py.detach(|| batches.lock().wait(WAIT)) {
            py.check_signals()?;
        }
        let batch = py.detach(|| batches.lock().next()).transpose().map_err(raise)?;
        batch.map(|finish| finish(py, &self.kind)).transpose()
    }

    /// Whether `next` returns at once.
    fn is_ready(&self, py: Python<'_>) -> PyResult<bool> {
        let batches = self.get()?;
        Ok(py.detach(|| batches.lock().wait(Duration::ZERO)))
    }

    /// Gives memory for one batch: its address, its bytes, and the object that keeps it alive. Nothing else may use the
    /// memory until the batch is taken.
    fn provide(&self, py: Python<'_>, address: usize, length: usize, owner: Py<PyAny>) -> PyResult<()> {
        // SAFETY: this module is private; `vidrec/_memory.py` checks the memory.
        let memory = unsafe { Foreign::new(address, length, owner) };
        let batches = self.get()?;
        py.detach(|| {
            if let Prefetched::Into(batches) = &mut *batches.lock() {
                batches.provide(memory)
            }
        });
        Ok(())
    }
}

impl Drop for Batches {
    fn drop(&mut self) {
        let batches = self.batches.take();
        // The drop waits for threads, and does so without the interpreter's lock. While the interpreter ends there is no
        // lock to release, and the closure drops the batches all the same.
        Python::try_attach(move |py| py.detach(move || drop(batches)));
    }
}

/// Pinned memory of Python. Threads of the loader call this, and nothing waits for them with the interpreter's lock.
fn pinned(allocate: &Py<PyAny>, len: usize) -> vidrec::Result<PinnedMemory> {
    let made = Python::try_attach(|py| -> PyResult<Foreign> {
        let (address, length, owner) = allocate.call1(py, (len,))?.extract(py)?;
        // SAFETY: this module is private, and `vidrec/_device/maker.py` gives memory that it does not use.
        Ok(unsafe { Foreign::new(address, length, owner) })
    });
    let failed = |cause: String| vidrec::Error::no_memory("a batch of JPEGs in pinned memory", len).found(cause);
    match made {
        Some(Ok(memory)) => Ok(Box::new(memory)),
        Some(Err(e)) => Err(failed(e.to_string())),
        None => Err(failed("the interpreter ends".into())),
    }
}

/// The normalization by statistics of a track, both as JSON.
#[pyfunction]
pub fn track_normalize(stats: &str, scaling: &str) -> PyResult<String> {
    let stats: TrackStats = from_json("statistics of a track", stats)?;
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

/// The number of bytes of a size such as `1GiB`; none if it is not one.
#[pyfunction]
pub fn parse_bytes(text: &str) -> Option<u64> {
    vidrec::parse_bytes(text).ok()
}
