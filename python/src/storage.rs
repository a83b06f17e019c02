//! How remote data sets are read, from the dict that `vidrec/_storage.py` makes of the arguments.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use pyo3::prelude::*;

use crate::error::{refuse, usage};
use crate::task;

/// Every key must be there. Sizes are text, such as `20GB`.
#[derive(Clone, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Storage {
    options: BTreeMap<String, String>,
    cache: Option<PathBuf>,
    cache_bytes: Option<String>,
    memory_bytes: String,
    timeout: f64,
}

impl Storage {
    pub fn into_storage(self) -> PyResult<vidrec::Storage> {
        let bytes = |name, text: &str| vidrec::parse_bytes(text).map_err(|e| refuse(name, &e));
        let timeout = Duration::try_from_secs_f64(self.timeout).ok().filter(|timeout| !timeout.is_zero());
        Ok(vidrec::Storage {
            options: self.options,
            cache: self.cache,
            cache_bytes: self.cache_bytes.map(|text| bytes("cache_bytes", &text)).transpose()?,
            memory_bytes: bytes("memory_bytes", &self.memory_bytes)?,
            timeout: timeout.ok_or_else(|| usage(format!("timeout: expected seconds, found {}", self.timeout)))?,
        })
    }
}

/// Whether a location is remote.
#[pyfunction]
pub fn is_remote(location: PathBuf) -> bool {
    vidrec::is_remote(location)
}

/// The location with the commit that its revision is, if it is on the Hugging Face Hub.
#[pyfunction]
pub fn pinned(py: Python<'_>, location: PathBuf, storage: Storage) -> PyResult<OsString> {
    let storage = storage.into_storage()?;
    // As text: the path of Python would have one slash after the scheme.
    let pinned = task::wait(py, vidrec::is_remote(&location), || vidrec::pinned(&location, &storage))?;
    Ok(pinned.into_os_string())
}
