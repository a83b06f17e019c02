//! The loader, and batches that are made ahead.

use std::time::Duration;

use parking_lot::Mutex;
use pyo3::prelude::*;
use vidrec::{Epochs, JpegBatch, LoaderState, PrefetchedBatch};

use crate::batch::{Batch, Kind};
use crate::dataset::Dataset;
use crate::error::{raise, to_json, usage};
use crate::memory::Foreign;
use crate::mix::Mix;
use crate::options;
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

impl Data<'_> {
    /// All clips.
    fn all(&self) -> &vidrec::Dataset {
        match self {
            Data::One(dataset) => dataset.get(),
            Data::Mix(mix) => mix.get().dataset(),
        }
    }

    fn mix(&self) -> Option<&vidrec::Mix> {
        if let Data::Mix(mix) = self { Some(mix.get()) } else { None }
    }
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
    threads: usize,
}

#[pymethods]
impl Engine {
    /// `options` is JSON, and so is `state`, where a run goes on.
    #[new]
    #[pyo3(signature = (dataset, options, state=None))]
    fn new(py: Python<'_>, dataset: Data<'_>, options: &str, state: Option<&str>) -> PyResult<Self> {
        let (dataset, mix) = (dataset.all().clone(), dataset.mix().cloned());
        let options = options::from_json(options)?;
        let kind = Kind { dtype: options.dtype, dataset: dataset.clone() };
        let state: Option<LoaderState> = state
            .map(serde_json::from_str)
            .transpose()
            .map_err(|e| usage(format!("the saved state is not a state of a vidrec loader: {e}")))?;
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
            threads: loader.threads(),
            loader: PerProcess::new(loader),
            kind,
        })
    }

    fn batches_in(&self, epoch: u64) -> PyResult<u64> {
        Ok(self.loader.get()?.batches_in(epoch))
    }

    fn warnings(&self) -> PyResult<Vec<String>> {
        Ok(self.loader.get()?.warnings())
    }

    fn warnings_of(&self, epoch: u64) -> PyResult<Vec<String>> {
        Ok(self.loader.get()?.warnings_of(epoch))
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

    fn iter(&self, epoch: u64, first: u64, step: u64) -> PyResult<Batches> {
        self.ahead(vidrec::Loader::iter, Prefetched::Pictures, epoch, first, step)
    }

    /// Batches in memory of Python.
    fn iter_into(&self, epoch: u64, first: u64, step: u64) -> PyResult<Batches> {
        self.ahead(vidrec::Loader::iter_into, Prefetched::Into, epoch, first, step)
    }

    /// Batches of JPEGs, with plans for a device.
    fn iter_jpegs(&self, epoch: u64, first: u64, step: u64) -> PyResult<Batches> {
        self.ahead(vidrec::Loader::iter_jpegs, Prefetched::Jpegs, epoch, first, step)
    }

    /// Makes batches of JPEGs with plans for a device that has so many bytes to keep JPEGs.
    fn serve_device(&self, room: u64) -> PyResult<()> {
        self.loader.get()?.serve_device(room);
        Ok(())
    }

    /// Notes that the device has what this batch brought.
    fn device_has(&self, batch: &Batch) -> PyResult<()> {
        let loader = self.loader.get()?;
        batch.plan.iter().for_each(|(plan, _)| loader.device_has(plan));
        Ok(())
    }

    /// One batch of JPEGs, made at once.
    fn batch_jpegs(&self, py: Python<'_>, epoch: u64, number: u64) -> PyResult<Batch> {
        let batch = self.made(py, |loader| loader.batch_jpegs(epoch, number))?;
        Batch::jpegs(py, Box::new(batch), &self.kind)
    }

    /// A batch that the device declined, made by the processor.
    fn batch_for_device(&self, py: Python<'_>, epoch: u64, number: u64) -> PyResult<Batch> {
        let batch = self.made(py, |loader| loader.batch_for_device(epoch, number))?;
        Batch::pictures(py, Box::new(batch), &self.kind)
    }

    /// One batch, made at once.
    fn batch(&self, py: Python<'_>, epoch: u64, number: u64) -> PyResult<Batch> {
        let batch = self.made(py, |loader| loader.batch(epoch, number))?;
        Batch::pictures(py, Box::new(batch), &self.kind)
    }
}

impl Engine {
    fn made<T: Send>(
        &self,
        py: Python<'_>,
        make: impl FnOnce(&vidrec::Loader) -> vidrec::Result<T> + Send,
    ) -> PyResult<T> {
        let loader = self.loader.get()?;
        task::wait(py, self.kind.dataset.is_remote(), || make(loader))
    }

    fn ahead<T>(
        &self,
        iterate: impl FnOnce(&vidrec::Loader, vidrec::Epochs) -> vidrec::Result<T>,
        kind: impl FnOnce(T) -> Prefetched,
        epoch: u64,
        first: u64,
        step: u64,
    ) -> PyResult<Batches> {
        let batches = iterate(self.loader.get()?, Epochs::from(epoch).part(first, step)).map_err(raise)?;
        Ok(Batches { batches: Some(PerProcess::new(Mutex::new(kind(batches)))), kind: self.kind.clone() })
    }
}

/// Batches made ahead, of which the second kind is in memory of Python.
enum Prefetched {
    Pictures(vidrec::Batches),
    Into(vidrec::BatchesInto<Foreign>),
    Jpegs(vidrec::Batches<JpegBatch>),
}

/// One of these batches.
enum Made {
    Pictures(PrefetchedBatch),
    Into(Foreign, Box<vidrec::Batch>),
    Jpegs(PrefetchedBatch<JpegBatch>),
}

impl Prefetched {
    /// Waits for a batch, at most for a while. Returns whether `next` returns at once.
    fn wait(&mut self, time: Duration) -> bool {
        match self {
            Prefetched::Pictures(batches) => batches.wait(time),
            Prefetched::Into(batches) => batches.wait(time),
            Prefetched::Jpegs(batches) => batches.wait(time),
        }
    }

    fn next(&mut self) -> Option<vidrec::Result<Made>> {
        Some(match self {
            Prefetched::Pictures(batches) => batches.next()?.map(Made::Pictures),
            Prefetched::Into(batches) => batches.next()?.map(|(memory, batch, _)| Made::Into(memory, Box::new(batch))),
            Prefetched::Jpegs(batches) => batches.next()?.map(Made::Jpegs),
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
        let batch = match py.detach(|| batches.lock().next()).transpose().map_err(raise)? {
            None => return Ok(None),
            Some(Made::Pictures(batch)) => Batch::pictures(py, batch, &self.kind)?,
            Some(Made::Into(_memory, mut batch)) => Batch::known(&mut batch, &self.kind),
            Some(Made::Jpegs(batch)) => Batch::jpegs(py, batch, &self.kind)?,
        };
        Ok(Some(batch))
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
