//! Outputs of commands that are to be in object storage.

use std::error::Error;
use std::path::{Path, PathBuf};

use crate::Storage;
use crate::cli::{ProgressArgs, output};
use crate::{PushReport, RemoteOutput};

/// An output, and what becomes of one that is there.
pub struct Output<'a> {
    pub path: &'a Path,
    pub storage: Storage,
    /// Replace a data set that is already there.
    pub overwrite: bool,
    /// Nobody else publishes there.
    pub only_publisher: bool,
    /// Options of how the progress of an upload is shown.
    pub progress: ProgressArgs,
}

impl Output<'_> {
    /// Makes a data set, wherever it is to be. `write` gets the folder to make it in, and whether to replace one there.
    pub fn write<T>(self, write: impl FnOnce(&Path, bool) -> crate::Result<T>) -> Result<T, Box<dyn Error>> {
        if !crate::is_remote(self.path) {
            return Ok(write(self.path, self.overwrite)?);
        }
        // The scratch folder holds only files of earlier runs.
        let write = |folder: &Path| write(folder, true);
        let (written, pushed) = crate::write_remote(self.path, &self.options(), write, &mut self.progress.of_upload())?;
        tell(&pushed);
        Ok(written)
    }

    /// The same for several data sets, in folders of the output.
    pub fn write_parts<T>(self, write: impl FnOnce(&Path, bool) -> crate::Result<T>) -> Result<T, Box<dyn Error>> {
        if !crate::is_remote(self.path) {
            return Ok(write(self.path, self.overwrite)?);
        }
        let write = |folder: &Path| write(folder, true);
        let (written, pushed) =
            crate::write_remote_parts(self.path, &self.options(), write, &mut self.progress.of_upload())?;
        pushed.iter().for_each(tell);
        Ok(written)
    }

    fn options(&self) -> RemoteOutput {
        let mut options = RemoteOutput::default();
        options.storage = self.storage.clone();
        options.overwrite = self.overwrite;
        options.only_publisher = self.only_publisher;
        options
    }
}

/// The folder of this machine in which an output in object storage is made first.
pub fn scratch_folder() -> PathBuf {
    RemoteOutput::default().scratch_folder()
}

/// Says on standard error what could not be done after the output was there.
pub fn tell(pushed: &PushReport) {
    pushed.notes.iter().for_each(output::tell);
}
