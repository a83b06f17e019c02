//! The loader, and batches that are made ahead.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use vidrec::{Epochs, LoaderState};

use crate::batch::{Batch, Kind};
use crate::dataset::Dataset;
use crate::error::{raise, usage};
use crate::memory::Foreign;
use crate::mix::Mix;
use crate::options;
use crate::per_process::PerProcess;
use crate::task;

/// How long a wait goes on before Python may handle a signal.
const WAIT: Duration = Duration::from_millis(50);

/// What a loader loads.
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
        let made = task::wait(py, dataset.is_remote(), || match (&mix, &state) {
            (Some(mix), Some(state)) => vidrec::Loader::resume_mix(mix, options, state),
            (Some(mix), None) => vidrec::Loader::mix(mix, options),
            (None, Some(state)) => vidrec::Loader::resume(&dataset, options, state),
            (None, None) => vidrec::Loader::new(&dataset, options),
        });
        Ok(Engine { loader: PerProcess::new(made?), kind })
    }

    fn first_epoch(&self) -> PyResult<u64> {
        Ok(self.loader.get()?.first_epoch())
    }

    fn batches_per_epoch(&self) -> PyResult<u64> {
        Ok(self.loader.get()?.batches_per_epoch())
    }

    fn batches_in(&self, epoch: u64) -> PyResult<u64> {
        Ok(self.loader.get()?.batches_in(epoch))
    }

    fn shape(&self) -> PyResult<[usize; 5]> {
        Ok(self.loader.get()?.shape())
    }

    fn warnings(&self) -> PyResult<Vec<String>> {
        Ok(self.loader.get()?.warnings())
    }

    fn warnings_of(&self, epoch: u64) -> PyResult<Vec<String>> {
        Ok(self.loader.get()?.warnings_of(epoch))
    }

    fn batch_bytes(&self) -> PyResult<usize> {
        Ok(self.loader.get()?.batch_bytes())
    }

    fn threads(&self) -> PyResult<usize> {
        Ok(self.loader.get()?.threads())
    }

    /// The state after some batches of an epoch, as JSON.
    fn state(&self, epoch: u64, batches: u64) -> PyResult<String> {
        json(&self.loader.get()?.state(epoch, batches))
    }

    /// For each source of a mix its name, the samples used up to some batches of an epoch, and its rounds.
    fn sources(&self, epoch: u64, batches: u64) -> PyResult<Vec<(String, u64, f64)>> {
        let sources = self.loader.get()?.sources(epoch, batches);
        Ok(sources.into_iter().map(|count| (count.name.clone(), count.samples, count.rounds())).collect())
    }

    /// Counters, as JSON.
    fn stats(&self) -> PyResult<String> {
        json(&self.loader.get()?.stats())
    }

    fn iter(&self, epoch: u64, first: u64, step: u64) -> PyResult<Batches> {
        let batches = self.loader.get()?.iter(Epochs::from(epoch).part(first, step)).map_err(raise)?;
        Ok(Batches { batches: Ahead::new(batches), kind: self.kind.clone() })
    }

    fn iter_into(&self, epoch: u64, first: u64, step: u64) -> PyResult<BatchesInto> {
        let batches = self.loader.get()?.iter_into(Epochs::from(epoch).part(first, step)).map_err(raise)?;
        Ok(BatchesInto { batches: Ahead::new(batches), kind: self.kind.clone() })
    }

    fn iter_jpegs(&self, epoch: u64, first: u64, step: u64) -> PyResult<JpegBatches> {
        let batches = self.loader.get()?.iter_jpegs(Epochs::from(epoch).part(first, step)).map_err(raise)?;
        Ok(JpegBatches { batches: Ahead::new(batches), kind: self.kind.clone() })
    }

    /// Makes batches of JPEGs with plans for a device that has so many bytes to keep JPEGs.
    fn serve_device(&self, room: u64) -> PyResult<()> {
        self.loader.get()?.serve_device(room);
        Ok(())
    }

    /// Notes that the device has what this batch brought.
    fn device_has(&self, batch: &Batch) -> PyResult<()> {
        let loader = self.loader.get()?;
        batch.plan.iter().for_each(|plan| loader.device_has(plan));
        Ok(())
    }

    /// One batch of JPEGs, made at once.
    fn batch_jpegs(&self, py: Python<'_>, epoch: u64, number: u64) -> PyResult<Batch> {
        let loader = self.loader.get()?;
        let batch = task::wait(py, self.kind.dataset.is_remote(), || loader.batch_jpegs(epoch, number))?;
        Batch::jpegs_made(py, batch, &self.kind)
    }

    /// A batch that the device declined, made by the processor.
    fn batch_for_device(&self, py: Python<'_>, epoch: u64, number: u64) -> PyResult<Batch> {
        let loader = self.loader.get()?;
        let batch = task::wait(py, self.kind.dataset.is_remote(), || loader.batch_for_device(epoch, number))?;
        Batch::made(py, batch, &self.kind)
    }

    /// One batch, made at once.
    fn batch(&self, py: Python<'_>, epoch: u64, number: u64) -> PyResult<Batch> {
        let loader = self.loader.get()?;
        let batch = task::wait(py, self.kind.dataset.is_remote(), || loader.batch(epoch, number))?;
        Batch::made(py, batch, &self.kind)
    }
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| usage(e.to_string()))
}

