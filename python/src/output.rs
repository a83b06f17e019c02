//! Where outputs go: to a folder of this machine, or to object storage.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use vidrec::{ProgressFn, PushReport, RemoteOutput};

use crate::error::usage;
use crate::storage::Storage;

/// How an output is written that is in object storage. Every key must be there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Remote {
    pub storage: Storage,
    pub scratch: Option<PathBuf>,
    pub only_publisher: bool,
}

#[cfg(feature = "pack")]
impl Remote {
    /// The folder of this machine in which an output is made first.
    pub fn scratch_folder(self) -> PathBuf {
        let mut remote = RemoteOutput::default();
        remote.scratch = self.scratch;
        remote.scratch_folder()
    }
}

/// A folder, or a location with how it is written to.
pub struct Output {
    path: PathBuf,
    overwrite: bool,
    remote: Option<RemoteOutput>,
}

impl Output {
    /// `overwrite`: replace what is there.
    pub fn new(path: PathBuf, overwrite: bool, how: Remote) -> PyResult<Self> {
        if !vidrec::is_remote(&path) {
            how.check_local()?;
            return Ok(Output { path, overwrite, remote: None });
        }
        let mut remote = RemoteOutput::default();
        remote.storage = how.storage.into_storage()?;
        (remote.scratch, remote.only_publisher) = (how.scratch, how.only_publisher);
        remote.overwrite = overwrite;
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

    /// The same for several data sets, in folders of the output.
    pub fn write_parts<T>(
        &self,
        upload: &mut ProgressFn<'_>,
        write: impl FnOnce(&Path, bool) -> vidrec::Result<T>,
    ) -> vidrec::Result<(T, Vec<PushReport>)> {
        let Some(remote) = &self.remote else { return Ok((write(&self.path, self.overwrite)?, Vec::new())) };
        vidrec::write_remote_parts(&self.path, remote, |folder| write(folder, true), upload)
    }

    /// Where a part of the output is that was written to this folder.
    pub fn part(&self, folder: &str) -> String {
        match &self.remote {
            Some(_) => self.path.join(Path::new(folder).file_name().unwrap_or_default()).display().to_string(),
            None => folder.to_owned(),
        }
    }
}

impl Remote {
    /// Refuses what has no meaning for a folder of this machine.
    pub fn check_local(&self) -> PyResult<()> {
        let given = match (&self.scratch, self.only_publisher) {
            (None, false) => return Ok(()),
            (Some(_), _) => "scratch",
            (None, true) => "only_publisher",
        };
        Err(usage(format!("{given} needs an output in object storage, such as s3://bucket/train")))
    }
}
