//! How remote data sets are read and outputs written, from the dicts that `vidrec/_storage.py` makes of the arguments.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pyo3::prelude::*;
use vidrec::{ProgressFn, PushOptions, PushReport};

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

/// The bytes of a small remote object; none if it does not exist.
#[pyfunction]
pub fn read_object(py: Python<'_>, location: PathBuf, storage: Storage) -> PyResult<Option<Cow<'static, [u8]>>> {
    let storage = storage.into_storage()?;
    Ok(task::wait(py, true, || vidrec::read_object(&location, &storage))?.map(Cow::Owned))
}

/// Uploads the folder `meta` of a data set that LeRobot reads.
#[pyfunction]
pub fn push_meta(py: Python<'_>, set: PathBuf, location: PathBuf, storage: Storage) -> PyResult<()> {
    let storage = storage.into_storage()?;
    task::wait(py, true, || vidrec::push_meta(&set, &location, &storage))
}

/// How an output is written that is in object storage. Every key must be there.
#[derive(Clone, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Remote {
    pub storage: Storage,
    pub scratch: Option<PathBuf>,
}

/// A folder, or a location with how it is written to.
pub struct Output {
    path: PathBuf,
    overwrite: bool,
    remote: Option<PushOptions>,
}

impl Output {
    /// `overwrite`: replace what is there.
    pub fn new(path: PathBuf, overwrite: bool, how: Remote) -> PyResult<Self> {
        if !vidrec::is_remote(&path) {
            how.check_local()?;
            return Ok(Output { path, overwrite, remote: None });
        }
        let remote = PushOptions { storage: how.storage.into_storage()?, overwrite, scratch: how.scratch };
        Ok(Output { path, overwrite, remote: Some(remote) })
    }

    /// Makes a data set. `write` gets the folder to make it in, and whether to replace one there. The report is that of the
    /// upload, if there was one.
    pub fn write<T>(
        &self,
        upload: &mut ProgressFn<'_>,
        write: impl FnOnce(&Path, bool) -> vidrec::Result<T>,
    ) -> vidrec::Result<(T, Option<PushReport>)> {
        let Some(remote) = &self.remote else { return Ok((write(&self.path, self.overwrite)?, None)) };
        // What an earlier call left in the scratch folder is ours.
        let (written, pushed) = vidrec::write_remote(&self.path, remote, |folder| write(folder, true), upload)?;
        Ok((written, Some(pushed)))
    }
}

impl Remote {
    /// Refuses what has no meaning for a folder of this machine.
    pub fn check_local(&self) -> PyResult<()> {
        match self.scratch {
            None => Ok(()),
            Some(_) => Err(usage("scratch needs an output in object storage, such as s3://bucket/train".into())),
        }
    }
}