/// An iterator with a thread behind it, for which the drop waits without the interpreter's lock.
struct Ahead<T: Send>(Option<PerProcess<Mutex<T>>>);

impl<T: Send> Ahead<T> {
    fn new(batches: T) -> Self {
        Ahead(Some(PerProcess::new(Mutex::new(batches))))
    }

    fn get(&self) -> PyResult<&Mutex<T>> {
        self.0.as_ref().map_or_else(|| Err(usage("the batches have been closed".into())), PerProcess::get)
    }
}

impl<T: Send> Drop for Ahead<T> {
    fn drop(&mut self) {
        let batches = self.0.take();
        // While the interpreter ends there is no lock to release, and the closure drops them all the same.
        Python::try_attach(move |py| py.detach(move || drop(batches)));
    }
}

/// Batches made ahead.
#[pyclass(frozen, module = "vidrec._vidrec")]
pub struct Batches {
    batches: Ahead<vidrec::Batches>,
    kind: Kind,
}

#[pymethods]
impl Batches {
    /// The next batch; none after the last.
    fn next(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let batch = taken(py, self.batches.get()?)?;
        batch.map(|batch| Batch::ahead(py, batch, &self.kind)).transpose()
    }
}

/// Waits for the next batch, and for signals.
fn taken<T: Default + Send>(
    py: Python<'_>,
    batches: &Mutex<vidrec::Batches<T>>,
) -> PyResult<Option<vidrec::PrefetchedBatch<T>>> {
    while !py.detach(|| lock(batches).wait(WAIT)) {
        py.check_signals()?;
    }
    py.detach(|| lock(batches).next()).transpose().map_err(raise)
}

/// Batches of JPEGs made ahead.
#[pyclass(frozen, module = "vidrec._vidrec")]
pub struct JpegBatches {
    batches: Ahead<vidrec::Batches<vidrec::JpegBatch>>,
    kind: Kind,
}

#[pymethods]
impl JpegBatches {
    /// The next batch; none after the last.
    fn next(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let batch = taken(py, self.batches.get()?)?;
        batch.map(|batch| Batch::jpegs_ahead(py, batch, &self.kind)).transpose()
    }

    /// Whether `next` returns at once.
    fn is_ready(&self) -> PyResult<bool> {
        Ok(lock(self.batches.get()?).wait(Duration::ZERO))
    }
}

/// Batches made ahead in memory of Python.
#[pyclass(frozen, module = "vidrec._vidrec")]
pub struct BatchesInto {
    batches: Ahead<vidrec::BatchesInto<Foreign>>,
    kind: Kind,
}

#[pymethods]
impl BatchesInto {
    /// Gives memory for one batch: its address, its bytes, and the object that keeps it alive and comes back with the
    /// batch. Nothing else may use it until then.
    fn provide(&self, address: usize, length: usize, owner: Py<PyAny>) -> PyResult<()> {
        // SAFETY: this module is private; `vidrec/_memory.py` looks at what it is given.
        let memory = unsafe { Foreign::new(address, length, owner) };
        lock(self.batches.get()?).provide(memory);
        Ok(())
    }

    /// The owner of the memory and the rest of the next batch; none after the last.
    fn next(&self, py: Python<'_>) -> PyResult<Option<(Py<PyAny>, Batch)>> {
        let batches = self.batches.get()?;
        while !py.detach(|| lock(batches).wait(WAIT)) {
            py.check_signals()?;
        }
        let next = py.detach(|| lock(batches).next()).transpose().map_err(raise)?;
        Ok(next.map(|(memory, batch, _)| (memory.owner, Batch::known(&batch, &self.kind))))
    }
}

/// Taken without the interpreter's lock by those who wait, so nobody waits for both.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
