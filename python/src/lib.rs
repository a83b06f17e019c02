//! `vidrec._vidrec`: what the Python package `vidrec` is built on. Private: its names may change at any time.
//!
//! ```text
//! dataset  clips, pixels, mixes      loader   options, batches ahead    memory   the owners of pixels, and their lifetimes
//! batch    one batch                 task     long work that can be interrupted
//! error    to an exception           edit     data sets out of data sets
//! packing  videos to a data set      storage  remote data sets and outputs
//! writer   a new data set, clip by clip    additions  tracks for an old one
//! reports  proofs, findings, pages and copies
//! per_process  things that must not be used, or dropped, in a forked process
//! ```

mod additions;
mod batch;
mod dataset;
mod edit;
mod error;
mod loader;
mod memory;
#[cfg(feature = "pack")]
mod packing;
mod per_process;
mod reports;
mod storage;
mod task;
mod writer;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the program with these arguments and returns its exit status. `start` is the command that starts it, without
/// arguments.
#[pyfunction]
fn main(py: Python<'_>, start: Vec<OsString>, args: Vec<OsString>) -> u8 {
    py.detach(|| vidrec::cli::run(start, args))
}

// The interpreter's lock protects nothing here, so an interpreter without one needs none: all classes are frozen, the
// parts of them that change have locks and atomic counters of their own, and they only pass on the Python objects that
// they keep.
#[pymodule(gil_used = false)]
mod _vidrec {
    #[pymodule_export]
    use super::{
        additions::{TrackAdder, remove_tracks},
        batch::Batch,
        dataset::{Dataset, Mix},
        edit::{append, merge, remove, split, subset},
        loader::{Batches, Engine, check_option, loader_defaults, parse_bytes, track_normalize},
        main,
        memory::Samples,
        reports::{check, fetch, push, report, verify},
        storage::{is_remote, pinned, push_meta, read_object},
        writer::Writer,
    };

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("HAS_PACK", cfg!(feature = "pack"))?;
        module.add("DTYPES", <vidrec::Dtype as strum::VariantNames>::VARIANTS)?;
        #[cfg(feature = "pack")]
        super::packing::add(module)?;
        Ok(())
    }
}
