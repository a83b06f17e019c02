//! `vidrec._vidrec`: what the Python package `vidrec` is built on. Private: its names may change at any time.
//!
//! ```text
//! dataset  clips, pixels     loader  batches ahead     memory  who owns pixels, and for how long
//! options  from a dict       batch   one batch         task    long work that can be interrupted
//! error    to an exception   edit    data sets out of data sets   packing  videos to a data set
//! storage  remote data sets             fetch   local copies of them     selection  which clips
//! mix      several data sets with weights
//! output   where outputs go             push    local data sets to object storage
//! verify   proof that a data set is whole       check   clips that a person should look at
//! report   pages about data sets
//! writer   a new data set, clip by clip
//! per_process  things that must not be used, or dropped, in a forked process
//! ```

mod batch;
mod check;
mod dataset;
mod edit;
mod error;
mod fetch;
mod loader;
mod memory;
mod mix;
mod options;
mod output;
#[cfg(feature = "pack")]
mod packing;
mod per_process;
mod push;
mod report;
mod selection;
mod storage;
mod task;
mod verify;
mod writer;

use std::ffi::OsString;

use pyo3::prelude::*;

/// The program: its exit status for a name and arguments. `start` is the command that starts it, without arguments.
#[pyfunction]
fn main(py: Python<'_>, start: Vec<OsString>, args: Vec<OsString>) -> u8 {
    py.detach(|| vidrec::cli::run(start, args))
}

// The interpreter's lock protects nothing here, so an interpreter without one needs none: all classes are frozen, what
// changes in them is behind locks and atomic counters of their own, and they only pass on the Python objects that they keep.
#[pymodule(gil_used = false)]
fn _vidrec(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("HAS_PACK", cfg!(feature = "pack"))?;
    module.add("DTYPES", <vidrec::Dtype as strum::VariantNames>::VARIANTS)?;
    module.add_class::<dataset::Dataset>()?;
    module.add_class::<mix::Mix>()?;
    module.add_class::<loader::Engine>()?;
    module.add_class::<loader::Batches>()?;
    module.add_class::<loader::JpegBatches>()?;
    module.add_class::<loader::BatchesInto>()?;
    module.add_class::<batch::Batch>()?;
    module.add_class::<memory::Samples>()?;
    module.add_class::<writer::Writer>()?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(options::loader_defaults, module)?)?;
    module.add_function(wrap_pyfunction!(options::track_normalize, module)?)?;
    module.add_function(wrap_pyfunction!(verify::verify, module)?)?;
    module.add_function(wrap_pyfunction!(check::check, module)?)?;
    module.add_function(wrap_pyfunction!(report::report, module)?)?;
    module.add_function(wrap_pyfunction!(storage::is_remote, module)?)?;
    module.add_function(wrap_pyfunction!(storage::pinned, module)?)?;
    module.add_function(wrap_pyfunction!(fetch::fetch, module)?)?;
    module.add_function(wrap_pyfunction!(push::push, module)?)?;
    module.add_function(wrap_pyfunction!(edit::merge, module)?)?;
    module.add_function(wrap_pyfunction!(edit::split, module)?)?;
    module.add_function(wrap_pyfunction!(edit::subset, module)?)?;
    module.add_function(wrap_pyfunction!(edit::append, module)?)?;
    #[cfg(feature = "pack")]
    packing::add(module)?;
    Ok(())
}
